// Arithmetic over the lanes of a block: index expressions, operations, accumulators.
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "ir/interpret/machine.h"
#include "ir/simplify/simplify_impl.h"

namespace deplo::ir::exec {
namespace {

// Wraps: an index that overflows is out of range or harmless, never undefined.
std::int64_t multiply_add(std::int64_t sum, std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                   static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// A lane that is not active may hold anything.
std::int64_t to_index(double value) {
  return value >= -1e18 && value <= 1e18 ? static_cast<std::int64_t>(value) : INT64_MIN / 2;
}

template <class F>
void each(std::int64_t n, double* out, F f) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = f(i);
}

}  // namespace

std::int64_t Machine::scalar(const Index& index) const {
  std::int64_t sum = index.constant;
  for (const auto& [slot, coefficient] : index.uniform)
    sum = multiply_add(sum, coefficient, variables[static_cast<std::size_t>(slot)].scalar);
  for (const Atom& a : index.atoms)
    if (!a.varies) sum = multiply_add(sum, a.coefficient, fold(a.op, scalar(a.lhs), scalar(a.rhs)));
  return sum;
}

std::int64_t Machine::at_lane(const Index& index, int lane) const {
  if (!index.varies) return scalar(index);
  const auto l = static_cast<std::size_t>(lane);
  std::int64_t sum = index.constant;
  for (const auto& [slot, coefficient] : index.uniform)
    sum = multiply_add(sum, coefficient, variables[static_cast<std::size_t>(slot)].scalar);
  for (const auto& [slot, coefficient] : index.varying)
    sum = multiply_add(sum, coefficient, variables[static_cast<std::size_t>(slot)].lanes[l]);
  for (const auto& [value, coefficient] : index.values)
    sum = multiply_add(sum, coefficient, to_index(values[value + l]));
  for (const Atom& a : index.atoms)
    sum = multiply_add(sum, a.coefficient, fold(a.op, at_lane(a.lhs, lane), at_lane(a.rhs, lane)));
  return sum;
}

void Machine::vector(Index& index, std::int64_t* out) const {
  const auto n = static_cast<std::size_t>(lanes);
  std::fill(out, out + n, scalar(index));
  for (const auto& [slot, coefficient] : index.varying) {
    const std::int64_t* v = variables[static_cast<std::size_t>(slot)].lanes.data();
    for (std::size_t l = 0; l < n; ++l) out[l] = multiply_add(out[l], coefficient, v[l]);
  }
  for (const auto& [value, coefficient] : index.values)
    for (std::size_t l = 0; l < n; ++l) out[l] = multiply_add(out[l], coefficient, to_index(values[value + l]));
  for (Atom& a : index.atoms) {
    if (!a.varies) continue;
    vector(a.lhs, a.left.data());
    vector(a.rhs, a.right.data());
    for (std::size_t l = 0; l < n; ++l) out[l] = multiply_add(out[l], a.coefficient, fold(a.op, a.left[l], a.right[l]));
  }
}

void apply_lanes(Op op, std::int64_t n, double* out, const double* a, const double* b, const double* c) {
  switch (op) {  // the operations that inner loops are made of; the others cost more than a call anyway
    case Op::copy:
      return each(n, out, [=](auto i) { return a[i]; });
    case Op::add:
      return each(n, out, [=](auto i) { return a[i] + b[i]; });
    case Op::subtract:
      return each(n, out, [=](auto i) { return a[i] - b[i]; });
    case Op::multiply:
      return each(n, out, [=](auto i) { return a[i] * b[i]; });
    case Op::divide:
      return each(n, out, [=](auto i) { return a[i] / b[i]; });
    case Op::maximum:
      return each(n, out, [=](auto i) { return a[i] > b[i] || std::isnan(a[i]) ? a[i] : b[i]; });
    case Op::fma:
      return each(n, out, [=](auto i) { return a[i] * b[i] + c[i]; });
    default:
      break;
  }
  const auto count = static_cast<std::size_t>(arity(op));
  each(n, out, [=](auto i) {
    const double args[3] = {a[i], count > 1 ? b[i] : 0, count > 2 ? c[i] : 0};
    return apply(op, std::span(args, count));
  });
}

namespace {

Op vertical(Op op) {
  for (const Op reduce : {Op::add, Op::multiply, Op::maximum, Op::minimum})
    if (horizontal(reduce) == op) return reduce;
  check_failed("a lanes_ operation reduces", __FILE__, __LINE__);
}

void convert(DType to, int lanes, double* out) {
  if (to == DType::i32) each(lanes, out, [=](auto i) { return std::trunc(out[i]); });
  if (to == DType::boolean) each(lanes, out, [=](auto i) { return out[i] != 0 ? 1 : 0; });
}

void keep_active(int lanes, double* out, const double* result, Mask mask) {
  for (int l = 0; l < lanes; ++l)
    if (mask[l] != 0) out[l] = result[l];
}

}  // namespace

void Machine::evaluate(IndexCode& c) {
  const bool truth = c.dtype == DType::boolean;
  for (std::size_t w = 0; w < c.lanes.size(); ++w) {
    double* out = element(c.dst, static_cast<int>(w));
    vector(c.lanes[w], index_.data());
    for (std::size_t l = 0; l < index_.size(); ++l)
      out[l] = truth ? (index_[l] != 0 ? 1 : 0) : static_cast<double>(index_[l]);
  }
}

void Machine::compute(const ComputeCode& c, Mask mask) {
  if (rounds) return compute_rounded(c);
  if (c.op >= Op::lanes_add) {
    const Op op = vertical(c.op);
    double* out = element(c.dst, 0);
    std::copy_n(element(c.args[0].value, 0), lanes, out);
    for (int w = 1; w < c.args[0].lanes; ++w) apply_lanes(op, lanes, out, out, element(c.args[0].value, w), nullptr);
    return;
  }
  for (int w = 0; w < c.lanes; ++w) {
    const double* args[4] = {};
    std::size_t count = 0;
    double* out = element(c.dst, w);
    if (c.accumulates && c.op != Op::fma) args[count++] = out;
    for (const Operand& arg : c.args) args[count++] = element(arg.value, arg.lanes == 1 ? 0 : w);
    if (c.accumulates && c.op == Op::fma) args[count++] = out;
    // A definition is visible under its own mask only; an accumulator keeps its value in the lanes that are not active.
    const bool masked = c.accumulates && mask != nullptr;
    apply_lanes(c.op, lanes, masked ? result_.data() : out, args[0], args[1], args[2]);
    if (c.op == Op::copy) convert(c.dtype, lanes, out);
    if (masked) keep_active(lanes, out, result_.data(), mask);
  }
}

void Machine::init(const InitCode& c, Mask mask) {
  if (rounds) roundings_[c.dst] = {};
  for (int w = 0; w < c.lanes; ++w) {
    double* out = element(c.dst, w);
    for (int l = 0; l < lanes; ++l)
      if (mask == nullptr || mask[l] != 0) out[l] = c.value;
  }
}

void Machine::combine(const Instruction& at, const CombineCode& c, Mask mask) {
  if (c.across_threads) barrier(at, mask);
  double* acc = element(c.acc, 0);
  std::fill(result_.begin(), result_.end(), *neutral(c.op));
  for (std::size_t l = 0; l < result_.size(); ++l) {
    double& total = result_[static_cast<std::size_t>(c.representative[l])];
    apply_lanes(c.op, 1, &total, &total, acc + l, nullptr);
  }
  for (std::size_t l = 0; l < result_.size(); ++l)
    if (mask == nullptr || mask[l] != 0) acc[l] = result_[static_cast<std::size_t>(c.representative[l])];
}

// A butterfly: in each step a thread takes the value of the one whose number differs in one bit.
void Machine::shuffle(const Instruction& at, const ShuffleCode& c, Mask mask) {
  converge(at, mask);
  double* out = element(c.dst, 0);
  std::copy_n(element(c.value, 0), lanes, out);
  for (int step = c.length / 2; step > 0; step /= 2) {
    for (int l = 0; l < lanes; ++l) result_[static_cast<std::size_t>(l)] = out[l ^ step];
    apply_lanes(c.op, lanes, out, out, result_.data(), nullptr);
  }
}

}  // namespace deplo::ir::exec
