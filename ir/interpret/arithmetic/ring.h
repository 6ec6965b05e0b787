// Exact arithmetic: two programs whose floats agree in it are equal as formulas, up to rounding (docs/proofs.md).
#pragma once
#include <cstdint>
#include <map>

#include "ir/interpret/arithmetic/arithmetic.h"

namespace deplo::ir {

struct Program;

/// Floats are pairs of the fields Z_p x Z_q, p = 2q + 1 (Wu et al., Mirage, OSDI 2025, section 5). Sums, products and
/// quotients are exact. exp(x) = (g^x.q, 1), where g has the order q in Z_p, is a homomorphism: exp(x + y) = exp(x)
/// exp(y). Other functions are hashes of their operands. Rounding does nothing.
///
/// A finite number becomes its residues, so constants keep their algebra; the number nearest to a fraction of small
/// numbers is that fraction. A pair is the double with the bits
/// |x.p| * 2^31 + x.q and the sign of x.p in -q..q: less than 2 in size, and whole numbers are in order. Numbers from
/// 2^64 on stay themselves, so that they remain below or above all others.
class Ring final : public Arithmetic {
 public:
  /// Whether sigmoid(x) is a hash, or 1 / (1 + exp(-x)), as the emitter writes it. An exponential of the latter does
  /// not depend on x.
  enum class Sigmoid : std::uint8_t { hashed, expanded };
  /// `meaning`: the program that is proved. A schedule multiplies its factors by log2(e), and rounds the product.
  explicit Ring(const Program& meaning, Sigmoid sigmoid = Sigmoid::hashed);

  double constant(double value) const override;
  void apply(Op, std::int64_t n, double* out, const double* a, const double* b, const double* c) const override;
  double dot(double sum, std::span<const double> a, std::span<const double> b) const override;
  double stored(double value, DType) const override { return value; }
  double integer(double value, DType) const override;
  bool is_tf32(double) const override { return true; }

  /// An element that `seed` draws, each with about the same probability.
  static double element(std::uint64_t seed);
  /// Whether the constant is a fraction of small numbers, so that products and quotients of such constants may be
  /// rounded before they are multiplied.
  static bool is_fraction(double constant);
  /// The one representation of a float, in which equal floats have equal bits.
  double canonical(double value) const;

 private:
  Sigmoid sigmoid_;
  std::map<double, double> powers_;  // a factor times log2(e), rounded to double → the factor
};

}  // namespace deplo::ir
