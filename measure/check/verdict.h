// Whether an element of an output is right: one judgement for `tune`, `run`, `run --bench`, reports and the library.
#pragma once
#include "ir/types.h"

namespace deplo::measure {

/// What an element must be.
struct Expected {
  double value = 0;
  /// How far rounding may take it. Infinite: it may be any number and an infinity, because rounding decides whether
  /// something overflows. NaN: it may be NaN as well, because the order of a sum decides that.
  double rounding = 0;
};

/// Whether a number of `dtype` is expected, rather than NaN, an infinity, or a number that is beyond the range of
/// `dtype`.
bool is_finite(const Expected&, ir::DType);

/// The scale of an output: the root mean square of its finite elements, or 1 if all of these are 0. Unlike the maximum
/// it does not grow with the number of elements, and one large element does not hide errors in all others.
class Scale {
 public:
  void add(const Expected&, ir::DType);
  double value() const;

 private:
  double squares_ = 0, count_ = 0;
};

/// How far `found` is from what is expected, relative to the scale of the output. Errors that rounding explains are at
/// most default_tolerance. 0: it is the expected infinity or NaN, or cannot be known. Infinite: it is wrong under any
/// tolerance: a NaN or an infinity in place of a number, a number in place of those, or another integer or truth value
/// than expected that rounding does not explain. A 16-bit element is compared with the numbers that are rounded to it.
double error_of(double found, const Expected&, double scale, ir::DType);

/// The scale that error_of divides by: the output's, or more if rounding explains more.
double scale_at(const Expected&, double scale);

}  // namespace deplo::measure
