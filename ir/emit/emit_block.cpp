// The statements for programs that are lowered block by block (ir/block.h). Integers are unsigned in the text, except
// those that an Index defines.
#include <array>
#include <cctype>
#include <utility>

#include "core/error.h"
#include "ir/emit/elements/atomics.h"
#include "ir/emit/elements/elements.h"
#include "ir/emit/elements/integers.h"
#include "ir/emit/elements/words.h"
#include "ir/emit/emitter.h"

namespace deplo::ir {
namespace {

/// A name or a number, so nothing to compute.
bool is_atom(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; });
}

/// The text of a printf format, in a literal of C.
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

/// What printf is given for a value.
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

}  // namespace

std::string Emitter::scalar(const std::string& value) const {
  const auto known = block_.literals.find(value);
  if (known != block_.literals.end()) return known->second;
  const bool is_sum = types_.contains(value) && is_float(types_.at(value).dtype);  // of matrix instructions
  return is_sum || block_.scalars.contains(value) ? value : "(u32)" + value;
}

void Emitter::define(const std::string& dst, DType dtype, const std::string& value) {
  types_[dst] = {dtype, 1};
  block_.scalars.insert(dst);
  line({"const ", elements::c_type(dtype), " ", dst, " = ", value, ";"});
}

// Locals in memory are at an offset from the beginning of the block's.
void Emitter::declare_block_memory() {
  if (layout_.offset.contains(shared_memory))
    shared_array("u64", shared_memory, block_shared_bytes(kernel_.body) / 8, local_alignment);
  if (const Buffer* scratch = kernel_.find(scratch_buffer))
    print("{0}u8* const scratch = ({0}u8*){1} + (u64)block * {2};", elements::words(dialect()).global, scratch_buffer,
          scratch->shape.back());
}

std::string Emitter::block_definitions() const {
  std::string text = block_.tables;
  for (const auto& [name, definition] : block_.functions) text += definition;
  return elements::vocabulary(text + out_, dialect()) + text;
}

void Emitter::emit(const Constant& s) {
  const std::string text = elements::literal(s.bits, s.dtype);
  if (!is_atom(text)) return define(s.dst, s.dtype, text);
  types_[s.dst] = {s.dtype, 1};
  block_.literals[s.dst] = text;
}

void Emitter::emit(const Compute& s) {
  std::vector<std::string> args;
  std::vector<DType> types;
  for (const std::string& arg : s.args) {
    args.push_back(scalar(arg));
    types.push_back(types_.at(arg).dtype);
  }
  int parts = 0;
  const elements::Named named = [&](std::string_view type, const std::string& value) {
    if (is_atom(value)) return value;
    const std::string name = fmt::format("{}_{}", s.dst, parts++);
    line({"const ", type, " ", name, " = ", value, ";"});
    return name;
  };
  const std::string value = elements::expression(s, args, types, dialect(), named);
  define(s.dst, s.dtype, value);
  if (s.dtype == DType::i64 && s.op->name == "addi") point_behind(s);
}

/// An address and a number of bytes. The pointer is computed at the access, because a pointer far outside of its buffer
/// is undefined in C.
void Emitter::point_behind(const Compute& sum) {
  for (const std::size_t base : {0, 1}) {
    const auto pointer = block_.pointers.find(sum.args[base]);
    if (pointer == block_.pointers.end() || block_.pointers.contains(sum.args[1 - base])) continue;
    block_.pointers[sum.dst] = fmt::format("{} + {}", pointer->second, scalar(sum.args[1 - base]));
    return;
  }
}

void Emitter::emit(const Local& s) {
  block_.locals[s.array] = {s.dtype, s.space != Space::thread, false};
  if (s.space == Space::thread) return print("{} {}[{}];", elements::c_type(s.dtype), s.array, s.count);
  const elements::Words& words = elements::words(dialect());
  const std::string_view space = s.space == Space::shared ? words.shared : words.global;
  const std::string type = elements::memory_type(s.dtype);
  const std::string_view memory = s.space == Space::shared ? shared_memory : "scratch";
  print("{0}{1}* const {2} = ({0}{1}*)(({0}u8*){3} + {4});", space, type, s.array, memory, s.offset);
}

void Emitter::emit(const Table& s) {
  block_.locals[s.array] = {s.dtype, true, true};
  block_.tables += fmt::format("{}{} {}[{}] = {{", elements::words(dialect()).table,
                               elements::integer_type(width(s.dtype), false), s.array, s.bits.size());
  for (std::size_t i = 0; i < s.bits.size(); ++i)
    block_.tables += fmt::format("{}{}{}",
                                 i == 0        ? ""
                                 : i % 16 == 0 ? ",\n"
                                               : ", ",
                                 s.bits[i], width(s.dtype) == 64 ? "ul" : "u");
  block_.tables += "};\n";
}

void Emitter::emit(const Get& s) {
  const std::string element = fmt::format("{}[{}]", s.array, code(s.index));
  const BlockText::LocalArray& array = block_.locals.at(s.array);
  define(s.dst, s.dtype,
         array.constant    ? elements::of_bits(element, s.dtype)
         : array.in_memory ? elements::from_memory(element, s.dtype)
                           : element);
}

void Emitter::emit(const Put& s) {
  const BlockText::LocalArray& array = block_.locals.at(s.array);
  const std::string value = scalar(s.value);
  print("{}[{}] = {};", s.array, code(s.index), array.in_memory ? elements::to_memory(value, array.dtype) : value);
}

void Emitter::emit(const Address& s) {
  define(s.dst, DType::i64, "(u64)" + s.buffer);
  block_.pointers[s.dst] = fmt::format("({}u8*){}", elements::words(dialect()).global, s.buffer);
}

/// PoCL 3.1 (LLVM 15) makes vectors of stores under a condition of each element, of which some forget the condition, if
/// it sees that they are neighbours: tests/measure/tile_program/drawn_test.cpp, store_in_branch.
std::string Emitter::at_address(const std::string& address, DType dtype, bool strong, bool stores) const {
  const auto pointer = block_.pointers.find(address);
  const bool as_pointer = pointer != block_.pointers.end() && !(stores && block_.guarded);
  return fmt::format("*({}{}{}*)({})", elements::words(dialect()).global, strong ? "volatile " : "",
                     elements::memory_type(dtype), as_pointer ? pointer->second : scalar(address));
}

void Emitter::emit(const LoadAt& s) {
  define(s.dst, s.dtype, elements::from_memory(at_address(s.address, s.dtype, s.strong, false), s.dtype));
}

void Emitter::emit(const StoreAt& s) {
  print("{} = {};", at_address(s.address, s.dtype, s.strong, true), elements::to_memory(scalar(s.value), s.dtype));
}

void Emitter::emit(const Atomic& s) {
  const bool system = s.scope == tile_program::Scope::sys;
  if (s.mode) {
    const elements::Function update = elements::update_function(*s.mode, s.dtype, system, dialect());
    block_.functions.emplace(update.name, update.text);
    return define(s.dst, s.dtype, fmt::format("{}({}, {})", update.name, scalar(s.address), scalar(s.args[0])));
  }
  define(s.dst, s.dtype,
         elements::swap_if(scalar(s.address), scalar(s.args[0]), scalar(s.args[1]), s.dtype, dialect()));
}

void Emitter::emit(const Fence& s) {
  print("fence_{}();", s.scope == tile_program::Scope::tl_blk   ? "block"
                       : s.scope == tile_program::Scope::device ? "device"
                                                                : "system");
}

void Emitter::emit(const Branch& s) {
  print("if ({} {} 0) {{", scalar(s.condition), s.otherwise ? "==" : "!=");
  const bool guarded = std::exchange(block_.guarded, true);
  nested(s.body);
  block_.guarded = guarded;
}

void Emitter::emit(const Forever& s) {
  line("for (;;) {");
  nested(s.body);
}

void Emitter::nested(const Body& inner) {
  ++indent_;
  body(inner);
  --indent_;
  line("}");
}

void Emitter::emit(const Jump& s) {
  line(s.to == Jump::To::after ? "break;" : s.to == Jump::To::next ? "continue;" : "return;");
}

void Emitter::emit(const Print& s) {
  std::string format, arguments;
  for (const Print::Piece& piece : s.pieces) {
    if (piece.value.empty()) {
      format += escaped(piece.text);
      continue;
    }
    const Printed one =
        printed(piece.text, scalar(piece.value), types_.at(piece.value).dtype, elements::words(dialect()));
    format += one.format;
    arguments += ", " + one.argument;
  }
  print("printf(\"{}\"{});", format, arguments);
}

}  // namespace deplo::ir
