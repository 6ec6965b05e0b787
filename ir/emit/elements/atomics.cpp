#include "ir/emit/elements/atomics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/emit/elements/words.h"

namespace deplo::ir::elements {
namespace {

using tile_program::Rmw;

constexpr std::array<std::string_view, 10> rmw_names = {"and", "or",  "xor",  "add",  "addf",
                                                        "max", "min", "umax", "umin", "xchg"};

/// Returns an expression for the new value of an element, computed from `before` and `x`.
std::string changed(Rmw mode, DType element, const Words& words) {
  const std::string number = integer_type(width(element), true);
  switch (mode) {
    case Rmw::band:
      return "before & x";
    case Rmw::bor:
      return "before | x";
    case Rmw::bxor:
      return "before ^ x";
    case Rmw::add:
      return "before + x";
    case Rmw::addf:
      return rounded(!words.intrinsics       ? "before + x"
                     : element == DType::f64 ? "__dadd_rn(before, x)"
                                             : "__fadd_rn(before, x)",
                     element);
    case Rmw::max:
      return fmt::format("({0})before > ({0})x ? before : x", number);
    case Rmw::min:
      return fmt::format("({0})before < ({0})x ? before : x", number);
    case Rmw::umax:
      return "before > x ? before : x";
    case Rmw::umin:
      return "before < x ? before : x";
    case Rmw::xchg:
      return "x";
  }
  return "x";
}

/// Returns the beginning of a call of the language's own atomic function, up to the operand, or "" if there is none.
/// OpenCL 1.2 has the 64-bit functions in an extension.
std::string builtin(Rmw mode, DType element, bool system, const Words& words) {
  const bool is_signed = mode == Rmw::max || mode == Rmw::min;
  const bool wide = width(element) == 64;
  std::string_view name = mode == Rmw::umax   ? "max"
                          : mode == Rmw::umin ? "min"
                                              : rmw_names[static_cast<std::size_t>(mode)];
  const std::string type = integer_type(width(element), is_signed);
  if (words.intrinsics) {
    if (mode == Rmw::addf && width(element) < 32) return "";
    static constexpr std::array<std::string_view, 10> names = {"And", "Or",  "Xor", "Add", "Add",
                                                               "Max", "Min", "Max", "Min", "Exch"};
    const std::string pointed = mode == Rmw::addf ? c_type(element) : type;
    return fmt::format("atomic{}{}(({}*)at, ", names[static_cast<std::size_t>(mode)], system ? "_system" : "", pointed);
  }
  if (mode == Rmw::addf || (wide && mode != Rmw::add && mode != Rmw::xchg)) return "";
  return fmt::format("{}_{}((__global volatile {}*)at, ", wide ? "atom" : "atomic", name, type);
}

}  // namespace

Function update_function(Rmw mode, DType element, bool system, Dialect dialect) {
  const Words& words = elements::words(dialect);
  const std::string name = fmt::format("update_{}_{}{}", rmw_names[static_cast<std::size_t>(mode)], tile_name(element),
                                       system ? "_system" : "");
  const std::string type = c_type(element), own = builtin(mode, element, system, words);
  std::string text = fmt::format("{}{} {}(u64 at, {} x) {{\n", words.function, type, name, type);
  if (!own.empty()) {
    const bool of_bits_alone = mode == Rmw::xchg && !is_integral(element);
    const std::string argument = of_bits_alone ? bits_of("x", element) : "x";
    const std::string old = own + argument + ")";
    text += fmt::format("  return {};\n}}\n", of_bits_alone ? of_bits(old, element) : old);
  } else {
    // For 16 bits, updates the half of the 32-bit word that contains the element.
    const int w = width(element), word = std::max(w, 32);
    const std::string bits = fmt::format("u{}", word);
    const std::string seen = w < 32 ? "(u16)(seen >> shift)" : "seen";
    const std::string now = bits_of("now", element);
    if (w < 32) text += "  const u32 shift = (u32)(at & 2u) * 8u;\n";
    text += fmt::format(
        "  {0}volatile {1}* const word = ({0}volatile {1}*)(at{2});\n"
        "  {1} seen = *word, expected;\n  {3} before;\n"
        "  do {{\n    expected = seen;\n    before = {4};\n    const {3} now = {5};\n"
        "    seen = swap_if_{1}(word, expected, {6});\n  }} while (seen != expected);\n  return before;\n}}\n",
        words.global, bits, w < 32 ? " & ~(u64)2" : "", type, of_bits(seen, element), changed(mode, element, words),
        w < 32 ? fmt::format("(seen & ~(0xffffu << shift)) | (u32){} << shift", now) : now);
  }
  return {name, text};
}

std::string swap_if(const std::string& address, const std::string& expected, const std::string& value, DType element,
                    Dialect dialect) {
  const std::string bits = integer_type(width(element), false);
  return of_bits(fmt::format("swap_if_{}(({}volatile {}*)({}), {}, {})", bits, words(dialect).global, bits, address,
                             bits_of(expected, element), bits_of(value, element)),
                 element);
}

}  // namespace deplo::ir::elements
