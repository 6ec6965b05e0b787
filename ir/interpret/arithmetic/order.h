// Arithmetic that tracks the order of operations. Two programs give the same bits if their floats are equal in this
// arithmetic (docs/determinism.md).
#pragma once
#include "ir/interpret/arithmetic/arithmetic.h"

namespace deplo::ir {

/// A float is a hash of the expression that computed it: its operations, their operands, and their order. Two
/// expressions are equal only by rules that hold for every float, bit by bit: sums and products commute, negation is
/// exact and moves through sums and products, adding 0 and multiplying by 1 change nothing (except the sign of a 0),
/// and rounding a value again to the same 16-bit type changes nothing. Maxima, minima and comparisons do not round;
/// they compare the hashes.
///
/// A hash is a double with an absolute value below 2. Its last bits encode the type to which it was rounded.
class Order final : public Arithmetic {
 public:
  double constant(double value) const override;
  void apply(Op, std::int64_t n, double* out, const double* a, const double* b, const double* c) const override;
  double dot(double sum, std::span<const double> a, std::span<const double> b) const override;
  double stored(double value, DType) const override;
  double integer(double value, DType) const override;
  bool is_tf32(double) const override { return true; }

  /// Returns an element of an input: a different hash for each seed.
  static double element(std::uint64_t seed);
};

}  // namespace deplo::ir
