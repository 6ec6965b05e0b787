// Reductions and what is made of them.
#include <algorithm>
#include <numeric>

#include "rules/decompose/families.h"

namespace deplo::rules {

using ir::DType;
using ir::Op;
using ir::Shape;

namespace {

// None means all.
Dims dims_of(const Call& call) {
  Dims dims = call.node.integers("dims");
  if (!dims.empty()) return dims;
  dims.resize(call.arg(0).type.shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

// The reduced dimensions have extent 1 so far.
int finish(Emitter& e, const Call& call, int x) {
  return call.node.flag("keepdim") ? x : e.drop(x, dims_of(call), "dropped");
}

double count(const Emitter& e, int x, const Dims& dims) {
  double n = 1;
  for (const std::int64_t dim : dims) n *= static_cast<double>(e.extent(x, dim));
  return n;
}

int divided_sum(Emitter& e, int x, const Dims& dims, double divisor) {
  const int sum = e.reduce(Op::add, x, dims, "mean_sum");
  return e.elementwise(Op::divide, {sum, e.scalar(divisor, e.dtype(x), "mean_count")}, "mean");
}

int mean_over(Emitter& e, int x, const Dims& dims) { return divided_sum(e, x, dims, count(e, x, dims)); }

// a op b, where b has extent 1 in some dimensions.
int with(Emitter& e, Op op, int a, int b, std::string_view suffix) {
  return e.elementwise(op, {a, e.broadcast(b, Shape(e.shape(a)))}, suffix);
}

int centred(Emitter& e, int x, const Dims& dims) { return with(e, Op::subtract, x, mean_over(e, x, dims), "centred"); }

// 1 / sqrt(mean of squares + eps)
int inverse_root(Emitter& e, const Call& call, int x, const Dims& dims) {
  const int square = e.elementwise(Op::multiply, {x, x}, "sq");
  const int mean_square = mean_over(e, square, dims);
  const int eps = e.scalar(call.node.number("eps"), call.dtype(), "eps");
  return e.elementwise(Op::rsqrt, {e.elementwise(Op::add, {mean_square, eps}, "add_eps")}, "rsq");
}

// The last `dims` dimensions of the argument.
Dims normalised_dims(const Call& call) {
  Dims dims(static_cast<std::size_t>(call.node.integer("dims")));
  std::iota(dims.begin(), dims.end(), static_cast<std::int64_t>(call.shape().size() - dims.size()));
  return dims;
}

// x * weight + bias, as far as the call has them.
int affine(Emitter& e, const Call& call, int x) {
  if (call.args.size() > 1) x = with(e, Op::multiply, x, e.convert(call.args[1], call.dtype()), "scaled");
  if (call.args.size() > 2) x = with(e, Op::add, x, e.convert(call.args[2], call.dtype()), "shifted");
  return x;
}

}  // namespace

int reduction(Emitter& e, const Call& call) {
  const DType t = call.dtype() == DType::boolean ? DType::i32 : call.dtype();
  const int reduced = e.reduce(call.op, e.convert(call.args[0], t), dims_of(call), "reduce");
  return finish(e, call, e.convert(reduced, call.dtype()));
}

int mean(Emitter& e, const Call& call) {
  return finish(e, call, mean_over(e, e.convert(call.args[0], call.dtype()), dims_of(call)));
}

// In two passes: the mean first, then the squares of what is left.
int var(Emitter& e, const Call& call) {
  const Dims dims = dims_of(call);
  const int x = e.convert(call.args[0], call.dtype());
  const int rest = centred(e, x, dims);
  const double degrees = count(e, x, dims) - static_cast<double>(call.node.integer("correction"));
  const int square = e.elementwise(Op::multiply, {rest, rest}, "sq");
  return finish(e, call, divided_sum(e, square, dims, std::max(degrees, 0.0)));
}

namespace {

Dims over(const Emitter& e, int x, std::int64_t dim) { return e.rank(x) == 0 ? Dims{} : Dims{dim}; }

int less_maximum(Emitter& e, int x, const Dims& dims) {
  return with(e, Op::subtract, x, e.reduce(Op::maximum, x, dims, "max"), "shifted");
}

}  // namespace

int softmax_over(Emitter& e, int x, std::int64_t dim) {
  const Dims dims = over(e, x, dim);
  const int exp = e.elementwise(Op::exp, {less_maximum(e, x, dims)}, "exp");
  return with(e, Op::divide, exp, e.reduce(Op::add, exp, dims, "sum"), "softmax");
}

int softmax(Emitter& e, const Call& call) {
  return softmax_over(e, e.convert(call.args[0], call.dtype()), call.node.integer("dim"));
}

// x - max - log(sum(exp(x - max)))
int log_softmax(Emitter& e, const Call& call) {
  const int x = e.convert(call.args[0], call.dtype());
  const Dims dims = over(e, x, call.node.integer("dim"));
  const int shifted = less_maximum(e, x, dims);
  const int sum = e.reduce(Op::add, e.elementwise(Op::exp, {shifted}, "exp"), dims, "sum");
  return with(e, Op::subtract, shifted, e.elementwise(Op::log, {sum}, "log"), "ew");
}

int layer_norm(Emitter& e, const Call& call) {
  const Dims dims = normalised_dims(call);
  const int rest = centred(e, e.convert(call.args[0], call.dtype()), dims);
  return affine(e, call, with(e, Op::multiply, rest, inverse_root(e, call, rest, dims), "norm"));
}

int rms_norm(Emitter& e, const Call& call) {
  const int x = e.convert(call.args[0], call.dtype());
  return affine(e, call, with(e, Op::multiply, x, inverse_root(e, call, x, normalised_dims(call)), "norm"));
}

}  // namespace deplo::rules
