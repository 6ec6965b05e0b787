// Tracks a bound on the f32 rounding error of each value of a Loop program, alongside the value in double. Private to
// the interpreter.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "ir/interpret/computation.h"

namespace deplo::ir::exec {

/// The rounding error of a value. `error`: the bound; infinite if rounding decides whether something overflows, NaN if
/// the order of a sum decides it. `terms`: for a sum, the errors of its terms. `squares`: for a sum, the squared errors
/// of its additions. `factors`: for a product, the part of its error that comes from rounding its factors to fewer
/// bits; this part is independent in each term. `part` and `added`: the partial sum to which the next term is added,
/// and its number of terms.
struct Rounding {
  double error = 0, terms = 0, squares = 0, factors = 0;
  double part = 0;
  std::int64_t added = 0;
  // For a product: its value, not limited to f32's range, as in an fma.
  double product = std::numeric_limits<double>::quiet_NaN();
  // For a sum: the total of its terms of each sign, not limited to f32's range.
  double positive = 0, negative = 0;
};

class Roundings {
 public:
  /// Starts tracking rounding errors. The program must have one lane, and its constants must be in place.
  void start(const Lanes&);
  bool kept() const { return !of_.empty(); }
  Rounding& operator[](std::size_t value) { return of_[value]; }
  double error(std::size_t value) const { return kept() ? of_[value].error : 0; }
  void compute(const Computation&, Lanes&);  // computes both the value and its rounding error

 private:
  std::vector<Rounding> of_;  // one entry per value; empty if errors are not tracked
};

}  // namespace deplo::ir::exec
