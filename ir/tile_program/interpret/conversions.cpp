// Conversions from one type to another (specification, "Conversions").
#include <fmt/format.h>

#include <cmath>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/interpret/elementwise.h"
#include "ir/tile_program/interpret/evaluators.h"
#include "ir/tile_program/interpret/wide.h"

namespace deplo::ir::tile_program::exec {
namespace {

Rounding rounding(const Evaluation& now) { return static_cast<Rounding>(now.op.number("rounding_mode")); }

/// Returns the bits of each element.
Bits bits_of(const TileValue& value, DType e, std::size_t n) {
  Bits bits(n);
  for (std::size_t i = 0; i < n; ++i) bits[i] = value.reals != nullptr ? encode_float(value.real(i), e) : value.bit(i);
  return bits;
}
TileValue of_type(Bits bits, DType e) {
  if (is_integral(e)) return of_bits(std::move(bits));
  return each_real(bits.size(), [&](std::size_t i) { return decode_float(bits[i], e); });
}

void bitcast(Evaluation& now) {
  const TileValue& a = now.operand(0);
  now.set(of_type(bits_of(a, now.operand_type(0).element, a.size()), now.element()));
}

void ftof(Evaluation& now) {
  const DType e = now.element();
  const Rounding mode = rounding(now);
  const TileValue& a = now.operand(0);
  const bool exact = now.machine.launch.exact16 && width(e) == 16;
  now.set(each_real(a.size(), [&](std::size_t i) { return exact ? a.real(i) : round_to(a.real(i), e, mode); }));
}

void ftoi(Evaluation& now) {
  const int w = width(now.element());
  const bool sign = now.op.number("signedness") != 0;
  const double low = sign ? -std::ldexp(1.0, w - 1) : 0, end = std::ldexp(1.0, sign ? w - 1 : w);
  const bool saturates = now.op.number("saturating") != 0;
  const TileValue& a = now.operand(0);
  now.set(each_bits(a.size(), [&](std::size_t i) {
    const double whole = std::trunc(a.real(i));
    if (saturates && std::isnan(whole)) return std::uint64_t{0};
    if (saturates && whole >= end) return wrap(~std::uint64_t{0}, sign ? w - 1 : w);
    if (saturates && whole < low) return sign ? std::uint64_t{1} << (w - 1) : std::uint64_t{0};
    if (!(whole >= low && whole < end))
      now.fail(fmt::format("expected a number that {} holds, found {}", tile_name(now.element()), a.real(i)));
    return wrap(
        whole < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) : static_cast<std::uint64_t>(whole),
        w);
  }));
}

void itof(Evaluation& now) {
  const DType e = now.element();
  const int w = width(now.operand_type(0).element);
  const bool sign = now.op.number("signedness") != 0;
  const Rounding mode = rounding(now);
  const TileValue& a = now.operand(0);
  now.set(each_real(a.size(), [&](std::size_t i) {
    const Wide exact = sign ? Wide(as_signed(a.bit(i), w)) : Wide(a.bit(i));
    const auto value = static_cast<double>(exact);
    const Wide lost = exact - static_cast<Wide>(value);
    return round_to(value, e, mode, lost > 0 ? 1 : lost < 0 ? -1 : 0);
  }));
}

void exti(Evaluation& now) {
  const int from = width(now.operand_type(0).element), to = width(now.element());
  const bool sign = now.op.number("signedness") != 0;
  const TileValue& a = now.operand(0);
  now.set(each_bits(a.size(), [&](std::size_t i) {
    return sign ? wrap(static_cast<std::uint64_t>(as_signed(a.bit(i), from)), to) : a.bit(i);
  }));
}

void trunci(Evaluation& now) {
  const int from = width(now.operand_type(0).element), to = width(now.element());
  const auto overflow = static_cast<Overflow>(now.op.number("overflow"));
  const TileValue& a = now.operand(0);
  now.set(each_bits(a.size(), [&](std::size_t i) {
    const std::uint64_t kept = wrap(a.bit(i), to);
    const bool signed_wraps = as_signed(kept, to) != as_signed(a.bit(i), from), unsigned_wraps = kept != a.bit(i);
    if ((signed_wraps && (overflow == Overflow::no_signed_wrap || overflow == Overflow::no_wrap)) ||
        (unsigned_wraps && (overflow == Overflow::no_unsigned_wrap || overflow == Overflow::no_wrap)))
      now.fail(fmt::format("expected no wrap, as its overflow promises, found {}, which does not fit in {}",
                           as_signed(a.bit(i), from), tile_name(now.element())));
    return kept;
  }));
}

/// Concatenates the bits of all elements, lowest first, and cuts them into bytes. unpack() is the inverse.
void pack(Evaluation& now) {
  const DType e = now.operand_type(0).element;
  const auto n = static_cast<std::size_t>(element_count(now.operand_type(0)));
  const Bits bits = bits_of(now.operand(0), e, n);
  const auto w = static_cast<std::size_t>(width(e));
  now.set(each_bits(static_cast<std::size_t>(element_count(now.result_type())), [&](std::size_t i) {
    if (w > 8) return bits[8 * i / w] >> (8 * i % w) & 0xFF;
    std::uint64_t byte = 0;
    for (std::size_t k = 0; k < 8 / w; ++k) byte |= bits[8 / w * i + k] << (w * k);
    return byte;
  }));
}

void unpack(Evaluation& now) {
  const DType e = now.element();
  const auto w = static_cast<std::size_t>(width(e));
  const TileValue& a = now.operand(0);
  Bits bits(static_cast<std::size_t>(element_count(now.result_type())));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (w < 8) bits[i] = wrap(a.bit(i * w / 8) >> (i * w % 8), static_cast<int>(w));
    for (std::size_t b = 0; b < w / 8; ++b) bits[i] |= a.bit(i * w / 8 + b) << (8 * b);
  }
  now.set(of_type(std::move(bits), e));
}

}  // namespace

std::vector<Evaluator> conversion_evaluators() {
  return {{"bitcast", bitcast, true},
          {"exti", exti, true},
          {"ftof", ftof, true},
          {"ftoi", ftoi, true},
          {"int_to_ptr", set_operand, true},
          {"itof", itof, true},
          {"pack", pack},
          {"ptr_to_int", set_operand, true},
          {"ptr_to_ptr", set_operand, true},
          {"trunci", trunci, true},
          {"unpack", unpack}};
}

}  // namespace deplo::ir::tile_program::exec
