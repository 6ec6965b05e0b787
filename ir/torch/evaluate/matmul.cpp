// Matrix products and attention in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/torch/evaluate/ops.h"

namespace deplo::ir::torch {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Strides of the matrices of an operand under the indices of the result's batch.
Shape batch_strides(const Shape& operand, const Shape& batch) {
  Shape shape(operand.begin(), operand.end() - 2);
  Shape strides = broadcast_strides(shape, batch);
  for (std::int64_t& stride : strides) stride *= operand.end()[-2] * operand.end()[-1];
  return strides;
}

// Batch index: (…, heads) → (…, kv_heads, group), so that a group of q's heads finds its one head of k and v.
struct AttentionShape {
  Shape batch, q, k, v;
};

AttentionShape split_heads(const Operands& o) {
  AttentionShape s = {{o.result().begin(), o.result().end() - 2}, o.shape(0), o.shape(1), o.shape(2)};
  if (!o.node.flag("enable_gqa")) return s;
  const std::int64_t kv_heads = s.k.end()[-3], group = s.q.end()[-3] / kv_heads;
  for (Shape* shape : {&s.q, &s.k, &s.v}) shape->insert(shape->end() - 2, shape == &s.q ? group : 1);
  s.q.end()[-4] = kv_heads;
  s.batch.back() = kv_heads;
  s.batch.push_back(group);
  return s;
}

// Rows of scores become rows of probabilities; a row without any key gives 0, as in PyTorch from 2.5 on.
void softmax_rows(Values& scores, std::size_t keys) {
  for (std::size_t row = 0; row < scores.size(); row += keys) {
    const auto begin = scores.begin() + static_cast<std::ptrdiff_t>(row),
               end = begin + static_cast<std::ptrdiff_t>(keys);
    const double most = *std::max_element(begin, end);
    double total = 0;
    for (auto p = begin; p != end; ++p) total += * p = most == -infinity ? 0 : std::exp(*p - most);
    if (most == -infinity) continue;
    for (auto p = begin; p != end; ++p) *p /= total;
  }
}

// What is added to the score of each key, for all batches: (…, L, S) broadcast.
class Mask {
 public:
  explicit Mask(const Operands& o)
      : o_(o), causal_(o.node.flag("is_causal")), queries_(o.shape(0).end()[-2]), keys_(o.shape(1).end()[-2]) {
    if (o.size() < 4) return;
    Shape scores = o.result();
    scores.back() = keys_;
    strides_ = broadcast_strides(o.shape(3), scores);
    for_each_index(Shape(scores.begin(), scores.end() - 2), std::array{Shape(strides_.begin(), strides_.end() - 2)},
                   [&](std::size_t offset) { offsets_.push_back(offset); });
  }

  /// To the scores of the matrix numbered `batch`.
  void apply(std::size_t batch, Values& scores) const {
    std::size_t at = 0;
    for (std::int64_t query = 0; query < queries_; ++query)
      for (std::int64_t key = 0; key < keys_; ++key) scores[at++] += added(batch, query, key);
  }

 private:
  double added(std::size_t batch, std::int64_t query, std::int64_t key) const {
    if (causal_ && key > query) return -infinity;
    if (offsets_.empty()) return 0;
    const std::int64_t within = query * strides_.end()[-2] + key * strides_.back();
    const double value = o_.value(3)[offsets_[batch] + static_cast<std::size_t>(within)];
    if (o_.args[3]->type.dtype != DType::boolean) return value;
    return value != 0 ? 0 : -infinity;
  }

  const Operands& o_;
  bool causal_;
  std::int64_t queries_, keys_;
  Shape strides_;
  std::vector<std::size_t> offsets_;  // of the mask, for each matrix of the batch
};

}  // namespace

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
  const Shape batch(shape.begin(), shape.end() - 2);
  Values result(o.result_count());
  double* to = result.data();
  for_each_index(batch, std::array{batch_strides(a, batch), batch_strides(b, batch)},
                 [&](std::size_t i, std::size_t j) {
                   multiply({o.value(0).data() + i, m, k}, {o.value(1).data() + j, k, n}, to);
                   to += m * n;
                 });
  return result;
}

Values evaluate_linear(const Operands& o) {
  const std::int64_t out = o.shape(1)[0], in = o.shape(1)[1], rows = element_count(o.shape(0)) / in;
  Values result(o.result_count());
  multiply({o.value(0).data(), rows, in}, {o.value(1).data(), in, out, true}, result.data());
  if (o.size() == 3)
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += o.value(2)[i % static_cast<std::size_t>(out)];
  return result;
}

Values evaluate_attention(const Operands& o) {
  const AttentionShape s = split_heads(o);
  const std::int64_t queries = s.q.end()[-2], keys = s.k.end()[-2], depth = s.q.back(), width = s.v.back();
  const double scale = o.node.number("scale");
  const Mask mask(o);
  Values result(o.result_count()), scores(static_cast<std::size_t>(queries * keys));
  std::size_t number = 0;
  const std::array strides = {batch_strides(s.q, s.batch), batch_strides(s.k, s.batch), batch_strides(s.v, s.batch)};
  for_each_index(s.batch, strides, [&](std::size_t q, std::size_t k, std::size_t v) {
    multiply({o.value(0).data() + q, queries, depth}, {o.value(1).data() + k, depth, keys, true}, scores.data());
    for (double& score : scores) score *= scale;
    mask.apply(number, scores);
    softmax_rows(scores, static_cast<std::size_t>(keys));
    multiply({scores.data(), queries, keys}, {o.value(2).data() + v, keys, width},
             result.data() + static_cast<std::int64_t>(number) * queries * width);
    ++number;
  });
  return result;
}

}  // namespace deplo::ir::torch
