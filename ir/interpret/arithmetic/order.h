// The order of operations: two programs whose floats agree in it give the same bits (docs/determinism.md).
#pragma once
#include "ir/interpret/arithmetic/arithmetic.h"

namespace deplo::ir {

/// A float is a hash of the expression that computed it: its operations, their operands, and their order. Only what
/// holds for every float, bit by bit, makes two expressions equal: sums and products commute, negation is exact and
/// moves through sums and products, adding 0 and multiplying by 1 change nothing (but the sign of a 0), and a value
/// that has been rounded to 16 bits is not changed by another such rounding. Maxima, minima and comparisons round
/// nothing and are those of an order of the hashes.
///
/// A hash is a double less than 2 in size. Its last bits tell the type to which it was rounded.
class Order final : public Arithmetic {
 public:
  double constant(double value) const override;
  void apply(Op, std::int64_t n, double* out, const double* a, const double* b, const double* c) const override;
  double dot(double sum, std::span<const double> a, std::span<const double> b) const override;
  double stored(double value, DType) const override;
  double integer(double value, DType) const override;
  bool is_tf32(double) const override { return true; }

  /// An input: a hash of its own for each seed.
  static double element(std::uint64_t seed);
};

}  // namespace deplo::ir
