// Arithmetic of integers (specification, "Integer" and "Bitwise"). Integers have no signedness of their own and wrap at
// their width; an operation says whether it reads them as signed. Behaviour that the specification leaves undefined is
// reported.
#include <fmt/format.h>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/interpret/elementwise.h"
#include "ir/tile_program/interpret/evaluators.h"
#include "ir/tile_program/interpret/wide.h"

namespace deplo::ir::tile_program::exec {
namespace {

int bits_of(const Evaluation& now) { return width(now.operand_type(0).element); }
bool is_signed(const Evaluation& now) { return now.op.number("signedness") != 0; }

/// Returns the bits as a signed or unsigned number.
Wide number(std::uint64_t bits, int width, bool with_sign) {
  return with_sign ? Wide(as_signed(bits, width)) : Wide(bits);
}

Wide lowest(int width, bool with_sign) { return with_sign ? -(Wide(1) << (width - 1)) : Wide(0); }
Wide highest(int width, bool with_sign) { return (Wide(1) << (with_sign ? width - 1 : width)) - 1; }

/// Fails if the program says that a result does not wrap, but it does.
void check_wrap(const Evaluation& now, Wide with_sign, Wide without, int width) {
  const auto overflow = static_cast<Overflow>(now.op.number("overflow"));
  if (overflow == Overflow::none) return;
  const auto in_range = [&](Wide value, bool sign) {
    return value >= lowest(width, sign) && value <= highest(width, sign);
  };
  const bool signed_wraps = !in_range(with_sign, true), unsigned_wraps = !in_range(without, false);
  if ((signed_wraps && overflow != Overflow::no_unsigned_wrap) ||
      (unsigned_wraps && overflow != Overflow::no_signed_wrap))
    now.fail(fmt::format("expected no wrap, as its {} promises, found a result that does not fit in i{}",
                         enumeration("overflow").words[static_cast<std::size_t>(overflow)], width));
}

template <class Function>
void arithmetic(Evaluation& now, Function f) {
  const int w = bits_of(now);
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) {
    const Wide with_sign = f(number(a.bit(i), w, true), number(b.bit(i), w, true));
    check_wrap(now, with_sign, f(number(a.bit(i), w, false), number(b.bit(i), w, false)), w);
    return wrap(static_cast<std::uint64_t>(with_sign), w);
  }));
}

/// The product of two unsigned 64-bit numbers may need 128 bits. Unsigned wrap-around keeps its lowest 64 bits right.
Wide product(Wide a, Wide b) { return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b)); }

void addi(Evaluation& now) {
  arithmetic(now, [](Wide a, Wide b) { return a + b; });
}
void subi(Evaluation& now) {
  arithmetic(now, [](Wide a, Wide b) { return a - b; });
}
void muli(Evaluation& now) { arithmetic(now, product); }

void shli(Evaluation& now) {
  const int w = bits_of(now);
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) -> std::uint64_t {
    if (b.bit(i) >= static_cast<std::uint64_t>(w))
      now.fail(fmt::format("expected a shift below {}, found {}", w, b.bit(i)));
    const auto shift = static_cast<int>(b.bit(i));
    check_wrap(now, number(a.bit(i), w, true) * (Wide(1) << shift), number(a.bit(i), w, false) << shift, w);
    return wrap(a.bit(i) << shift, w);
  }));
}

void shri(Evaluation& now) {
  const int w = bits_of(now);
  const bool sign = is_signed(now);
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) -> std::uint64_t {
    if (b.bit(i) >= static_cast<std::uint64_t>(w))
      now.fail(fmt::format("expected a shift below {}, found {}", w, b.bit(i)));
    return wrap(static_cast<std::uint64_t>(number(a.bit(i), w, sign) >> static_cast<int>(b.bit(i))), w);
  }));
}

/// Returns the quotient, rounded as `rounding` says.
Wide divided(Wide a, Wide b, Rounding rounding) {
  const Wide quotient = a / b;
  if (a % b == 0) return quotient;
  const bool below_zero = (a < 0) != (b < 0);
  if (rounding == Rounding::positive_inf) return quotient + (below_zero ? 0 : 1);
  return rounding == Rounding::negative_inf ? quotient - (below_zero ? 1 : 0) : quotient;
}

template <class Function>
void division(Evaluation& now, Function f) {
  const int w = bits_of(now);
  const bool sign = is_signed(now);
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) {
    const Wide x = number(a.bit(i), w, sign), y = number(b.bit(i), w, sign);
    if (y == 0) now.fail("expected a divisor other than 0, found 0");
    if (sign && y == -1 && x == lowest(w, true))
      now.fail(fmt::format("expected a quotient that i{} holds, found the least number divided by -1", w));
    return wrap(static_cast<std::uint64_t>(f(x, y)), w);
  }));
}

void divi(Evaluation& now) {
  const auto rounding = static_cast<Rounding>(now.op.number("rounding"));
  division(now, [rounding](Wide a, Wide b) { return divided(a, b, rounding); });
}
void remi(Evaluation& now) {
  division(now, [](Wide a, Wide b) { return a % b; });
}

template <int sign>
void extreme_integer(Evaluation& now) {
  const int w = bits_of(now);
  const bool with_sign = is_signed(now);
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) {
    const bool first = sign * number(a.bit(i), w, with_sign) >= sign * number(b.bit(i), w, with_sign);
    return first ? a.bit(i) : b.bit(i);
  }));
}

void mulhii(Evaluation& now) {
  const int w = bits_of(now);
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) {
    return static_cast<std::uint64_t>(static_cast<UnsignedWide>(a.bit(i)) * b.bit(i) >> w);
  }));
}

void absi(Evaluation& now) {
  const int w = bits_of(now);
  const TileValue& a = now.operand(0);
  now.set(each_bits(lanes(now), [&](std::size_t i) {
    const Wide x = number(a.bit(i), w, true);
    return wrap(static_cast<std::uint64_t>(x < 0 ? -x : x), w);
  }));
}

void negi(Evaluation& now) {
  const int w = bits_of(now);
  const TileValue& a = now.operand(0);
  now.set(each_bits(lanes(now), [&](std::size_t i) {
    check_wrap(now, -number(a.bit(i), w, true), -number(a.bit(i), w, false), w);
    return wrap(0 - a.bit(i), w);
  }));
}

template <class Function>
void bitwise(Evaluation& now, Function f) {
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) { return f(a.bit(i), b.bit(i)); }));
}
void andi(Evaluation& now) {
  bitwise(now, [](std::uint64_t a, std::uint64_t b) { return a & b; });
}
void ori(Evaluation& now) {
  bitwise(now, [](std::uint64_t a, std::uint64_t b) { return a | b; });
}
void xori(Evaluation& now) {
  bitwise(now, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
}

void cmpi(Evaluation& now) {
  const auto predicate = static_cast<Comparison>(now.op.number("comparison_predicate"));
  const int w = bits_of(now);
  const bool sign = is_signed(now);
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) -> std::uint64_t {
    return compare(number(a.bit(i), w, sign), number(b.bit(i), w, sign), predicate) ? 1 : 0;
  }));
}

}  // namespace

std::vector<Evaluator> integer_evaluators() {
  return {{"absi", absi, true},
          {"addi", addi, true},
          {"andi", andi, true},
          {"cmpi", cmpi, true},
          {"divi", divi, true},
          {"maxi", extreme_integer<1>, true},
          {"mini", extreme_integer<-1>, true},
          {"mulhii", mulhii, true},
          {"muli", muli, true},
          {"negi", negi, true},
          {"ori", ori, true},
          {"remi", remi, true},
          {"shli", shli, true},
          {"shri", shri, true},
          {"subi", subi, true},
          {"xori", xori, true}};
}

}  // namespace deplo::ir::tile_program::exec
