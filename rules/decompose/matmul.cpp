// Products of matrices: a product at every (m, k, n), then a sum over k.
#include "rules/decompose/families.h"

#include <limits>

namespace deplo::rules {

using ir::DType;
using ir::Expr;
using ir::Op;
using ir::Shape;
using ir::tensor::coordinate;

namespace {

// The space (batch…, m, k, n) of a product, and where its operands lie in it.
struct Space {
  Shape extents;
  std::size_t batch;  // how many dimensions

  Expr at(std::size_t dimension) const { return extents[dimension] == 1 ? Expr(0) : coordinate(dimension); }
  Expr m() const { return at(batch); }
  Expr k() const { return at(batch + 1); }
  Expr n() const { return at(batch + 2); }
};

// An operand of shape (batch…, rest…): its batch dimensions are the last ones of the space's, broadcast.
int spread(Emitter& e, int x, const Space& space, const Coordinates& rest, std::string_view suffix) {
  const std::size_t own = e.rank(x) - rest.size();
  Coordinates coordinates;
  for (std::size_t d = 0; d < own; ++d)
    coordinates.push_back(e.shape(x)[d] == 1 ? Expr(0) : space.at(space.batch - own + d));
  coordinates.insert(coordinates.end(), rest.begin(), rest.end());
  return e.map(x, space.extents, std::move(coordinates), suffix);
}

// sum over k of a[batch…, m, k] * b[batch…, k, n] (b transposed: [batch…, n, k]). A vector has no m, or no n; nor has
// the result then.
int contract(Emitter& e, int a, int b, bool b_transposed, const Shape& result) {
  const bool a_vector = e.rank(a) == 1, b_vector = e.rank(b) == 1;
  const Shape &left = e.shape(a), &right = e.shape(b);
  const std::size_t matrix = (a_vector ? 0 : 1) + (b_vector ? 0 : 1);
  Space space{Shape(result.begin(), result.end() - static_cast<std::ptrdiff_t>(matrix)), result.size() - matrix};
  space.extents.push_back(a_vector ? 1 : left[left.size() - 2]);
  space.extents.push_back(left.back());
  space.extents.push_back(b_vector ? 1 : right[right.size() - (b_transposed ? 2 : 1)]);

  const Coordinates rows = a_vector ? Coordinates{space.k()} : Coordinates{space.m(), space.k()};
  const Coordinates matrix_b = b_transposed ? Coordinates{space.n(), space.k()} : Coordinates{space.k(), space.n()};
  const int a_bc = spread(e, a, space, rows, "a_bc");
  const int b_bc = spread(e, b, space, b_vector ? Coordinates{space.k()} : matrix_b, "b_bc");
  const int product = e.elementwise(Op::multiply, {a_bc, b_bc}, "ew");
  const int sum = e.reduce(Op::add, product, {static_cast<std::int64_t>(space.batch) + 1}, "reduce");

  Coordinates kept = identity(result);
  const auto at = [&](std::size_t position) { return kept.begin() + static_cast<std::ptrdiff_t>(position); };
  if (a_vector) kept.insert(at(space.batch), 0);
  kept.insert(at(space.batch + 1), 0);
  if (b_vector) kept.insert(at(space.batch + 2), 0);
  return e.map(sum, result, std::move(kept), "product");
}

}  // namespace

int matmul(Emitter& e, const Call& call) {
  const int a = e.convert(call.args[0], call.dtype()), b = e.convert(call.args[1], call.dtype());
  return contract(e, a, b, false, call.shape());
}

int linear(Emitter& e, const Call& call) {
  const int x = e.convert(call.args[0], call.dtype()), weight = e.convert(call.args[1], call.dtype());
  const int product = contract(e, x, weight, true, call.shape());
  if (call.args.size() < 3) return product;
  const int bias = e.broadcast(e.convert(call.args[2], call.dtype()), call.shape());
  return e.elementwise(Op::add, {product, bias}, "add");
}

namespace {

// Each of the few heads of a key or value serves a group of query heads that follow each other.
int expand_heads(Emitter& e, int x, std::int64_t heads, std::string_view suffix) {
  Shape shape = e.shape(x);
  const std::size_t head = shape.size() - 3;
  if (shape[head] == heads) return x;
  Coordinates coordinates = identity(shape);
  if (shape[head] != 1) coordinates[head] = coordinate(head) / (heads / shape[head]);
  shape[head] = heads;
  return e.map(x, std::move(shape), std::move(coordinates), suffix);
}

// -inf where the mask is false, or where the key comes after the query.
int masked(Emitter& e, const Call& call, int scores) {
  const Shape shape = e.shape(scores);
  const std::size_t query = shape.size() - 2, key = shape.size() - 1;
  const bool causal = call.node.flag("is_causal");
  if (!causal && call.args.size() < 4) return scores;
  if (!causal && e.dtype(call.args[3]) != DType::boolean)
    return e.elementwise(Op::add, {scores, e.broadcast(e.convert(call.args[3], call.dtype()), shape)}, "masked");
  const int mask =
      causal ? e.coordinate(ir::less(coordinate(key), coordinate(query) + 1), {DType::boolean, shape}, "causal")
             : e.broadcast(call.args[3], shape);
  const int never = e.scalar(-std::numeric_limits<double>::infinity(), call.dtype(), "never");
  return e.elementwise(Op::select, {mask, scores, never}, "masked");
}

}  // namespace

int attention(Emitter& e, const Call& call) {
  const DType t = call.dtype();
  const int q = e.convert(call.args[0], t);
  int k = e.convert(call.args[1], t), v = e.convert(call.args[2], t);
  if (call.node.flag("enable_gqa")) {
    const std::int64_t heads = e.extent(q, static_cast<std::int64_t>(e.rank(q)) - 3);
    k = expand_heads(e, k, heads, "k_heads");
    v = expand_heads(e, v, heads, "v_heads");
  }
  Shape shape = call.shape();
  shape.back() = e.shape(k)[e.rank(k) - 2];
  const int product = contract(e, q, k, true, shape);
  const int scale = e.scalar(call.node.number("scale"), t, "scale");
  const int scores = e.elementwise(Op::multiply, {product, scale}, "scores");
  const auto keys = static_cast<std::int64_t>(shape.size()) - 1;
  return contract(e, softmax_over(e, masked(e, call, scores), keys), v, false, call.shape());
}

}  // namespace deplo::rules
