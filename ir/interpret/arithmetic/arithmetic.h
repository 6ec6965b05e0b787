// What the floats of a program are while it is interpreted: real numbers, or something that proves more than they do.
#pragma once
#include <cstdint>
#include <span>

#include "ir/op.h"
#include "ir/types/types.h"

namespace deplo::ir {

/// Operations on floats. A float is kept in a double, but only the arithmetic knows how to read it. In every arithmetic
/// 0 is 0, infinities and NaN are themselves, and `<`, `==` and maxima of two floats are those of their doubles.
/// Integers and truth values are always their numbers. Thread-safe.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;
  /// The float that is this number.
  virtual double constant(double value) const = 0;
  /// out[i] = op(a[i], b[i], c[i]) for n elements, with as many arguments as the operation takes. Not for the lanes_
  /// operations. `out` may be one of the arguments.
  virtual void apply(Op, std::int64_t n, double* out, const double* a, const double* b, const double* c) const = 0;
  /// sum + a[0] * b[0] + a[1] * b[1] + …, as one matrix instruction adds them.
  virtual double dot(double sum, std::span<const double> a, std::span<const double> b) const = 0;
  /// The float after it is stored as an f16 or bf16.
  virtual double stored(double value, DType) const = 0;
  /// The float as an integer of this type.
  virtual double integer(double value, DType) const = 0;
  /// Whether the float has no more digits than a tf32.
  virtual bool is_tf32(double value) const = 0;
};

/// The numbers, in double with the range of f32: the meaning of a program.
const Arithmetic& reals();

}  // namespace deplo::ir
