// The arithmetic in which an interpreted program computes its floats: real numbers, or another one that proves more.
#pragma once
#include <cstdint>
#include <span>

#include "ir/op.h"
#include "ir/types/float16.h"
#include "ir/types/integers.h"
#include "ir/types/types.h"

namespace deplo::ir {

/// Operations on floats. A float is kept in a double, but only the arithmetic knows how to read it. In every
/// arithmetic, 0 is represented by 0, infinities and NaN by themselves, and `<`, `==` and maxima can be computed on the
/// doubles. Integers and booleans are always plain numbers. Thread-safe.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;
  /// Returns the float that represents this number.
  virtual double constant(double value) const = 0;
  /// Computes out[i] = op(a[i], b[i], c[i]) for n elements, using only as many arguments as the operation has. The
  /// lanes_ operations are not supported. `out` may be one of the arguments.
  virtual void apply(Op, std::int64_t n, double* out, const double* a, const double* b, const double* c) const = 0;
  /// Returns sum + a[0] * b[0] + a[1] * b[1] + …, added as one matrix instruction adds them.
  virtual double dot(double sum, std::span<const double> a, std::span<const double> b) const = 0;
  /// Returns the float as it is after being stored as f16 or bf16.
  virtual double stored(double value, DType) const = 0;
  /// Converts the float to an integer of this type.
  virtual double integer(double value, DType) const = 0;
  /// Returns whether two f32 are equal.
  virtual bool equal(double a, double b) const { return a == b; }
  /// True if the float has no more digits than a tf32.
  virtual bool is_tf32(double value) const = 0;
};

/// Returns the value as it is after being stored as an element of this type.
inline double as_stored(const Arithmetic& arithmetic, double value, DType dtype) {
  if (is_float16(dtype)) return arithmetic.stored(value, dtype);
  return is_narrow_integer(dtype) ? to_integer(value, DType::i32, dtype) : value;
}

/// Real numbers, in double with the range of f32. They define the meaning of a program.
const Arithmetic& reals();

}  // namespace deplo::ir
