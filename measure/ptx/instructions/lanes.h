// Instructions that each lane executes independently: a function of one value per operand.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "measure/ptx/decode.h"
#include "measure/ptx/warp/warp.h"

namespace deplo::measure::ptx {

template <class T>
constexpr int bits_in = static_cast<int>(8 * sizeof(T));

template <class R, class F, class... T>
Flow store_each(Warp& w, const Instruction& i, Lanes active, const PerLane<T>&... operands) {
  PerLane<R> r;
  for (std::size_t l = 0; l < warp_lanes; ++l) r[l] = F{}(operands[l]...);
  w.store(i.d, r, active);
  return Flow::next;
}

template <class R, class T, class F>
Flow run_unary(Warp& w, const Instruction& i, Lanes active) {
  return store_each<R, F>(w, i, active, w.lanes<T>(i.a));
}

template <class R, class T, class U, class F>
Flow run_binary(Warp& w, const Instruction& i, Lanes active) {
  return store_each<R, F>(w, i, active, w.lanes<T>(i.a), w.lanes<U>(i.b));
}

template <class R, class T, class U, class V, class F>
Flow run_ternary(Warp& w, const Instruction& i, Lanes active) {
  return store_each<R, F>(w, i, active, w.lanes<T>(i.a), w.lanes<U>(i.b), w.lanes<V>(i.c));
}

template <class R, class T, class F>
void bind_unary(Binder& b) {
  b.expect_operands(2, 2);
  b.to().d = b.write(0, bits_in<R>);
  b.to().a = b.read(1, bits_in<T>);
  b.to().run = run_unary<R, T, F>;
}

template <class R, class T, class U, class F>
void bind_binary(Binder& b) {
  b.expect_operands(3, 3);
  b.to().d = b.write(0, bits_in<R>);
  b.to().a = b.read(1, bits_in<T>);
  b.to().b = b.read(2, bits_in<U>);
  b.to().run = run_binary<R, T, U, F>;
}

template <class R, class T, class U, class V, class F>
void bind_ternary(Binder& b) {
  b.expect_operands(4, 4);
  b.to().d = b.write(0, bits_in<R>);
  b.to().a = b.read(1, bits_in<T>);
  b.to().b = b.read(2, bits_in<U>);
  b.to().c = b.read(3, bits_in<V>);
  b.to().run = run_ternary<R, T, U, V, F>;
}

template <class T>
struct Typed {
  using type = T;
};

/// Calls visit(Typed<T>()), in which T is the integer type of a word such as "s32".
template <class Visit>
void with_integer(std::string_view type, const Visit& visit) {
  const int bits = type_bits(type);
  if (type[0] == 's') {
    if (bits == 8) return visit(Typed<std::int8_t>());
    if (bits == 16) return visit(Typed<std::int16_t>());
    if (bits == 32) return visit(Typed<std::int32_t>());
    return visit(Typed<std::int64_t>());
  }
  if (bits == 8) return visit(Typed<std::uint8_t>());
  if (bits == 16) return visit(Typed<std::uint16_t>());
  if (bits == 32) return visit(Typed<std::uint32_t>());
  return visit(Typed<std::uint64_t>());
}

/// The same for types of at least 16 bits, because PTX has no arithmetic on 8 bits. Does nothing for 8-bit types.
template <class Visit>
void with_wide_integer(std::string_view type, const Visit& visit) {
  with_integer(type, [&](auto t) {
    if constexpr (sizeof(typename decltype(t)::type) > 1) visit(t);
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
