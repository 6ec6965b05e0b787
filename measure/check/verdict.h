// Decides if an element of an output is right, for `tune`, `run`, `bench`, reports and the library.
#pragma once
#include "ir/types/types.h"

namespace deplo::measure {

/// The largest |found - expected| / scale that counts as right. In f32, sums of K products of uniform(-1, 1) numbers,
/// added in any order, have an error of about 2^-24 * sqrt(K) of their root mean square: 8e-6 at K = 18944. A missing
/// or doubled term gives sqrt(1 / K): 7e-3. Operands rounded to TF32 give about 4e-4 on average, and 1e-3 in the worst
/// of 64.
inline constexpr double default_tolerance = 1e-4;

/// The tolerance for operands rounded to TF32: ten times their mean error. It is too large to find a wrong index in one
/// of deplo's kernels, but shows whether a library computes this product.
inline constexpr double tf32_tolerance = 5e-3;

/// The expected value of an element.
struct Expected {
  double value = 0;
  /// The largest difference that rounding explains. Infinity: any number or infinity is right, because rounding decides
  /// if something overflows. NaN: NaN is right, too, because it depends on the order of a sum.
  double rounding = 0;
};

/// True if the expected value is a finite number of `dtype`, not NaN, an infinity, or a number beyond the range of
/// `dtype`.
bool is_finite(const Expected&, ir::DType);

/// The scale of an output: the root mean square of its finite elements, or 1 if all of them are 0. Unlike the maximum,
/// it does not grow with the number of elements, and one large element does not hide the errors of all others.
class Scale {
 public:
  void add(const Expected&, ir::DType);
  double value() const;

 private:
  double squares_ = 0, count_ = 0;
};

/// Returns the error of `found`, relative to the output's scale. Errors that rounding explains are at most
/// default_tolerance. The result is 0 if `found` is the expected infinity or NaN, or if the right value cannot be
/// known. It is infinite if `found` is wrong under any tolerance: a NaN or an infinity instead of a number, a number
/// instead of those, or a wrong integer or truth value that rounding does not explain. A 16-bit element is compared
/// with all numbers that are rounded to it.
double error_of(double found, const Expected&, double scale, ir::DType);

/// Returns the scale by which error_of() divides: the output's, or a larger one if rounding explains larger errors.
double scale_at(const Expected&, double scale);

}  // namespace deplo::measure
