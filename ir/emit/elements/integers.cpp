// Arithmetic of integers, which have no signedness of their own and wrap at their width, and conversions.
#include "ir/emit/elements/integers.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/emit/elements/rows.h"
#include "ir/tile_program/attribute.h"

namespace deplo::ir::elements {

std::string wrapped(const std::string& value, int width) {
  if (width == 1 || width == 4) return fmt::format("(u8)(({}) & {}u)", value, (1 << width) - 1);
  return fmt::format("({})({})", integer_type(width, false), value);
}

std::string extended(const std::string& value, int width, bool with_sign) {
  if (!with_sign) return width < 32 ? "(u32)" + value : value;
  if (width == 1) return "(-(i32)" + value + ")";
  if (width == 4) return fmt::format("((i32)((u32){} << 28) >> 28)", value);
  return fmt::format("({}){}", integer_type(width, true), value);
}

namespace {

int operand_width(const Call& c) { return width(c.types[0]); }
bool has_sign(const Call& c) { return c.number("signedness") != 0; }

/// Returns an operation that may be computed with more bits than the type has; the result is wrapped.
std::string infix(Call& c, std::string_view word) {
  const int w = operand_width(c);
  const std::string a = c.args[0], b = c.args[1];
  return wrapped(fmt::format("{} {} {}", extended(a, w, false), word, extended(b, w, false)), w);
}
std::string add(Call& c) { return infix(c, "+"); }
std::string subtract(Call& c) { return infix(c, "-"); }
std::string multiply(Call& c) { return infix(c, "*"); }
std::string both(Call& c) { return infix(c, "&"); }
std::string either(Call& c) { return infix(c, "|"); }
std::string differ(Call& c) { return infix(c, "^"); }
std::string shift_left(Call& c) { return infix(c, "<<"); }

/// Returns both operands, extended with the signedness that the operation specifies.
std::pair<std::string, std::string> numbers(Call& c) {
  const int w = operand_width(c);
  std::string a = extended(c.args[0], w, has_sign(c));
  return {std::move(a), extended(c.args[1], w, has_sign(c))};
}

std::string shift_right(Call& c) {
  const int w = operand_width(c);
  return wrapped(fmt::format("{} >> {}", extended(c.args[0], w, has_sign(c)), c.args[1]), w);
}

std::string divide(Call& c) {
  const auto rounding = static_cast<Rounding>(c.number("rounding"));
  const auto [a, b] = numbers(c);
  std::string quotient = fmt::format("{} / {}", a, b);
  const std::string below_zero = has_sign(c) ? fmt::format("(({} < 0) != ({} < 0))", a, b) : "0";
  if (rounding == Rounding::positive_inf) quotient += fmt::format(" + ({0} % {1} != 0 && !{2})", a, b, below_zero);
  if (rounding == Rounding::negative_inf) quotient += fmt::format(" - ({0} % {1} != 0 && {2})", a, b, below_zero);
  return wrapped(quotient, operand_width(c));
}

std::string remainder(Call& c) {
  const auto [a, b] = numbers(c);
  return wrapped(fmt::format("{} % {}", a, b), operand_width(c));
}

std::string extreme_of(Call& c, std::string_view order) {
  const auto [a, b] = numbers(c);
  return fmt::format("{} {} {} ? {} : {}", a, order, b, c.args[0], c.args[1]);
}
std::string largest(Call& c) { return extreme_of(c, ">="); }
std::string least(Call& c) { return extreme_of(c, "<="); }

std::string high_product(Call& c) {
  const int w = operand_width(c);
  const std::string a = c.args[0], b = c.args[1];
  return w < 32 ? wrapped(fmt::format("(u32){} * (u32){} >> {}", a, b, w), w)
                : fmt::format("high_product_u{}({}, {})", w, a, b);
}

std::string absolute(Call& c) {
  const int w = operand_width(c);
  const std::string a = c.args[0];
  return wrapped(fmt::format("{0} < 0 ? 0u - {1} : {1}", extended(a, w, true), extended(a, w, false)), w);
}

std::string negate_integer(Call& c) {
  const int w = operand_width(c);
  return wrapped("0u - " + extended(c.args[0], w, false), w);
}

std::string compare_integers(Call& c) {
  static constexpr std::array<std::string_view, 6> operators = {"==", "!=", "<", "<=", ">", ">="};
  const auto [a, b] = numbers(c);
  return fmt::format("(u8)({} {} {})", a, operators.at(static_cast<std::size_t>(c.number("comparison_predicate"))), b);
}

// --- Conversions -----------------------------------------------------------------------------------------------------

std::string widen(Call& c) {
  const int from = operand_width(c), to = width(c.result());
  return wrapped(extended(c.args[0], from, has_sign(c)), to);
}

std::string narrow(Call& c) { return wrapped(c.args[0], width(c.result())); }

std::string float_to_integer(Call& c) {
  const int w = width(c.result());
  const bool sign = has_sign(c);
  const std::string type = integer_type(std::max(w, 32), sign);
  if (c.number("saturating") == 0) return wrapped(fmt::format("({}){}", type, c.args[0]), w);
  // A NaN becomes 0. Numbers out of range become the least or greatest number of the type.
  const bool is_double = c.types[0] == DType::f64;
  const std::string_view real = is_double ? "f64" : "f32";
  const std::string x = c.named(real, c.args[0]);
  const std::uint64_t min_value = sign ? std::uint64_t{1} << (w - 1) : 0, max_value = wrap(~min_value, w);
  const double end = std::ldexp(1.0, sign ? w - 1 : w);
  return fmt::format("({0} != {0} ? {1} : {0} >= {3:.1f}{2} ? {4} : {0} <= {5:.1f}{2} ? {6} : {7})", x,
                     literal(0, c.result()), is_double ? "" : "f", end, literal(max_value, c.result()),
                     sign ? -end : 0.0, literal(min_value, c.result()), wrapped(fmt::format("({}){}", type, x), w));
}

/// Rounds as the operation says. A type of 16 bits or less is rounded from an f32 that was rounded to odd.
std::string integer_to_float(Call& c) {
  const DType to = c.result();
  const int w = operand_width(c);
  const bool sign = has_sign(c);
  const std::string number = extended(c.args[0], w, sign);
  const auto rounding = static_cast<Rounding>(c.number("rounding_mode"));
  if (rounding == Rounding::nearest_even) {
    if (to == DType::f32 || to == DType::f64) return fmt::format("({}){}", c_type(to), number);
    return rounded(w < 32 ? "(f32)" + number : fmt::format("odd_of_{}64({})", sign ? 'i' : 'u', number), to);
  }
  CHECK(to == DType::f32 || to == DType::f64);  // unsupported() rejects all other cases
  const bool zero = rounding == Rounding::zero, up = rounding == Rounding::positive_inf;
  const std::string_view type = to == DType::f64 ? "double" : "float";
  return c.words.intrinsics ? fmt::format("__{}ll2{}_{}(({}64){})", sign ? "" : "u", type,
                                          zero ? "rz"
                                          : up ? "ru"
                                               : "rd",
                                          sign ? 'i' : 'u', number)
                            : fmt::format("convert_{}_{}(({}64){})", type,
                                          zero ? "rtz"
                                          : up ? "rtp"
                                               : "rtn",
                                          sign ? 'i' : 'u', number);
}

std::string float_to_float(Call& c) {
  const DType from = c.types[0], to = c.result();
  const std::string value = c.args[0];
  if (to == DType::f64) return "(f64)" + value;
  if (to == DType::f32) return from == DType::f64 ? "(f32)" + value : value;
  const std::string number = from == DType::f64 ? "odd_of_f64(" + value + ")" : value;
  if (to != DType::f8e8m0fnu) return rounded(number, to);
  const bool up = static_cast<Rounding>(c.number("rounding_mode")) == Rounding::positive_inf;
  return of_bits(fmt::format("f8E8M0FNU_power({}, {})", number, up ? 1 : 0), to);
}

std::string same_bits(Call& c) {
  const std::string bits = bits_of(c.args[0], c.types[0]);
  return of_bits(bits, c.result());
}

std::string itself(Call& c) { return c.args[0]; }

std::string select(Call& c) { return fmt::format("{} != 0 ? {} : {}", c.args[0], c.args[1], c.args[2]); }

std::string unsupported_conversion(const Compute& compute, const Words&) {
  const DType to = compute.dtype;
  const auto rounding = static_cast<Rounding>(compute.number("rounding_mode"));
  if (rounding == Rounding::nearest_even || to == DType::f32 || to == DType::f64) return "";
  return fmt::format("expected rounding nearest_even to {}, found {}", tile_name(to),
                     tile_program::enumeration("rounding").words[static_cast<std::size_t>(rounding)]);
}

}  // namespace

std::vector<Row> integer_rows() {
  return {{"addi", add},      {"subi", subtract}, {"muli", multiply},         {"andi", both},
          {"ori", either},    {"xori", differ},   {"shli", shift_left},       {"shri", shift_right},
          {"maxi", largest},  {"mini", least},    {"cmpi", compare_integers}, {"negi", negate_integer},
          {"absi", absolute}, {"divi", divide},   {"remi", remainder},        {"mulhii", high_product}};
}

std::vector<Row> conversion_rows() {
  return {{"exti", widen},         {"trunci", narrow},         {"bitcast", same_bits},
          {"int_to_ptr", itself},  {"ptr_to_int", itself},     {"ptr_to_ptr", itself},
          {"select", select},      {"ftoi", float_to_integer}, {"itof", integer_to_float, unsupported_conversion},
          {"ftof", float_to_float}};
}

}  // namespace deplo::ir::elements
