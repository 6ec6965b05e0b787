// Matrix products.
//   matmul(T, T)   linear(T x, T weight (out, in)[, T bias])
#include <fmt/format.h>

#include <array>

#include "ir/torch/operations/given.h"
#include "ir/torch/operations/ops.h"

namespace deplo::ir::torch {

using tensor::coordinate;
using tensor::identity;

void check_one_dtype(const Inference& call, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (call.dtype(i) != call.dtype(0) || call.dtype(i) == DType::boolean) call.expected("numbers of one dtype");
}

Shape batch_of(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

Shape batch_strides(const Shape& operand, const Shape& batch) {
  Shape strides = broadcast_strides(batch_of(operand), batch);
  for (std::int64_t& stride : strides) stride *= operand.end()[-2] * operand.end()[-1];
  return strides;
}

namespace {

// The space (batch…, m, k, n) of a matrix product, and the coordinates in it.
struct ProductSpace {
  Shape extents;
  std::size_t batch;  // number of batch dimensions

  Expr at(std::size_t dimension) const { return extents[dimension] == 1 ? Expr(0) : coordinate(dimension); }
  Expr m() const { return at(batch); }
  Expr k() const { return at(batch + 1); }
  Expr n() const { return at(batch + 2); }
};

// Maps an operand of shape (batch…, rest…) to the space. Its batch dimensions are aligned with the last batch
// dimensions of the space, and broadcast. `rest`: the coordinates of its other dimensions.
int spread(Emitter& e, int x, const ProductSpace& space, const Coordinates& rest, std::string_view suffix) {
  const std::size_t own = e.rank(x) - rest.size();
  Coordinates coordinates;
  for (std::size_t d = 0; d < own; ++d)
    coordinates.push_back(e.shape(x)[d] == 1 ? Expr(0) : space.at(space.batch - own + d));
  coordinates.insert(coordinates.end(), rest.begin(), rest.end());
  return e.map(x, space.extents, std::move(coordinates), suffix);
}

}  // namespace

// Multiplies at every (m, k, n), then sums over k.
int contract(Emitter& e, int a, int b, bool b_transposed, const Shape& result) {
  const bool a_vector = e.rank(a) == 1, b_vector = e.rank(b) == 1;
  const Shape &left = e.shape(a), &right = e.shape(b);
  const std::size_t matrix = (a_vector ? 0 : 1) + (b_vector ? 0 : 1);
  ProductSpace space{Shape(result.begin(), result.end() - static_cast<std::ptrdiff_t>(matrix)), result.size() - matrix};
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

namespace {

// matmul

TensorType infer_matmul(const Inference& call) {
  check_one_dtype(call, 2);
  Shape a = call.shape(0), b = call.shape(1);
  const bool row = a.size() == 1, column = b.size() == 1;
  if (a.empty() || b.empty()) call.expected("two tensors of at least one dimension");
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b.end()[-2]) call.expected("(…, M, K) and (…, K, N)");
  Shape shape = broadcast(call.op(), batch_of(a), batch_of(b));
  if (!row) shape.push_back(a.end()[-2]);
  if (!column) shape.push_back(b.back());
  return {call.dtype(0), shape};
}

Values evaluate_matmul(const Operands& o) {
  Shape a = o.shape(0), b = o.shape(1), shape = o.result();
  if (a.size() == 1) {
    shape.insert(shape.end() - (b.size() > 1 ? 1 : 0), 1);
    a.insert(a.begin(), 1);
  }
  if (b.size() == 1) {
    shape.push_back(1);
    b.push_back(1);
  }
  const std::int64_t m = a.end()[-2], k = a.back(), n = b.back();
  const Shape batch = batch_of(shape);
  Values result(o.result_count());
  double* to = result.data();
  for_each_index(batch, std::array{batch_strides(a, batch), batch_strides(b, batch)},
                 [&](std::size_t i, std::size_t j) {
                   multiply(o, {o.value(0).data() + i, m, k}, {o.value(1).data() + j, k, n}, to);
                   to += m * n;
                 });
  return result;
}

int decompose_matmul(Emitter& e, const TensorCall& call) {
  const int a = e.convert(call.args[0], call.dtype()), b = e.convert(call.args[1], call.dtype());
  return contract(e, a, b, false, call.shape());
}

python::Value call_matmul(const python::Call& c) { return c.node({c.tensor("input"), c.tensor("other")}); }
python::Value call_infix_matmul(const python::Call& c) { return c.node({c.tensor("left"), c.tensor("right")}); }

// mm accepts only tensors of two dimensions, and bmm only tensors of three.
template <std::size_t rank>
python::Value call_matmul_of(const python::Call& c) {
  const Id a = c.tensor("input"), b = c.tensor("mat2");
  if (c.type(a).shape.size() != rank || c.type(b).shape.size() != rank)
    throw Error(fmt::format("{}: expected two tensors of {} dimensions, found {} and {}", c.name, rank,
                            print(c.type(a)), print(c.type(b))));
  return c.node({a, b});
}

std::vector<Id> product(pt2::Call& call, std::string_view second) {
  const Id self = call.tensor("self");
  return call.node({self, call.tensor(second)});
}

std::vector<Id> read_matmul(pt2::Call& call) { return product(call, "other"); }
std::vector<Id> read_mm(pt2::Call& call) { return product(call, "mat2"); }
std::vector<Id> read_mv(pt2::Call& call) { return product(call, "vec"); }

// beta * self + alpha * (a @ b)
std::vector<Id> product_sum(pt2::Call& call, std::string_view a, std::string_view b) {
  const Id first = call.tensor(a);
  Id result = call.add("matmul", {first, call.tensor(b)});
  Id self = call.tensor("self");
  if (call.number("alpha", 1) != 1) result = call.add("mul", {result, call.operand("alpha")});
  if (call.number("beta", 1) != 1) self = call.add("mul", {self, call.operand("beta")});
  return {call.add("add", {result, self})};
}

std::vector<Id> read_addmm(pt2::Call& call) { return product_sum(call, "mat1", "mat2"); }
std::vector<Id> read_baddbmm(pt2::Call& call) { return product_sum(call, "batch1", "batch2"); }

// linear

TensorType infer_linear(const Inference& call) {
  check_one_dtype(call, call.size());
  const Shape &x = call.shape(0), &weight = call.shape(1);
  if (x.empty() || weight.size() != 2 || x.back() != weight[1])
    call.expected("an input (…, in) and a weight (out, in)");
  if (call.size() == 3 && call.shape(2) != Shape{weight[0]}) call.expected("a bias (out,) for a weight (out, in)");
  Shape shape = x;
  shape.back() = weight[0];
  return {call.dtype(0), shape};
}

Values evaluate_linear(const Operands& o) {
  const std::int64_t out = o.shape(1)[0], in = o.shape(1)[1], rows = element_count(o.shape(0)) / in;
  Values result(o.result_count());
  multiply(o, {o.value(0).data(), rows, in}, {o.value(1).data(), in, out, true}, result.data());
  if (o.size() == 3)
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += o.value(2)[i % static_cast<std::size_t>(out)];
  return result;
}

int decompose_linear(Emitter& e, const TensorCall& call) {
  const int x = e.convert(call.args[0], call.dtype()), weight = e.convert(call.args[1], call.dtype());
  const int product = contract(e, x, weight, true, call.shape());
  if (call.args.size() < 3) return product;
  const int bias = e.broadcast(e.convert(call.args[2], call.dtype()), call.shape());
  return e.elementwise(Op::add, {product, bias}, "add");
}

// A weight (in,) gives one number for each row.
Id linear_layer(const Given& g) {
  std::vector<Id> args = {g.tensor("input"), g.tensor("weight")};
  if (g.has("bias"))
    args.push_back(g.tensor("bias"));
  else if (g.rank(args[1]) == 1)
    return g.call("matmul", std::move(args));
  return g.call("linear", std::move(args));
}

}  // namespace

// clang-format off
std::vector<Operation> matmul_operations() {
  return {
      {"linear", 2, 3, {}, infer_linear, evaluate_linear, decompose_linear,
       {{"linear", in_functional, "input, weight, bias=None", call_made<linear_layer>}},
       {{"aten.linear", read_made<linear_layer>}}},
      {"matmul", 2, 2, {}, infer_matmul, evaluate_matmul, decompose_matmul,
       {{"matmul", either | in_linalg, "input, other", call_matmul},
        {"mm", either, "input, mat2", call_matmul_of<2>},
        {"bmm", either, "input, mat2", call_matmul_of<3>},
        {"@", as_infix, "left, right", call_infix_matmul}},
       {{"aten.matmul", read_matmul}, {"aten.mm", read_mm}, {"aten.bmm", read_mm}, {"aten.mv", read_mv},
        {"aten.addmm", read_addmm}, {"aten.baddbmm", read_baddbmm}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
