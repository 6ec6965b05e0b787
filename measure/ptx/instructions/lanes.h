// Instructions that each lane executes independently: a function of one value per operand.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "measure/ptx/decode.h"
#include "measure/ptx/warp/warp.h"

namespace deplo::measure::ptx {

template <class T>
constexpr int bits_in = static_cast<int>(8 * sizeof(T));

template <class R, class F, class... T>
Flow store_each(Warp& w, const Instruction& i, Lanes active, const PerLane<T>&... operands) {
  w.store(i.d, per_lane([&](std::size_t l) -> R { return F{}(operands[l]...); }), active);
  return Flow::next;
}

/// Calls F for each lane with the operands a, b, c and e, of the types T, and stores the results in d.
template <class F, class R, class... T>
Flow run_each(Warp& w, const Instruction& i, Lanes active) {
  return [&]<std::size_t... k>(std::index_sequence<k...>) {
    const std::array places{i.a, i.b, i.c, i.e};
    return store_each<R, F>(w, i, active, w.lanes<T>(places[k])...);
  }
  (std::index_sequence_for<T...>());
}

/// `R`: the type of the result; `T`: the types of the operands.
template <class F, class R, class... T>
void bind_each(Binder& b) {
  b.registers(bits_in<R>, {bits_in<T>...});
  b.to().run = run_each<F, R, T...>;
}

/// The same for a result and operands of one type.
template <class F, int arity, class T>
void bind_same(Binder& b) {
  if constexpr (arity == 1) bind_each<F, T, T>(b);
  if constexpr (arity == 2) bind_each<F, T, T, T>(b);
  if constexpr (arity == 3) bind_each<F, T, T, T, T>(b);
}

/// Calls visit(Typed<T>()), in which T is the integer type of a word such as "s32".
template <class Visit>
void with_integer(std::string_view type, const Visit& visit) {
  const int bits = type_bits(type);
  const bool is_signed = type[0] == 's';
  if (bits == 8) return is_signed ? visit(Typed<std::int8_t>()) : visit(Typed<std::uint8_t>());
  if (bits == 16) return is_signed ? visit(Typed<std::int16_t>()) : visit(Typed<std::uint16_t>());
  if (bits == 32) return is_signed ? visit(Typed<std::int32_t>()) : visit(Typed<std::uint32_t>());
  return is_signed ? visit(Typed<std::int64_t>()) : visit(Typed<std::uint64_t>());
}

/// The same for types of at least 16 bits, because PTX has no arithmetic on 8 bits. Does nothing for 8-bit types.
template <class Visit>
void with_wide_integer(std::string_view type, const Visit& visit) {
  with_integer(type, [&]<class T>(Typed<T> t) {
    if constexpr (sizeof(T) > 1) visit(t);
  });
}

template <class Visit>
void with_float(std::string_view type, const Visit& visit) {
  return type == "f64" ? visit(Typed<double>()) : visit(Typed<float>());
}

/// PTX ISA, ".ftz": subnormal numbers become 0 with the same sign.
inline float flushed(float x) { return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }
inline double flushed(double x) { return x; }

}  // namespace deplo::measure::ptx
