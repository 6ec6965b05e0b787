// Arithmetic of floats (specification, "Floating Point"). Results are rounded only once, in any mode: f64 by the
// processor, the other types from a result in double and the sign of its error (`beyond`, round_to).
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/interpret/elementwise.h"
#include "ir/tile_program/interpret/evaluators.h"

namespace deplo::ir::tile_program::exec {
namespace {

int sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// A result in double, and the sign of (exact result - value).
struct Exact {
  double value = 0;
  int beyond = 0;
};

/// Knuth's TwoSum: the error of a sum is representable as a double.
Exact exact_sum(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return {sum, 0};
  const double of_b = sum - a;
  return {sum, sign_of((a - (sum - of_b)) + (b - of_b))};
}
Exact exact_product(double a, double b) {
  const double product = a * b;
  return {product, std::isfinite(product) ? sign_of(std::fma(a, b, -product)) : 0};
}
Exact exact_quotient(double a, double b) {
  const double quotient = a / b;
  if (!std::isfinite(quotient) || b == 0 || std::isinf(b)) return {quotient, 0};
  return {quotient, sign_of(-std::fma(quotient, b, -a)) * sign_of(b)};
}
Exact exact_root(double a) {
  const double root = std::sqrt(a);
  return {root, std::isfinite(root) ? sign_of(-std::fma(root, root, -a)) : 0};
}
/// For factors no wider than f32, the product is exact in double.
Exact exact_fma(double a, double b, double c) { return exact_sum(a * b, c); }

/// Up to three numbers. They are volatile, so that the compiler cannot move a calculation out of a rounding mode.
using Numbers = const volatile double*;
using FunctionOfF64 = double (*)(Numbers);

/// Calculates in f64 with the processor's own rounding mode.
double in_mode(Rounding rounding, FunctionOfF64 f, std::initializer_list<double> numbers) {
  volatile double x[3] = {};
  std::copy(numbers.begin(), numbers.end(), x);
  std::fesetround(rounding == Rounding::zero           ? FE_TOWARDZERO
                  : rounding == Rounding::negative_inf ? FE_DOWNWARD
                  : rounding == Rounding::positive_inf ? FE_UPWARD
                                                       : FE_TONEAREST);
  const volatile double result = f(x);
  std::fesetround(FE_TONEAREST);
  return result;
}

Rounding rounding_of(const Evaluation& now) { return static_cast<Rounding>(now.op.number("rounding_mode")); }
bool flushes(const Evaluation& now) { return now.op.number("flush_to_zero") != 0; }

/// Sets each element of the result to exact(…) of the operands' elements, rounded. In f64 it is of_f64(elements),
/// calculated in the mode. Subnormal operands and results are flushed if the operation says so.
template <class Function, class... Operand>
void set_rounded(Evaluation& now, Function exact, FunctionOfF64 of_f64, const Operand&... operands) {
  const DType e = now.element();
  const Rounding rounding = rounding_of(now);
  const bool flush = flushes(now);
  now.set(each_real(lanes(now), [&](std::size_t i) {
    if (e == DType::f64) return in_mode(rounding, of_f64, {operands.real(i)...});
    const Exact r = exact(flushed(operands.real(i), flush)...);
    return flushed(round_to(r.value, e, rounding, r.beyond), flush);
  }));
}

template <class Function>
void binary(Evaluation& now, Function exact, FunctionOfF64 of_f64) {
  set_rounded(now, exact, of_f64, now.operand(0), now.operand(1));
}

void addf(Evaluation& now) {
  binary(now, exact_sum, [](Numbers x) { return x[0] + x[1]; });
}
void subf(Evaluation& now) {
  const auto exact = [](double a, double b) { return exact_sum(a, -b); };
  binary(now, exact, [](Numbers x) { return x[0] - x[1]; });
}
void mulf(Evaluation& now) {
  binary(now, exact_product, [](Numbers x) { return x[0] * x[1]; });
}
void divf(Evaluation& now) {
  binary(now, exact_quotient, [](Numbers x) { return x[0] / x[1]; });
}

void fma(Evaluation& now) {
  const FunctionOfF64 of_f64 = [](Numbers x) { return std::fma(x[0], x[1], x[2]); };
  set_rounded(now, exact_fma, of_f64, now.operand(0), now.operand(1), now.operand(2));
}

void sqrt_(Evaluation& now) {
  set_rounded(
      now, exact_root, [](Numbers x) { return std::sqrt(x[0]); }, now.operand(0));
}

/// Applies a library function and rounds to nearest. The modes `approx` and `full` would allow larger errors.
template <double (*function)(double)>
void unary(Evaluation& now) {
  const DType e = now.element();
  const TileValue& a = now.operand(0);
  now.set(each_real(lanes(now), [&](std::size_t i) { return round_to(function(a.real(i)), e); }));
}

template <double (*function)(double)>
void unary_flushing(Evaluation& now) {
  const DType e = now.element();
  const bool flush = flushes(now);
  const TileValue& a = now.operand(0);
  now.set(each_real(lanes(now),
                    [&](std::size_t i) { return flushed(round_to(function(flushed(a.real(i), flush)), e), flush); }));
}

template <double (*function)(double, double)>
void binary_function(Evaluation& now) {
  const DType e = now.element();
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_real(lanes(now), [&](std::size_t i) { return round_to(function(a.real(i), b.real(i)), e); }));
}

double rsqrt_(double x) { return 1 / std::sqrt(x); }
double negated(double x) { return -x; }

void fpowi(Evaluation& now) {
  const DType e = now.element();
  const int w = width(now.operand_type(1).element);
  const TileValue &a = now.operand(0), &n = now.operand(1);
  now.set(each_real(lanes(now), [&](std::size_t i) {
    return round_to(std::pow(a.real(i), static_cast<double>(as_signed(n.bit(i), w))), e);
  }));
}

/// IEEE 754-2019 maximum (a NaN propagates) or maximumNumber (a NaN is ignored). +0 is above -0.
double larger(double a, double b, bool propagate) {
  if (std::isnan(a) || std::isnan(b))
    return propagate || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<double>::quiet_NaN()
           : std::isnan(a)                               ? b
                                                         : a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <int sign>
void extreme(Evaluation& now) {
  const bool propagate = now.op.number("propagate_nan") != 0, flush = flushes(now);
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_real(lanes(now), [&](std::size_t i) {
    return sign * larger(sign * flushed(a.real(i), flush), sign * flushed(b.real(i), flush), propagate);
  }));
}

/// If an operand is a NaN, an unordered comparison is true and an ordered one false.
void cmpf(Evaluation& now) {
  const auto predicate = static_cast<Comparison>(now.op.number("comparison_predicate"));
  const bool ordered = now.op.number("comparison_ordering") != 0;
  const TileValue &a = now.operand(0), &b = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) -> std::uint64_t {
    if (std::isnan(a.real(i)) || std::isnan(b.real(i))) return ordered ? 0 : 1;
    return compare(a.real(i), b.real(i), predicate) ? 1 : 0;
  }));
}

}  // namespace

std::vector<Evaluator> float_evaluators() {
  return {{"absf", unary<std::fabs>, true},
          {"addf", addf, true},
          {"atan2", binary_function<std::atan2>, true},
          {"ceil", unary<std::ceil>, true},
          {"cmpf", cmpf, true},
          {"cos", unary<std::cos>, true},
          {"cosh", unary<std::cosh>, true},
          {"divf", divf, true},
          {"exp", unary<std::exp>, true},
          {"exp2", unary_flushing<std::exp2>, true},
          {"floor", unary<std::floor>, true},
          {"fma", fma, true},
          {"fpowi", fpowi, true},
          {"log", unary<std::log>, true},
          {"log2", unary<std::log2>, true},
          {"maxf", extreme<1>, true},
          {"minf", extreme<-1>, true},
          {"mulf", mulf, true},
          {"negf", unary<negated>, true},
          {"pow", binary_function<std::pow>, true},
          {"remf", binary_function<std::fmod>, true},
          {"rsqrt", unary_flushing<rsqrt_>, true},
          {"sin", unary<std::sin>, true},
          {"sinh", unary<std::sinh>, true},
          {"sqrt", sqrt_, true},
          {"subf", subf, true},
          {"tan", unary<std::tan>, true},
          {"tanh", unary<std::tanh>, true}};
}

}  // namespace deplo::ir::tile_program::exec
