// Types of the matrix products and of attention.
#include <fmt/format.h>

#include <cmath>

#include "ir/torch/operations/op_rows.h"

namespace deplo::ir::torch {
namespace {

void check_one_dtype(const Call& call, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (call.dtype(i) != call.dtype(0) || call.dtype(i) == DType::boolean) call.expected("numbers of one dtype");
}

// All dimensions but the last two.
Shape batch(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

// Batch dimensions of the result: heads of k and v are shared by groups of heads of q where `enable_gqa` says so.
Shape attention_batch(const Call& call) {
  const Shape& q = call.shape(0);
  Shape k = call.shape(1), v = call.shape(2);
  if (call.node().flag("enable_gqa")) {
    if (q.size() < 3 || k.size() < 3 || v.size() < 3)
      call.expected("q, k and v with a dimension of heads (enable_gqa)");
    const std::int64_t heads = q.end()[-3], kv_heads = k.end()[-3];
    if (v.end()[-3] != kv_heads) call.expected("as many heads of k as of v");
    if (heads % kv_heads != 0) call.expected("heads of q that are a multiple of those of k and v");
    k.end()[-3] = v.end()[-3] = heads;
  }
  const Shape pair = broadcast(call.op(), batch(q), batch(k));
  return broadcast(call.op(), pair, batch(v));
}

void check_mask(const Call& call, const Shape& scores) {
  if (call.node().flag("is_causal")) call.expected("is_causal or a mask", "both");
  if (call.dtype(3) != DType::boolean && call.dtype(3) != call.dtype(0))
    call.expected("a mask of dtype bool or of that of q");
  bool fits = call.shape(3).size() <= scores.size();
  for (std::size_t i = 0; fits && i < call.shape(3).size(); ++i) {
    const std::int64_t extent = call.shape(3).end()[-1 - static_cast<std::ptrdiff_t>(i)];
    fits = extent == 1 || extent == scores.end()[-1 - static_cast<std::ptrdiff_t>(i)];
  }
  if (!fits) call.expected(fmt::format("a mask that broadcasts to {}", print(scores)), print(call.shape(3)));
}

}  // namespace

TensorType infer_matmul(const Call& call) {
  check_one_dtype(call, 2);
  Shape a = call.shape(0), b = call.shape(1);
  const bool row = a.size() == 1, column = b.size() == 1;
  if (a.empty() || b.empty()) call.expected("two tensors of at least one dimension");
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b.end()[-2]) call.expected("(…, M, K) and (…, K, N)");
  Shape shape = broadcast(call.op(), batch(a), batch(b));
  if (!row) shape.push_back(a.end()[-2]);
  if (!column) shape.push_back(b.back());
  return {call.dtype(0), shape};
}

TensorType infer_linear(const Call& call) {
  check_one_dtype(call, call.size());
  const Shape &x = call.shape(0), &weight = call.shape(1);
  if (x.empty() || weight.size() != 2 || x.back() != weight[1])
    call.expected("an input (…, in) and a weight (out, in)");
  if (call.size() == 3 && call.shape(2) != Shape{weight[0]}) call.expected("a bias (out,) for a weight (out, in)");
  Shape shape = x;
  shape.back() = weight[0];
  return {call.dtype(0), shape};
}

TensorType infer_attention(const Call& call) {
  check_one_dtype(call, 3);
  if (!is_float(call.dtype(0))) call.expected("floating-point numbers");
  const Shape &q = call.shape(0), &k = call.shape(1), &v = call.shape(2);
  const bool ranks = q.size() >= 2 && k.size() >= 2 && v.size() >= 2;
  if (!ranks || q.back() != k.back() || k.end()[-2] != v.end()[-2])
    call.expected("q (…, L, E), k (…, S, E) and v (…, S, Ev)");
  Shape shape = attention_batch(call);
  Shape scores = shape;
  scores.insert(scores.end(), {q.end()[-2], k.end()[-2]});
  if (call.size() == 4) check_mask(call, scores);
  check_type("the scores of scaled_dot_product_attention", {call.dtype(0), scores});
  if (!call.has("scale")) call.set("scale", 1 / std::sqrt(static_cast<double>(q.back())));
  shape.insert(shape.end(), {q.end()[-2], v.back()});
  return {call.dtype(0), shape};
}

}  // namespace deplo::ir::torch
