// scaled_dot_product_attention(T q, T k, T v[, T mask], is_causal=false, scale (1/sqrt(E)), enable_gqa=false)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/torch/operations/given.h"
#include "ir/torch/operations/ops.h"

namespace deplo::ir::torch {
namespace {

using tensor::coordinate;
using tensor::identity;

constexpr AttributeSpec attention_attributes[] = {
    {"is_causal", Kind::flag, false}, {"scale", Kind::number, Computed{}}, {"enable_gqa", Kind::flag, false}};

// Returns the batch dimensions of the result. With `enable_gqa`, groups of q's heads share the heads of k and v.
Shape attention_batch(const Inference& call) {
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
  const Shape pair = broadcast(call.op(), batch_of(q), batch_of(k));
  return broadcast(call.op(), pair, batch_of(v));
}

void check_mask(const Inference& call, const Shape& scores) {
  if (call.node().flag("is_causal")) call.expected("either is_causal or a mask", "both");
  if (call.dtype(3) != DType::boolean && call.dtype(3) != call.dtype(0))
    call.expected("a mask of dtype bool or of q's dtype");
  bool fits = call.shape(3).size() <= scores.size();
  for (std::size_t i = 0; fits && i < call.shape(3).size(); ++i) {
    const std::int64_t extent = call.shape(3).end()[-1 - static_cast<std::ptrdiff_t>(i)];
    fits = extent == 1 || extent == scores.end()[-1 - static_cast<std::ptrdiff_t>(i)];
  }
  if (!fits) call.expected(fmt::format("a mask that broadcasts to {}", print(scores)), print(call.shape(3)));
}

TensorType infer_attention(const Inference& call) {
  check_one_dtype(call, 3);
  check_float(call);
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

// The shapes of q, k and v, and of the batch. With `enable_gqa`, (…, heads) becomes (…, kv_heads, group), so that each
// group of q's heads is paired with its single head of k and v.
struct AttentionShape {
  Shape batch, q, k, v;
};

AttentionShape split_heads(const Operands& o) {
  AttentionShape s = {batch_of(o.result()), o.shape(0), o.shape(1), o.shape(2)};
  if (!o.node.flag("enable_gqa")) return s;
  const std::int64_t kv_heads = s.k.end()[-3], group = s.q.end()[-3] / kv_heads;
  for (Shape* shape : {&s.q, &s.k, &s.v}) shape->insert(shape->end() - 2, shape == &s.q ? group : 1);
  s.q.end()[-4] = kv_heads;
  s.batch.back() = kv_heads;
  s.batch.push_back(group);
  return s;
}

// Turns rows of scores into rows of probabilities. A row in which all keys are hidden becomes 0, as in PyTorch from 2.5
// on. A NaN makes its whole row NaN.
void softmax_rows(Values& scores, std::size_t keys) {
  for (std::size_t row = 0; row < scores.size(); row += keys) {
    const auto begin = scores.begin() + static_cast<std::ptrdiff_t>(row);
    const auto end = begin + static_cast<std::ptrdiff_t>(keys);
    if (std::all_of(begin, end, [](double score) { return score == -infinity; })) {
      std::fill(begin, end, 0.0);
      continue;
    }
    double maximum = -infinity, total = 0;
    for (auto p = begin; p != end; ++p) maximum = std::max(maximum, *p);
    for (auto p = begin; p != end; ++p) total += * p = std::exp(*p - maximum);
    for (auto p = begin; p != end; ++p) *p /= total;
  }
}

// Hides keys, or adds to their scores. The mask is broadcast to the scores (…, L, S) of all batches. The score of a
// hidden key is -inf, even if it was NaN before.
class Mask {
 public:
  explicit Mask(const Operands& o)
      : o_(o), causal_(o.node.flag("is_causal")), queries_(o.shape(0).end()[-2]), keys_(o.shape(1).end()[-2]) {
    if (o.size() < 4) return;
    Shape scores = o.result();
    scores.back() = keys_;
    strides_ = broadcast_strides(o.shape(3), scores);
    hides_ = o.args[3]->type.dtype == DType::boolean;
    for_each_index(batch_of(scores), std::array{batch_of(strides_)},
                   [&](std::size_t offset) { offsets_.push_back(offset); });
  }

  /// Applies the mask to the scores of the matrix number `batch`.
  void apply(std::size_t batch, Values& scores) const {
    std::size_t at = 0;
    for (std::int64_t query = 0; query < queries_; ++query)
      for (std::int64_t key = 0; key < keys_; ++key, ++at) {
        const double value = added(batch, query, key);
        scores[at] = value == -infinity && hides_ ? value : scores[at] + value;
      }
  }

 private:
  double added(std::size_t batch, std::int64_t query, std::int64_t key) const {
    if (causal_ && key > query) return -infinity;
    if (offsets_.empty()) return 0;
    const std::int64_t within = query * strides_.end()[-2] + key * strides_.back();
    const double value = o_.value(3)[offsets_[batch] + static_cast<std::size_t>(within)];
    if (!hides_) return value;
    return value != 0 ? 0 : -infinity;
  }

  const Operands& o_;
  bool causal_, hides_ = true;  // hides_: -inf hides a key; otherwise it is added like any number
  std::int64_t queries_, keys_;
  Shape strides_;
  std::vector<std::size_t> offsets_;  // the offset in the mask of each matrix of the batch
};

Values evaluate_attention(const Operands& o) {
  const AttentionShape s = split_heads(o);
  const std::int64_t queries = s.q.end()[-2], keys = s.k.end()[-2], depth = s.q.back(), width = s.v.back();
  const double scale = o.node.number("scale");
  const Mask mask(o);
  Values result(o.result_count()), scores(static_cast<std::size_t>(queries * keys));
  std::size_t number = 0;
  const std::array strides = {batch_strides(s.q, s.batch), batch_strides(s.k, s.batch), batch_strides(s.v, s.batch)};
  for_each_index(s.batch, strides, [&](std::size_t q, std::size_t k, std::size_t v) {
    multiply(o, {o.value(0).data() + q, queries, depth}, {o.value(1).data() + k, depth, keys, true}, scores.data());
    for (double& score : scores) score = in_f32_range(score * scale);
    mask.apply(number, scores);
    softmax_rows(scores, static_cast<std::size_t>(keys));
    multiply(o, {scores.data(), queries, keys}, {o.value(2).data() + v, keys, width},
             result.data() + static_cast<std::int64_t>(number) * queries * width);
    ++number;
  });
  return result;
}

// Repeats each head of a key or value for its group of consecutive query heads.
int expand_heads(Emitter& e, int x, std::int64_t heads, std::string_view suffix) {
  Shape shape = e.shape(x);
  const std::size_t head = shape.size() - 3;
  if (shape[head] == heads) return x;
  Coordinates coordinates = identity(shape);
  if (shape[head] != 1) coordinates[head] = coordinate(head) / (heads / shape[head]);
  shape[head] = heads;
  return e.map(x, std::move(shape), std::move(coordinates), suffix);
}

// Applies the mask. A score becomes -inf if the mask is false, or if the key comes after the query of a causal
// attention. A mask of numbers is added to the scores.
int masked(Emitter& e, const TensorCall& call, int scores) {
  const Shape shape = e.shape(scores);
  const std::size_t query = shape.size() - 2, key = shape.size() - 1;
  const bool causal = call.node.flag("is_causal");
  if (!causal && call.args.size() < 4) return scores;
  if (!causal && e.dtype(call.args[3]) != DType::boolean)
    return e.elementwise(Op::add, {scores, e.broadcast(e.convert(call.args[3], e.dtype(scores)), shape)}, "masked");
  const int mask = causal
                       ? e.coordinate(less(coordinate(key), coordinate(query) + 1), {DType::boolean, shape}, "causal")
                       : e.broadcast(call.args[3], shape);
  const int never = e.scalar(-infinity, e.dtype(scores), "never");
  return e.elementwise(Op::select, {mask, scores, never}, "masked");
}

// A row in which the mask hides all keys becomes 0, as in PyTorch from 2.5 on. A causal mask hides no whole row,
// because each query sees the first key.
int probabilities(Emitter& e, const TensorCall& call, int scores) {
  const auto keys = static_cast<std::int64_t>(e.rank(scores)) - 1;
  const int softmax = softmax_over(e, scores, keys);
  if (call.args.size() < 4) return softmax;
  const int maximum = e.reduce(Op::maximum, scores, {keys}, "max");
  const int hidden = with(e, Op::equal, maximum, e.scalar(-infinity, e.dtype(scores), "never"), "hidden");
  const int zero = e.scalar(0, e.dtype(scores), "zero");
  return e.elementwise(Op::select, {e.broadcast(hidden, e.shape(scores)), zero, softmax}, "probabilities");
}

int decompose_attention(Emitter& e, const TensorCall& call) {
  const DType t = accumulation_type(call.dtype());  // also the type of the scores
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
  return e.convert(contract(e, probabilities(e, call, masked(e, call, scores)), v, false, call.shape()), call.dtype());
}

// The device-specific functions of `.pt2` files return more outputs, which are not supported.
Id attention(const Given& g) {
  g.ignore({"return_debug_mask", "compute_log_sumexp"});
  std::vector<Id> args = {g.tensor("query"), g.tensor("key"), g.tensor("value")};
  for (const std::string_view mask : {"attn_mask", "attn_bias"})
    if (g.has(mask)) args.push_back(g.tensor(mask));
  if (g.number("dropout_p", 0) != 0)
    g.fail("dropout_p", g.is_in_file() ? "0 (a model in eval mode)" : "0 (dropout is not supported)");
  Attributes attributes = {{"is_causal", g.flag("is_causal", false)}, {"enable_gqa", g.flag("enable_gqa", false)}};
  if (g.has("scale")) attributes.emplace("scale", g.number("scale", 1));
  return g.call("scaled_dot_product_attention", std::move(args), std::move(attributes));
}

constexpr std::string_view attention_signature =
    "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False";

}  // namespace

// clang-format off
std::vector<Operation> attention_operations() {
  return {
      {"scaled_dot_product_attention", 3, 4, attention_attributes, infer_attention, evaluate_attention,
       decompose_attention,
       {{"scaled_dot_product_attention", in_functional, attention_signature, call_made<attention>}},
       {{"aten.scaled_dot_product_attention", read_made<attention>},
        {"aten._scaled_dot_product_efficient_attention", read_made<attention>},
        {"aten._scaled_dot_product_flash_attention", read_made<attention>},
        {"aten._scaled_dot_product_flash_attention_for_cpu", read_made<attention>}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
