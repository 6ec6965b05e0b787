// Arithmetic of integers, which have no sign of their own and wrap by their width, and conversions.
#include "ir/emit/tile_program/integers.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/emit/tile_program/emitter.h"
#include "ir/emit/tile_program/rows.h"
#include "ir/tile_program/attribute.h"

namespace deplo::ir::tile_program::blocks {

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

int operand_width(const Emitter& e, const Operation& op) { return width(e.type(op.operands[0]).element); }
bool has_sign(const Operation& op) { return op.number("signedness") != 0; }

/// An operator that is right in more bits than the type has.
std::string infix(Emitter& e, const Operation& op, const At& at, std::string_view word) {
  const int w = operand_width(e, op);
  const std::string a = e.element(op.operands[0], at), b = e.element(op.operands[1], at);
  return wrapped(fmt::format("{} {} {}", extended(a, w, false), word, extended(b, w, false)), w);
}
std::string add(Emitter& e, const Operation& op, const At& at) { return infix(e, op, at, "+"); }
std::string subtract(Emitter& e, const Operation& op, const At& at) { return infix(e, op, at, "-"); }
std::string multiply(Emitter& e, const Operation& op, const At& at) { return infix(e, op, at, "*"); }
std::string both(Emitter& e, const Operation& op, const At& at) { return infix(e, op, at, "&"); }
std::string either(Emitter& e, const Operation& op, const At& at) { return infix(e, op, at, "|"); }
std::string differ(Emitter& e, const Operation& op, const At& at) { return infix(e, op, at, "^"); }
std::string shift_left(Emitter& e, const Operation& op, const At& at) { return infix(e, op, at, "<<"); }

/// Both operands with the sign that the operation gives them.
std::pair<std::string, std::string> numbers(Emitter& e, const Operation& op, const At& at) {
  const int w = operand_width(e, op);
  std::string a = extended(e.element(op.operands[0], at), w, has_sign(op));
  return {std::move(a), extended(e.element(op.operands[1], at), w, has_sign(op))};
}

std::string shift_right(Emitter& e, const Operation& op, const At& at) {
  const int w = operand_width(e, op);
  return wrapped(
      fmt::format("{} >> {}", extended(e.element(op.operands[0], at), w, has_sign(op)), e.element(op.operands[1], at)),
      w);
}

std::string divide(Emitter& e, const Operation& op, const At& at) {
  const auto rounding = static_cast<Rounding>(op.number("rounding"));
  const auto [a, b] = numbers(e, op, at);
  std::string quotient = fmt::format("{} / {}", a, b);
  const std::string below_zero = has_sign(op) ? fmt::format("(({} < 0) != ({} < 0))", a, b) : "0";
  if (rounding == Rounding::positive_inf) quotient += fmt::format(" + ({0} % {1} != 0 && !{2})", a, b, below_zero);
  if (rounding == Rounding::negative_inf) quotient += fmt::format(" - ({0} % {1} != 0 && {2})", a, b, below_zero);
  return wrapped(quotient, operand_width(e, op));
}

std::string remainder(Emitter& e, const Operation& op, const At& at) {
  const auto [a, b] = numbers(e, op, at);
  return wrapped(fmt::format("{} % {}", a, b), operand_width(e, op));
}

std::string extreme_of(Emitter& e, const Operation& op, const At& at, std::string_view order) {
  const auto [a, b] = numbers(e, op, at);
  return fmt::format("{} {} {} ? {} : {}", a, order, b, e.element(op.operands[0], at), e.element(op.operands[1], at));
}
std::string largest(Emitter& e, const Operation& op, const At& at) { return extreme_of(e, op, at, ">="); }
std::string least(Emitter& e, const Operation& op, const At& at) { return extreme_of(e, op, at, "<="); }

std::string high_product(Emitter& e, const Operation& op, const At& at) {
  const int w = operand_width(e, op);
  const std::string a = e.element(op.operands[0], at), b = e.element(op.operands[1], at);
  return w < 32 ? wrapped(fmt::format("(u32){} * (u32){} >> {}", a, b, w), w)
                : fmt::format("high_product_u{}({}, {})", w, a, b);
}

std::string absolute(Emitter& e, const Operation& op, const At& at) {
  const int w = operand_width(e, op);
  const std::string a = e.element(op.operands[0], at);
  return wrapped(fmt::format("{0} < 0 ? 0u - {1} : {1}", extended(a, w, true), extended(a, w, false)), w);
}

std::string negate_integer(Emitter& e, const Operation& op, const At& at) {
  const int w = operand_width(e, op);
  return wrapped("0u - " + extended(e.element(op.operands[0], at), w, false), w);
}

std::string compare_integers(Emitter& e, const Operation& op, const At& at) {
  static constexpr std::array<std::string_view, 6> operators = {"==", "!=", "<", "<=", ">", ">="};
  const auto [a, b] = numbers(e, op, at);
  return fmt::format("(u8)({} {} {})", a, operators.at(static_cast<std::size_t>(op.number("comparison_predicate"))), b);
}

// --- Conversions ---------------------------------------------------------------------------------------------------------

std::string widen(Emitter& e, const Operation& op, const At& at) {
  const int from = operand_width(e, op), to = width(e.result_type(op).element);
  return wrapped(extended(e.element(op.operands[0], at), from, has_sign(op)), to);
}

std::string narrow(Emitter& e, const Operation& op, const At& at) {
  return wrapped(e.element(op.operands[0], at), width(e.result_type(op).element));
}

std::string float_to_integer(Emitter& e, const Operation& op, const At& at) {
  const int w = width(e.result_type(op).element);
  const bool sign = has_sign(op);
  const std::string type = integer_type(std::max(w, 32), sign);
  if (op.number("saturating") == 0) return wrapped(fmt::format("({}){}", type, e.element(op.operands[0], at)), w);
  // A NaN becomes 0, and numbers beyond the type become its last ones.
  const bool is_double = e.type(op.operands[0]).element == DType::f64;
  const std::string_view real = is_double ? "f64" : "f32";
  const std::string x = e.named(real, e.element(op.operands[0], at));
  const std::uint64_t least = sign ? std::uint64_t{1} << (w - 1) : 0, greatest = wrap(~least, w);
  const double end = std::ldexp(1.0, sign ? w - 1 : w);
  return fmt::format("({0} != {0} ? {1} : {0} >= {3:.1f}{2} ? {4} : {0} <= {5:.1f}{2} ? {6} : {7})", x,
                     literal(0, e.result_type(op).element), is_double ? "" : "f", end,
                     literal(greatest, e.result_type(op).element), sign ? -end : 0.0,
                     literal(least, e.result_type(op).element), wrapped(fmt::format("({}){}", type, x), w));
}

/// Rounded as the operation says; a type of 16 bits or less by way of an f32 that is rounded to odd.
std::string integer_to_float(Emitter& e, const Operation& op, const At& at) {
  const DType to = e.result_type(op).element;
  const int w = operand_width(e, op);
  const bool sign = has_sign(op);
  const std::string number = extended(e.element(op.operands[0], at), w, sign);
  const auto rounding = static_cast<Rounding>(op.number("rounding_mode"));
  if (rounding == Rounding::nearest_even) {
    if (to == DType::f32 || to == DType::f64) return fmt::format("({}){}", value_type(to), number);
    return rounded(w < 32 ? "(f32)" + number : fmt::format("odd_of_{}64({})", sign ? 'i' : 'u', number), to);
  }
  if (to != DType::f32 && to != DType::f64)
    e.refuse(op, fmt::format("expected rounding nearest_even to {}, found {}", tile_name(to),
                             enumeration("rounding").words[static_cast<std::size_t>(rounding)]));
  const bool zero = rounding == Rounding::zero, up = rounding == Rounding::positive_inf;
  const std::string_view type = to == DType::f64 ? "double" : "float";
  return e.cuda() ? fmt::format("__{}ll2{}_{}(({}64){})", sign ? "" : "u", type,
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

std::string float_to_float(Emitter& e, const Operation& op, const At& at) {
  const DType from = e.type(op.operands[0]).element, to = e.result_type(op).element;
  const std::string value = e.element(op.operands[0], at);
  if (to == DType::f64) return "(f64)" + value;
  if (to == DType::f32) return from == DType::f64 ? "(f32)" + value : value;
  const std::string number = from == DType::f64 ? "odd_of_f64(" + value + ")" : value;
  if (to != DType::f8e8m0fnu) return rounded(number, to);
  const bool up = static_cast<Rounding>(op.number("rounding_mode")) == Rounding::positive_inf;
  return of_bits(fmt::format("f8E8M0FNU_power({}, {})", number, up ? 1 : 0), to);
}

std::string same_bits(Emitter& e, const Operation& op, const At& at) {
  const std::string bits = bits_of(e.element(op.operands[0], at), e.type(op.operands[0]).element);
  return of_bits(bits, e.result_type(op).element);
}

std::string itself(Emitter& e, const Operation& op, const At& at) { return e.element(op.operands[0], at); }

/// DType i of bytes that hold numbers of `w` bits, the lowest first.
std::string pack(Emitter& e, const Operation& op, const At& at) {
  const DType from = e.type(op.operands[0]).element;
  const int w = width(from);
  const auto bits_at = [&](const std::string& i) {
    return bits_of(e.element(op.operands[0], {e.named("u32", i), ""}), from);
  };
  if (w > 8) return fmt::format("(u8)({} >> {} % {} * 8)", bits_at(fmt::format("{} / {}", at.i, w / 8)), at.i, w / 8);
  std::string byte;
  for (int k = 0; k < 8 / w; ++k)
    byte += fmt::format("{}(u32){} << {}", k == 0 ? "" : " | ", bits_at(fmt::format("{} * {} + {}", at.i, 8 / w, k)),
                        w * k);
  return "(u8)(" + byte + ")";
}

std::string unpack(Emitter& e, const Operation& op, const At& at) {
  const DType to = e.result_type(op).element;
  const int w = width(to);
  const auto byte_at = [&](const std::string& i) { return e.element(op.operands[0], {e.named("u32", i), ""}); };
  if (w < 8)
    return of_bits(
        wrapped(fmt::format("{} >> {} % {} * {}", byte_at(fmt::format("{} / {}", at.i, 8 / w)), at.i, 8 / w, w), w),
        to);
  std::string bits;
  for (int k = 0; k < w / 8; ++k)
    bits += fmt::format("{}({}){} << {}", k == 0 ? "" : " | ", w == 64 ? "u64" : "u32",
                        byte_at(fmt::format("{} * {} + {}", at.i, w / 8, k)), 8 * k);
  return of_bits(wrapped(bits, w), to);
}

}  // namespace

std::vector<Row> integer_rows() {
  const auto cheap = [](std::string_view name, auto function) {
    return Row{.name = name, .element = function, .cheap = true};
  };
  return {cheap("addi", add),
          cheap("subi", subtract),
          cheap("muli", multiply),
          cheap("andi", both),
          cheap("ori", either),
          cheap("xori", differ),
          cheap("shli", shift_left),
          cheap("shri", shift_right),
          cheap("maxi", largest),
          cheap("mini", least),
          cheap("cmpi", compare_integers),
          cheap("negi", negate_integer),
          {"absi", absolute},
          {"divi", divide},
          {"remi", remainder},
          {"mulhii", high_product}};
}

std::vector<Row> conversion_rows() {
  return {{.name = "exti", .element = widen, .cheap = true},
          {.name = "trunci", .element = narrow, .cheap = true},
          {.name = "bitcast", .element = same_bits, .cheap = true},
          {.name = "int_to_ptr", .element = itself, .cheap = true},
          {.name = "ptr_to_int", .element = itself, .cheap = true},
          {.name = "ptr_to_ptr", .element = itself, .cheap = true},
          {.name = "ftoi", .element = float_to_integer},
          {.name = "itof", .element = integer_to_float},
          {.name = "ftof", .element = float_to_float},
          {.name = "pack", .element = pack, .reads = Reads::moved},
          {.name = "unpack", .element = unpack, .reads = Reads::moved}};
}

}  // namespace deplo::ir::tile_program::blocks
