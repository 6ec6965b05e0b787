// Private to the interpreter: how far rounding in f32 may take each value of a Loop program, beside the value in double.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "ir/interpret/arithmetic.h"

namespace deplo::ir::exec {

/// How far rounding may have taken a value. Of a sum: the terms' own errors, and the squares of those of adding; of a
/// product the part that is of factors rounded to fewer bits, which is independent in each term. `part` and `added`: the
/// partial sum that the next term is added to, and the number of its terms. The error is infinite where rounding decides
/// whether something overflows, and NaN where the order of a sum decides it.
struct Rounding {
  double error = 0, terms = 0, squares = 0, factors = 0;
  double part = 0;
  std::int64_t added = 0;
  double product = std::numeric_limits<double>::quiet_NaN();  // of a product: it without the range of f32, as in an fma
  double positive = 0, negative = 0;                          // of a sum: its terms of either sign, likewise
};

class Roundings {
 public:
  /// From here on they are kept. The program has one lane, and its constants are in place.
  void start(const Lanes&);
  bool kept() const { return !of_.empty(); }
  Rounding& operator[](std::size_t value) { return of_[value]; }
  double error(std::size_t value) const { return kept() ? of_[value].error : 0; }
  void compute(const Computation&, Lanes&);  // the value as well

 private:
  std::vector<Rounding> of_;  // each value; empty where they are not kept
};

}  // namespace deplo::ir::exec
