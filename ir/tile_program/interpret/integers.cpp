// Arithmetic of integers (specification, "Integer" and "Bitwise"). Integers have no signedness of their own and wrap at
// their width; an operation says whether it reads them as signed. Behaviour that the specification leaves undefined is
// reported.
#include <fmt/format.h>

#include <functional>

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

/// Sets the result to f(a, b) for the bits of each pair of elements.
template <class Function>
void of_each_pair(Evaluation& now, Function f) {
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) -> std::uint64_t { return f(a.bit(i), b.bit(i)); }));
}

template <auto f>
void arithmetic(Evaluation& now) {
  const int w = bits_of(now);
  of_each_pair(now, [&](std::uint64_t a, std::uint64_t b) {
    const Wide with_sign = f(number(a, w, true), number(b, w, true));
    check_wrap(now, with_sign, f(number(a, w, false), number(b, w, false)), w);
    return wrap(static_cast<std::uint64_t>(with_sign), w);
  });
}

/// The product of two unsigned 64-bit numbers may need 128 bits. Unsigned wrap-around keeps its lowest 64 bits right.
Wide product(Wide a, Wide b) { return static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b)); }

int checked_shift(const Evaluation& now, std::uint64_t shift, int width) {
  if (shift >= static_cast<std::uint64_t>(width))
    now.fail(fmt::format("expected a shift below {}, found {}", width, shift));
  return static_cast<int>(shift);
}

void shli(Evaluation& now) {
  const int w = bits_of(now);
  of_each_pair(now, [&](std::uint64_t a, std::uint64_t b) {
    const int shift = checked_shift(now, b, w);
    check_wrap(now, number(a, w, true) * (Wide(1) << shift), number(a, w, false) << shift, w);
    return wrap(a << shift, w);
  });
}

void shri(Evaluation& now) {
  const int w = bits_of(now);
  const bool sign = is_signed(now);
  of_each_pair(now, [&](std::uint64_t a, std::uint64_t b) {
    return wrap(static_cast<std::uint64_t>(number(a, w, sign) >> checked_shift(now, b, w)), w);
  });
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
  of_each_pair(now, [&](std::uint64_t a, std::uint64_t b) {
    const Wide x = number(a, w, sign), y = number(b, w, sign);
    if (y == 0) now.fail("expected a divisor other than 0, found 0");
    if (sign && y == -1 && x == lowest(w, true))
      now.fail(fmt::format("expected a quotient that i{} holds, found the least number divided by -1", w));
    return wrap(static_cast<std::uint64_t>(f(x, y)), w);
  });
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
  of_each_pair(now, [&](std::uint64_t a, std::uint64_t b) {
    return sign * number(a, w, with_sign) >= sign * number(b, w, with_sign) ? a : b;
  });
}

void mulhii(Evaluation& now) {
  of_each_pair(now, [w = bits_of(now)](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>(static_cast<UnsignedWide>(a) * b >> w);
  });
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
void bitwise(Evaluation& now) {
  of_each_pair(now, Function());
}
void cmpi(Evaluation& now) {
  const auto predicate = static_cast<Comparison>(now.op.number("comparison_predicate"));
  const int w = bits_of(now);
  const bool sign = is_signed(now);
  of_each_pair(now, [&](std::uint64_t a, std::uint64_t b) {
    return compare(number(a, w, sign), number(b, w, sign), predicate) ? 1 : 0;
  });
}

}  // namespace

std::vector<Evaluator> integer_evaluators() {
  return {{"absi", absi, true},
          {"addi", arithmetic<std::plus<Wide>{}>, true},
          {"andi", bitwise<std::bit_and<std::uint64_t>>, true},
          {"cmpi", cmpi, true},
          {"divi", divi, true},
          {"maxi", extreme_integer<1>, true},
          {"mini", extreme_integer<-1>, true},
          {"mulhii", mulhii, true},
          {"muli", arithmetic<product>, true},
          {"negi", negi, true},
          {"ori", bitwise<std::bit_or<std::uint64_t>>, true},
          {"remi", remi, true},
          {"shli", shli, true},
          {"shri", shri, true},
          {"subi", arithmetic<std::minus<Wide>{}>, true},
          {"xori", bitwise<std::bit_xor<std::uint64_t>>, true}};
}

}  // namespace deplo::ir::tile_program::exec
