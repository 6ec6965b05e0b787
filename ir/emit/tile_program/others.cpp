// Blocks, globals, tokens, assertions, and what a program prints.
#include <fmt/format.h>

#include <cctype>

#include "ir/emit/tile_program/emitter.h"
#include "ir/emit/tile_program/integers.h"
#include "ir/emit/tile_program/rows.h"
#include "ir/emit/tile_program/shapes.h"
#include "ir/tile_program/print_format.h"

namespace deplo::ir::tile_program::blocks {
namespace {

// --- Printing ------------------------------------------------------------------------------------------------------------

/// Text as printf takes it, in a literal of C.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '%')
      out += "%%";
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (code >= ' ' && code < 127)
      out += c;
    else
      out += fmt::format("\\{:03o}", code);
  }
  return out + "\"";
}

/// A value by a conversion of the program's: what printf is given for it. A % alone prints a number as its type says.
struct Printed {
  std::string format, argument;
};
Printed printed(const Emitter& e, const std::string& conversion, const std::string& value, const Type& t) {
  const char letter = conversion.back();
  const bool is_number = t.pointer || is_integral(t.element);
  const int width = t.pointer ? 64 : ir::width(t.element);
  const auto any_of = [letter](std::string_view letters) { return letters.find(letter) != std::string_view::npos; };
  const std::string flags =
      letter == '%' ? "" : conversion.substr(1, conversion.find_first_of("hlqjzt" + std::string(1, letter), 1) - 1);
  const bool with_sign = width > 1 && !t.pointer && !any_of("uxXo");
  const std::string whole = extended(value, width, with_sign);
  if (any_of("fFeEgGaA"))
    return {"%" + flags + letter, is_number ? fmt::format("(f64){}", extended(value, width, width > 1)) : value};
  if (!is_number) return {"%g", value};
  if (letter == 'c') return {"%c", "(i32)" + value};
  const std::string length = width == 64 ? std::string(e.words.long_format) : "";
  const char spelled = any_of("diuxXo") ? letter : with_sign ? 'd' : 'u';
  return {"%" + flags + length + (with_sign || spelled != 'd' ? spelled : 'u'), whole};
}

/// A tile as nested lists, by the first thread.
void print_tile(Emitter& e, ValueId id, const std::string& conversion) {
  const Type& t = e.type(id);
  const Extents strides = row_major(t.shape);
  std::string i;
  const auto nested = [&](auto& self, std::size_t d) -> void {
    if (d == t.shape.size()) {
      const Printed one = printed(e, conversion, e.element(id, {e.named("u32", i.empty() ? "0" : i), ""}), t);
      e.print("printf(\"{}\", {});", one.format, one.argument);
      return;
    }
    e.line("printf(\"[\");");
    const std::string n = e.fresh("n");
    e.within(fmt::format("for (u32 {0} = 0; {0} < {1}; ++{0})", n, t.shape[d]), [&] {
      e.print("if ({} != 0) printf(\", \");", n);
      const std::string before = i;
      i += fmt::format("{}{} * {}", i.empty() ? "" : " + ", n, strides[d]);
      self(self, d + 1);
      i = before;
    });
    e.line("printf(\"]\");");
  };
  nested(nested, 0);
}

/// By the first thread; of numbers alone in one call, so that no other block's print comes between.
void print_values(Emitter& e, const Operation& op) {
  e.order(op);
  std::string format, arguments;
  const auto flush = [&] {
    if (!format.empty()) e.print("printf(\"{}\"{});", format, arguments);
    format = arguments = "";
  };
  e.within(e.threads == 1 ? "" : "if (thread == 0)", [&] {
    for (const FormatPiece& piece : split_format(std::get<std::string>(op.attribute("str")))) {
      if (piece.value < 0) {
        const std::string text = quoted(piece.text);
        format += text.substr(1, text.size() - 2);
        continue;
      }
      const ValueId id = op.operands[static_cast<std::size_t>(piece.value)];
      const Type& t = e.type(id);
      if (t.shape.empty()) {
        const Printed one = printed(e, piece.text, e.scalar(id), t);
        format += one.format;
        arguments += ", " + one.argument;
      } else {
        flush();
        print_tile(e, id, piece.text);
      }
    }
    flush();
  });
}

// --- The rest ------------------------------------------------------------------------------------------------------------

void block_id(Emitter& e, const Operation& op) {
  const std::int64_t x = e.launch.grid[0], y = e.launch.grid[1];
  e.bind(op.results[0], e.named("u32", fmt::format("block % {}u", x)));
  e.bind(op.results[1], e.named("u32", fmt::format("block / {}u % {}u", x, y)));
  e.bind(op.results[2], e.named("u32", fmt::format("block / {}u", x * y)));
}

void block_count(Emitter& e, const Operation& op) {
  for (std::size_t d = 0; d < 3; ++d) e.bind(op.results[d], fmt::format("{}u", e.launch.grid.at(d)));
}

void global(Emitter& e, const Operation& op) {
  e.bind(op.results[0], e.named("u64", e.global_address(std::get<std::string>(op.attributes[0]))));
}

void allocate(Emitter& e, const Operation& op) {
  const std::int64_t size = op.number("num_elem") * bytes(e.result_type(op).element);
  e.bind(op.results[0], e.named("u64", e.allocate_alloca(size, op.number("alignment"))));
}

void check_assertion(Emitter& e, const Operation& op) {
  e.order(op);
  const std::string fails = e.fail_assertion(op);
  e.for_elements(op.operands[0],
                 [&](const At& at) { e.print("if ({} == 0) {}", e.element(op.operands[0], at), fails); });
}

/// Operations are done in their order, and threads wait for each other where memory asks for it. A launch begins after
/// the launch before it has ended, so there is no grid to wait for.
void token(Emitter&, const Operation&) {}

}  // namespace

std::vector<Row> print_rows() { return {{.name = "print_tko", .statement = print_values}}; }

std::vector<Row> block_rows() {
  return {{.name = "alloca", .statement = allocate},
          {.name = "assert", .statement = check_assertion},
          {.name = "gdc_launch_dependents_tko", .statement = token},
          {.name = "gdc_wait_tko", .statement = token},
          {.name = "get_global", .statement = global},
          {.name = "get_num_tile_blocks", .statement = block_count},
          {.name = "get_tile_block_id", .statement = block_id},
          {.name = "join_tokens", .statement = token},
          {.name = "make_token", .statement = token},
          {.name = "memory_fence_alias_tko", .statement = token}};
}

}  // namespace deplo::ir::tile_program::blocks
