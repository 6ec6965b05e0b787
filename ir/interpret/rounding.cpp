// Bounds how far rounding in f32 may move each value of a Loop program from its value in double, by running error
// analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.3). An operation inherits the
// errors of its operands, as far as they move its result, and adds its own rounding. The roundings of the additions of
// a long sum count as independent, so their squares are added (Higham and Mary, A new approach to probabilistic
// rounding error analysis, SIAM J. Sci. Comput. 41, 2019). The same holds for roundings of factors to tf32 or 16 bits.
// All other errors may be correlated, so they are added directly. A sum of more than `longest_chain` terms is a sum of
// partial sums, as in every kernel: an addition to a partial sum rounds the partial sum, not the total. A scan has no
// partial sums.
#include "ir/interpret/rounding.h"

#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "core/error.h"
#include "ir/longest_chain.h"
#include "ir/types/float16.h"

namespace deplo::ir::exec {
namespace {

constexpr double unit = 0x1p-24;  // unit roundoff of f32

/// Returns the maximum error of one operation that OpenCL C allows, in units of roundoff (7.4, relative error as ULPs;
/// one ULP is two units).
double units(Op op) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::fma:
      return 1;
    case Op::exp:
    case Op::exp2:
    case Op::log:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::divide:
    case Op::reciprocal:
    case Op::sin:
    case Op::cos:
      return 8;
    case Op::tanh:
    case Op::sigmoid:
      return 12;
    case Op::power:
    case Op::erf:
      return 32;
    default:
      return 0;  // exact
  }
}

/// Returns how far operands with these errors may move the result.
template <class F>
double spread(std::span<double> args, std::span<const double> errors, double result, F apply_op) {
  double sum = 0;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (errors[i] == 0) continue;
    const double exact = args[i];
    double max_change = -1;
    for (const double off : {exact - errors[i], exact + errors[i]}) {
      args[i] = off;
      const double moved = std::abs(apply_op() - result);
      if (!std::isnan(moved)) max_change = std::max(max_change, moved);
    }
    args[i] = exact;
    if (max_change < 0) return std::numeric_limits<double>::infinity();  // no digit of the result is known
    sum += max_change;
  }
  return sum;
}

constexpr double largest = std::numeric_limits<float>::max(), infinity = std::numeric_limits<double>::infinity();

/// True if the operation never returns NaN for operands that are not NaN.
bool keeps_number(Op op) {
  return op == Op::copy || op == Op::negative || op == Op::exp || op == Op::exp2 || op == Op::tanh ||
         op == Op::sigmoid || op == Op::relu || op == Op::erf || op == Op::absolute || op == Op::maximum ||
         op == Op::minimum;
}

/// Returns the error of a result whose operands include unknown values, or 0 if the errors of all operands are finite.
double unknown(Op op, std::span<const double> errors) {
  double error = 0;
  for (const double e : errors)
    if (!std::isfinite(e)) error = std::isnan(e) || !keeps_number(op) ? std::nan("") : error + infinity;
  return gives_truth(op) && error != 0 ? 1 : error;
}

/// True if an operation on finite operands overflows by so little that rounding of the operands decides it.
template <class F>
bool barely_overflows(std::span<double> args, std::span<const double> errors, F apply_op) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const double exact = args[i];
    bool finite = false;
    // The operation's own rounding, expressed as an error of the operand.
    const double own = 8 * unit * std::abs(exact);
    for (const double off : {exact - errors[i] - own, exact + errors[i] + own}) {
      args[i] = off;
      finite |= std::isfinite(apply_op());
    }
    args[i] = exact;
    if (finite) return true;
  }
  return false;
}

/// True if the result is 0 or -0, depending on the device.
bool is_either_zero(Op op, std::span<const double> args) {
  if (op == Op::relu) return args[0] == 0 && std::signbit(args[0]);
  return (op == Op::maximum || op == Op::minimum) && args[0] == 0 && args[1] == 0 &&
         std::signbit(args[0]) != std::signbit(args[1]);
}

/// True if some order of the additions overflows, or would overflow if the products of its terms were inside fmas.
bool overflows(const Rounding& sum) { return sum.positive > largest || -sum.negative > largest; }

/// Returns one rounding of the value. A subnormal number is rounded to a multiple of the smallest subnormal.
double own_unit_of(double value) { return std::max(unit * std::abs(value), value == 0 ? 0 : 0x1p-150); }

/// Returns the error of a sum that overflows in some orders but not in others. Returns 0 if all orders overflow, or
/// none.
double overflow_of(const Rounding& sum) {
  if (sum.positive > largest && -sum.negative > largest) return std::nan("");
  return overflows(sum) && std::abs(sum.positive + sum.negative) <= largest ? infinity : 0;
}

/// Adds a term to the total of the terms with its sign.
void count_term(Rounding& sum, const Rounding& term, double value, double error) {
  const double exact = std::isnan(term.product) ? value : term.product;
  if (std::isfinite(exact)) (exact < 0 ? sum.negative : sum.positive) += exact;
  if (!std::isfinite(error)) sum.terms = std::nan("");  // sums of NaN stay NaN
}

/// Updates the error of a sum by one more term. `own`: the rounding of a result as large as the sum.
void add_term(Rounding& sum, const Rounding& term, const Computation& c, double value, double error, double own) {
  const double factors = term.factors;
  sum.terms += error - factors;
  sum.part += value;
  const double rounded = c.dtype == DType::f32 ? own_unit_of(sum.part) : 0;
  sum.squares += rounded * rounded + factors * factors;
  if (++sum.added == longest_chain && !c.scans) {
    sum.squares += own * own;  // rounding when the partial sum is added to the total
    sum.part = 0;
    sum.added = 0;
  }
  sum.error = sum.terms + std::sqrt(sum.squares);
}

void scale_sum(Rounding& sum, double before, double factor, double error, double own) {
  factor = std::abs(factor);
  if (factor == 1) return;  // the maximum did not change; exp(0) is exact
  sum.terms = sum.terms * factor + std::abs(before) * error + own;
  sum.squares *= factor * factor;
  sum.part *= factor;
  sum.positive *= factor;
  sum.negative *= factor;
  sum.error = sum.terms + std::sqrt(sum.squares);
}

/// Returns the part of the result's error that comes from the operands' errors.
template <class F>
double carried_error(Op op, std::span<double> args, std::span<const double> errors, double result, F apply_op) {
  if (op == Op::add || op == Op::subtract) return errors[0] + errors[1];
  if (op == Op::multiply) return std::abs(args[0]) * errors[1] + std::abs(args[1]) * errors[0];
  return spread(args, errors, result, apply_op);
}

}  // namespace

// The error of a constant is its rounding to f32. Elements of inputs have no error.
void Roundings::start(const Lanes& lanes) {
  CHECK(lanes.count == 1);
  of_.resize(lanes.values.size());
  for (std::size_t i = 0; i < of_.size(); ++i) {
    const double value = lanes.values[i], error = std::abs(value - static_cast<double>(static_cast<float>(value)));
    of_[i] = {std::isfinite(error) ? error : 0};
  }
}

void Roundings::compute(const Computation& c, Lanes& lanes) {
  std::array<double, 3> args = {}, errors = {};
  std::size_t count = 0;
  const auto take = [&](std::size_t value) {
    args[count] = lanes.values[value];
    errors[count++] = of_[value].error;
  };
  if (c.accumulates) take(c.dst);
  for (const Operand& arg : c.args) take(arg.value);
  const auto apply_op = [&] { return result_of(c, std::span<const double>(args).first(count)); };
  const double result = apply_op();
  const auto arguments = std::span(args).first(count);
  const auto argument_errors = std::span<const double>(errors).first(count);
  Rounding& rounding = of_[c.dst];
  lanes.values[c.dst] = result;
  const bool sums = c.accumulates && c.op == Op::add;
  if (sums) {
    count_term(rounding, of_[c.args.front().value], args[1], errors[1]);
    if (std::isnan(rounding.terms) || overflows(rounding) || !std::isfinite(result)) {
      rounding.error = std::isnan(rounding.terms) ? rounding.terms : overflow_of(rounding);
      return;
    }
  } else if (const double error = unknown(c.op, argument_errors); error != 0 && c.op != Op::select) {
    rounding = {error};
    return;
  }
  if (!std::isfinite(result)) {  // infinities and NaN are compared exactly
    rounding.error = barely_overflows(arguments, argument_errors, apply_op) ? infinity : 0;
    return;
  }
  const double own = c.dtype == DType::f32 ? units(c.op) * own_unit_of(result) : 0;
  if (sums) return add_term(rounding, of_[c.args.front().value], c, args[1], errors[1], own);
  if (c.scales) return scale_sum(rounding, args[0], args[1], errors[1], own);
  const double carried = carried_error(c.op, arguments, argument_errors, result, apply_op);
  const double factors = c.factors * std::abs(result);
  const bool either_zero = is_either_zero(c.op, arguments);
  rounding = {carried + own + factors + (either_zero ? 0x1p-149 : 0), 0, 0, factors};
  if (c.op == Op::multiply && !c.accumulates) rounding.product = args[0] * args[1];
  if (c.dtype == DType::f32 && std::abs(result) + rounding.error > largest) rounding.error = infinity;
}

}  // namespace deplo::ir::exec
