// Private to the interpreter: how far rounding in f32 may take each value of a Loop program, beside the value in double.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/interpret/arithmetic.h"

namespace deplo::ir::exec {

/// How far rounding may have taken a value. Of a sum: the terms' own errors, and the squares of those of adding; of a
/// product the part that is of factors rounded to fewer bits, which is independent in each term. `part` and `added`: the
/// partial sum that the next term is added to, and the number of its terms.
struct Rounding {
  double error = 0, terms = 0, squares = 0, factors = 0;
  double part = 0;
  std::int64_t added = 0;
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
