// Exact arithmetic. Two programs are equal as formulas, up to rounding, if their floats are equal in this arithmetic
// (docs/proofs.md).
#pragma once
#include <cstdint>
#include <map>

#include "ir/interpret/arithmetic/arithmetic.h"

namespace deplo::ir {

struct Program;

/// Floats are pairs of the fields Z_p x Z_q, p = 2q + 1 (Wu et al., Mirage, OSDI 2025, section 5). Sums, products and
/// quotients are exact. exp(x) = (g^x.q, 1), where g has order q in Z_p, is a homomorphism: exp(x + y) = exp(x) exp(y).
/// Other functions are hashes of their operands. Rounding does nothing.
///
/// A finite number is represented by its residues, so arithmetic on constants stays exact. A number that is the double
/// nearest to a fraction of small integers represents that fraction. A pair is encoded as the double with the bits
/// |x.p| * 2^31 + x.q and the sign of x.p, taken from -q..q. The absolute value of this double is below 2, and whole
/// numbers keep their order. Numbers from 2^64 on stay themselves, so that they remain below or above all pairs.
class Ring final : public Arithmetic {
 public:
  /// How sigmoid(x) is represented: as a hash, or as 1 / (1 + exp(-x)), which the emitter writes. In the expanded form,
  /// exp(sigmoid(x)) does not depend on x.
  enum class Sigmoid : std::uint8_t { hashed, expanded };
  /// `meaning`: the program whose schedules are proved. A schedule multiplies the program's factors by log2(e) and
  /// rounds the products; the constructor notes these products.
  explicit Ring(const Program& meaning, Sigmoid sigmoid = Sigmoid::hashed);

  double constant(double value) const override;
  void apply(Op, std::int64_t n, double* out, const double* a, const double* b, const double* c) const override;
  double dot(double sum, std::span<const double> a, std::span<const double> b) const override;
  double stored(double value, DType) const override { return value; }
  double integer(double value, DType) const override;
  bool is_tf32(double) const override { return true; }

  /// Returns a random element for `seed`; all elements have about the same probability.
  static double element(std::uint64_t seed);
  /// True if the constant is a fraction of small integers. Products and quotients of such constants may then be rounded
  /// before they are multiplied.
  static bool is_fraction(double constant);
  /// Returns the canonical representation of a float: equal floats have equal bits.
  double canonical(double value) const;

 private:
  Sigmoid sigmoid_;
  std::map<double, double> powers_;  // maps a factor times log2(e), rounded to double, to the factor
};

}  // namespace deplo::ir
