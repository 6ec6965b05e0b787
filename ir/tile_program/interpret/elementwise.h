// Helpers for elementwise operations. Private to this folder.
#pragma once
#include <algorithm>
#include <cmath>

#include "ir/tile_program/interpret/machine.h"
#include "ir/types/float_format.h"

namespace deplo::ir::tile_program::exec {

/// Returns the number of elements of a tile.
inline std::size_t elements_of(const Type& t) { return static_cast<std::size_t>(element_count(t)); }

/// Returns the number of elements to compute: one if every operand has a single number for all its elements.
inline std::size_t lanes(const Evaluation& now) {
  std::size_t n = 1;
  for (const ValueId id : now.op.operands) n = std::max(n, now.value(id).size());
  return n;
}

template <class Function>
TileValue each_real(std::size_t n, Function f) {
  Reals out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = f(i);
  return of_reals(std::move(out));
}
template <class Function>
TileValue each_bits(std::size_t n, Function f) {
  Bits out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = f(i);
  return of_bits(std::move(out));
}

/// Builds a tile of floats or of bits element by element.
class TileBuilder {
 public:
  explicit TileBuilder(Reals numbers) : is_real_(true), reals_(std::move(numbers)) {}
  explicit TileBuilder(Bits numbers) : is_real_(false), bits_(std::move(numbers)) {}
  void set(std::size_t i, std::uint64_t bits, DType e) {
    if (is_real_)
      reals_[i] = decode_float(bits, e);
    else
      bits_[i] = bits;
  }
  /// Sets element i to element `at` of a tile of the same kind.
  void copy(std::size_t i, const TileValue& from, std::size_t at) {
    if (is_real_)
      reals_[i] = from.real(at);
    else
      bits_[i] = from.bit(at);
  }
  TileValue take() { return is_real_ ? of_reals(std::move(reals_)) : of_bits(std::move(bits_)); }

 private:
  bool is_real_;
  Reals reals_;
  Bits bits_;
};

/// Sets the result to the first operand.
inline void set_operand(Evaluation& now) {
  TileValue same = now.operand(0);
  same.past = nullptr;
  now.set(std::move(same));
}

/// Compares two numbers. Neither may be a NaN.
template <class Number>
bool compare(Number a, Number b, Comparison predicate) {
  switch (predicate) {
    case Comparison::equal:
      return a == b;
    case Comparison::not_equal:
      return a != b;
    case Comparison::less:
      return a < b;
    case Comparison::less_equal:
      return a <= b;
    case Comparison::greater:
      return a > b;
    case Comparison::greater_equal:
      return a >= b;
  }
  return false;
}

/// If `flush`, a subnormal f32 becomes 0 with the same sign.
inline double flushed(double x, bool flush) { return flush && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

}  // namespace deplo::ir::tile_program::exec
