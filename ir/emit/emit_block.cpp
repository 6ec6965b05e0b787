// The statements of programs that are lowered block by block (ir/block.h). Integers are unsigned in the text, except
// those that an Index defines.
#include <algorithm>
#include <cctype>
#include <utility>

#include "core/error.h"
#include "ir/emit/elements/atomics.h"
#include "ir/emit/elements/elements.h"
#include "ir/emit/elements/integers.h"
#include "ir/emit/elements/words.h"
#include "ir/emit/statements.h"

namespace deplo::ir::emitter {
namespace {

/// True for a name or a number, which needs no computation.
bool is_atom(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; });
}

/// Escapes text for a printf format in a C string literal.
std::string escaped(std::string_view text) {
  std::string out;
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
  return out;
}

/// The conversion and the argument by which printf prints a value.
struct Printed {
  std::string format, argument;
};
Printed printed(const std::string& conversion, const std::string& value, DType type, const elements::Words& words) {
  const char letter = conversion.back();
  const bool is_number = is_integral(type);
  const int width = ir::width(type);
  const auto any_of = [letter](std::string_view letters) { return letters.find(letter) != std::string_view::npos; };
  const std::string flags =
      letter == '%' ? "" : conversion.substr(1, conversion.find_first_of("hlqjzt" + std::string(1, letter), 1) - 1);
  const bool with_sign = width > 1 && !any_of("uxXo");
  const std::string whole = elements::extended(value, width, with_sign);
  if (any_of("fFeEgGaA"))
    return {"%" + flags + letter,
            is_number ? fmt::format("(f64){}", elements::extended(value, width, width > 1)) : value};
  if (!is_number) return {"%g", value};
  if (letter == 'c') return {"%c", "(i32)" + value};
  const std::string length = width == 64 ? std::string(words.long_format) : "";
  const char spelled = any_of("diuxXo") ? letter : with_sign ? 'd' : 'u';
  return {"%" + flags + length + (with_sign || spelled != 'd' ? spelled : 'u'), whole};
}

/// Returns the text of a value in expressions of scalar operations.
std::string scalar(const KernelText& k, const std::string& value) {
  const auto known = k.block.literals.find(value);
  if (known != k.block.literals.end()) return known->second;
  const bool is_sum =
      k.names.types.contains(value) && is_float(k.names.types.at(value).dtype);  // accumulators of matrix instructions
  return is_sum || k.block.scalars.contains(value) ? value : "(u32)" + value;
}

void define(KernelText& k, const std::string& dst, DType dtype, const std::string& value) {
  k.names.types[dst] = {dtype, 1};
  k.block.scalars.insert(dst);
  k.line({"const ", elements::c_type(dtype), " ", dst, " = ", value, ";"});
}

/// Records the sum of an address and a number of bytes as a pointer. The pointer is only computed at the access,
/// because a pointer far outside of its buffer is undefined in C.
void point_behind(KernelText& k, const Compute& sum) {
  for (const std::size_t base : {0, 1}) {
    const auto pointer = k.block.pointers.find(sum.args[base]);
    if (pointer == k.block.pointers.end() || k.block.pointers.contains(sum.args[1 - base])) continue;
    k.block.pointers[sum.dst] = fmt::format("{} + {}", pointer->second, scalar(k, sum.args[1 - base]));
    return;
  }
}

/// Returns the element at an address as an lvalue. Stores in a Branch do not use the pointer: PoCL 3.1 (LLVM 15) merges
/// conditional stores into vector stores if it sees that they are neighbours, and some of these ignore the condition
/// (tests/measure/tile_program/drawn_test.cpp, store_in_branch).
std::string at_address(const KernelText& k, const std::string& address, DType dtype, bool strong, bool stores) {
  const auto pointer = k.block.pointers.find(address);
  const bool as_pointer = pointer != k.block.pointers.end() && !(stores && k.block.guarded);
  return fmt::format("*({}{}{}*)({})", elements::words(k.spell.dialect).global, strong ? "volatile " : "",
                     elements::memory_type(dtype), as_pointer ? pointer->second : scalar(k, address));
}

void nested(KernelText& k, const Body& inner) {
  k.indent();
  emit(k, inner);
  k.end();
}

}  // namespace

// Declares the memory of a block, in which each Local has an offset.
void declare_block_memory(KernelText& k) {
  if (k.layout.offset.contains(shared_memory))
    shared_array(k, "u64", shared_memory, block_shared_bytes(k.kernel.body) / 8, local_alignment);
  if (const Buffer* scratch = k.kernel.find(scratch_buffer))
    k.print("{0}u8* const scratch = ({0}u8*){1} + (u64)block * {2};", elements::words(k.spell.dialect).global,
            scratch_buffer, scratch->shape.back());
}

std::string block_definitions(const KernelText& k) {
  std::string text = k.block.tables;
  for (const auto& [name, definition] : k.block.functions) text += definition;
  return elements::vocabulary(text + k.text(), k.spell.dialect) + text;
}

void emit(KernelText& k, const Constant& s) {
  const std::string text = elements::literal(s.bits, s.dtype);
  if (!is_atom(text)) return define(k, s.dst, s.dtype, text);
  k.names.types[s.dst] = {s.dtype, 1};
  k.block.literals[s.dst] = text;
}

void emit(KernelText& k, const Compute& s) {
  std::vector<std::string> args;
  std::vector<DType> types;
  for (const std::string& arg : s.args) {
    args.push_back(scalar(k, arg));
    types.push_back(k.names.types.at(arg).dtype);
  }
  int parts = 0;
  const elements::Named named = [&](std::string_view type, const std::string& value) {
    if (is_atom(value)) return value;
    const std::string name = fmt::format("{}_{}", s.dst, parts++);
    k.line({"const ", type, " ", name, " = ", value, ";"});
    return name;
  };
  const std::string value = elements::expression(s, args, types, k.spell.dialect, named);
  define(k, s.dst, s.dtype, value);
  if (s.dtype == DType::i64 && s.op->name == "addi") point_behind(k, s);
}

void emit(KernelText& k, const Local& s) {
  k.block.locals[s.array] = {s.dtype, s.space != Space::thread, false};
  if (s.space == Space::thread) return k.print("{} {}[{}];", elements::c_type(s.dtype), s.array, s.count);
  const elements::Words& words = elements::words(k.spell.dialect);
  const std::string_view space = s.space == Space::shared ? words.shared : words.global;
  const std::string type = elements::memory_type(s.dtype);
  const std::string_view memory = s.space == Space::shared ? shared_memory : "scratch";
  k.print("{0}{1}* const {2} = ({0}{1}*)(({0}u8*){3} + {4});", space, type, s.array, memory, s.offset);
}

void emit(KernelText& k, const Table& s) {
  k.block.locals[s.array] = {s.dtype, true, true};
  k.block.tables += fmt::format("{}{} {}[{}] = {{", elements::words(k.spell.dialect).table,
                                elements::integer_type(width(s.dtype), false), s.array, s.bits.size());
  for (std::size_t i = 0; i < s.bits.size(); ++i)
    k.block.tables += fmt::format("{}{}{}",
                                  i == 0        ? ""
                                  : i % 16 == 0 ? ",\n"
                                                : ", ",
                                  s.bits[i], width(s.dtype) == 64 ? "ul" : "u");
  k.block.tables += "};\n";
}

void emit(KernelText& k, const Get& s) {
  const std::string element = fmt::format("{}[{}]", s.array, k.names.code(s.index));
  const BlockNames::LocalArray& array = k.block.locals.at(s.array);
  define(k, s.dst, s.dtype,
         array.constant    ? elements::of_bits(element, s.dtype)
         : array.in_memory ? elements::from_memory(element, s.dtype)
                           : element);
}

void emit(KernelText& k, const Put& s) {
  const BlockNames::LocalArray& array = k.block.locals.at(s.array);
  const std::string value = scalar(k, s.value);
  k.print("{}[{}] = {};", s.array, k.names.code(s.index),
          array.in_memory ? elements::to_memory(value, array.dtype) : value);
}

void emit(KernelText& k, const Address& s) {
  define(k, s.dst, DType::i64, "(u64)" + s.buffer);
  k.block.pointers[s.dst] = fmt::format("({}u8*){}", elements::words(k.spell.dialect).global, s.buffer);
}

void emit(KernelText& k, const LoadAt& s) {
  define(k, s.dst, s.dtype, elements::from_memory(at_address(k, s.address, s.dtype, s.strong, false), s.dtype));
}

void emit(KernelText& k, const StoreAt& s) {
  k.print("{} = {};", at_address(k, s.address, s.dtype, s.strong, true),
          elements::to_memory(scalar(k, s.value), s.dtype));
}

void emit(KernelText& k, const Atomic& s) {
  const bool system = s.scope == tile_program::Scope::sys;
  if (s.mode) {
    const elements::Function update = elements::update_function(*s.mode, s.dtype, system, k.spell.dialect);
    k.block.functions.emplace(update.name, update.text);
    return define(k, s.dst, s.dtype,
                  fmt::format("{}({}, {})", update.name, scalar(k, s.address), scalar(k, s.args[0])));
  }
  define(k, s.dst, s.dtype,
         elements::swap_if(scalar(k, s.address), scalar(k, s.args[0]), scalar(k, s.args[1]), s.dtype, k.spell.dialect));
}

void emit(KernelText& k, const Fence& s) {
  k.print("fence_{}();", s.scope == tile_program::Scope::tl_blk   ? "block"
                         : s.scope == tile_program::Scope::device ? "device"
                                                                  : "system");
}

void emit(KernelText& k, const Branch& s) {
  k.print("if ({} {} 0) {{", scalar(k, s.condition), s.otherwise ? "==" : "!=");
  const bool guarded = std::exchange(k.block.guarded, true);
  nested(k, s.body);
  k.block.guarded = guarded;
}

void emit(KernelText& k, const Forever& s) {
  k.line("for (;;) {");
  nested(k, s.body);
}

void emit(KernelText& k, const Jump& s) {
  k.line(s.to == Jump::To::after ? "break;" : s.to == Jump::To::next ? "continue;" : "return;");
}

void emit(KernelText& k, const Print& s) {
  std::string format, arguments;
  for (const Print::Piece& piece : s.pieces) {
    if (piece.value.empty()) {
      format += escaped(piece.text);
      continue;
    }
    const Printed one = printed(piece.text, scalar(k, piece.value), k.names.types.at(piece.value).dtype,
                                elements::words(k.spell.dialect));
    format += one.format;
    arguments += ", " + one.argument;
  }
  k.print("printf(\"{}\"{});", format, arguments);
}

}  // namespace deplo::ir::emitter
