#include "rules/fusion/random_graph.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/rng.h"

namespace deplo::rules {
namespace {

using ir::torch::Builder;
using ir::torch::Id;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed) {
    const std::array extents = {1, 2, 3, 7, 8, 33};
    const auto extent = [&] { return std::int64_t{extents[rng_.below(extents.size())]}; };
    m_ = extent(), n_ = extent(), k_ = extent();
    for (const ir::Shape& shape : {ir::Shape{2, m_, n_}, {m_, n_}, {n_}, {m_, k_}, {k_, n_}, {2, 1, n_}})
      tensors_.push_back(builder_.input("x", {ir::DType::f32, shape}));
    tensors_.push_back(builder_.parameter("w", {ir::DType::f32, {n_, k_}}));
  }

  void step() {
    // The builder rejects an operation that does not fit, for example if shapes do not broadcast. Then another one is
    // tried.
    for (int tries = 0; tries < 20; ++tries) {
      try {
        if (const Id id = attempt(); id >= 0 && ir::element_count(builder_.type(id).shape) <= 4000)
          return tensors_.push_back(id);
      } catch (const Error&) {
      }
    }
  }

  ir::torch::Graph finish() {
    std::vector<Id> outputs = {tensors_.back()};
    if (rng_.below(3) == 0) outputs.push_back(tensors_[tensors_.size() / 2]);
    return builder_.finish(outputs);
  }

 private:
  // Returns a tensor. Recent tensors are more likely, so that operations form chains, which fuse.
  Id pick() {
    const std::size_t n = tensors_.size();
    return tensors_[rng_.below(2) == 0 ? n - 1 - rng_.below(std::min<std::size_t>(n, 3)) : rng_.below(n)];
  }
  Id given() { return tensors_[rng_.below(7)]; }
  std::int64_t rank(Id id) { return static_cast<std::int64_t>(builder_.type(id).shape.size()); }
  std::int64_t dim(Id id) {
    return static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(rank(id), 1))));
  }
  template <std::size_t N>
  const char* one_of(const std::array<const char*, N>& names) {
    return names[rng_.below(N)];
  }

  Id attempt() {
    switch (rng_.below(11)) {
      case 0:
      case 1:
        return builder_.call(one_of(std::array{"tanh", "sigmoid", "relu", "silu", "neg", "sin", "cos", "erf", "gelu"}),
                             {pick()});
      case 2:
      case 3:
        return builder_.call(one_of(std::array{"add", "mul", "sub", "maximum", "minimum"}), {pick(), pick()});
      case 4:
        return builder_.call(one_of(std::array{"sum", "mean", "amax", "amin"}), {dimmed()},
                             {{"dims", std::vector<std::int64_t>{dim(last_)}}, {"keepdim", rng_.below(2) == 0}});
      case 5:
        return rng_.below(2) == 0 ? builder_.call("matmul", {pick(), pick()})
                                  : builder_.call("linear", {pick(), tensors_[6]});
      case 6:
        return builder_.call("softmax", {dimmed()}, {{"dim", dim(last_)}});
      case 7:
        return view();
      case 8:
        // Compares inputs only: computed values may differ only in their last bits, and then either answer is right.
        return builder_.call("where", {builder_.call("lt", {given(), given()}), pick(), pick()});
      case 9:
        return builder_.call(one_of(std::array{"cumsum", "cummax", "cummin"}), {dimmed()}, {{"dim", dim(last_)}});
      default:
        return normalise();
    }
  }

  Id dimmed() { return last_ = pick(); }

  Id view() {
    const Id x = dimmed();
    switch (rng_.below(8)) {
      case 0:
        return builder_.call("transpose", {x}, {{"dim0", dim(x)}, {"dim1", dim(x)}});
      case 1:
        return builder_.call("reshape", {x}, {{"shape", std::vector<std::int64_t>{-1}}});
      case 2:
        return builder_.call("reshape", {x}, {{"shape", std::vector<std::int64_t>{-1, n_}}});
      case 3:
        return builder_.call("slice", {x}, {{"dim", dim(x)}, {"start", std::int64_t{1}}, {"step", one_or_two()}});
      case 4:
        return builder_.call("cat", {x, x}, {{"dim", dim(x)}});
      case 5:
        return builder_.call("unsqueeze", {x}, {{"dim", dim(x)}});
      case 6:
        return builder_.call(one_of(std::array{"triu", "tril"}), {x}, {{"diagonal", one_or_two() - 1}});
      default:
        return builder_.call("select", {x}, {{"dim", dim(x)}, {"index", std::int64_t{0}}});
    }
  }
  std::int64_t one_or_two() { return 1 + static_cast<std::int64_t>(rng_.below(2)); }

  Id normalise() {
    switch (rng_.below(3)) {
      case 0:
        return builder_.call("layer_norm", {pick()}, {{"dims", std::int64_t{1}}});
      case 1:
        return builder_.call("rms_norm", {pick()}, {{"dims", std::int64_t{1}}});
      default:
        const Id q = pick(), k = pick();
        return builder_.call("scaled_dot_product_attention", {q, k, k}, {{"is_causal", rng_.below(2) == 0}});
    }
  }

  Rng rng_;
  Builder builder_;
  std::vector<Id> tensors_;
  Id last_ = 0;
  std::int64_t m_ = 1, n_ = 1, k_ = 1;
};

}  // namespace

ir::torch::Graph random_graph(std::uint64_t seed, int steps) {
  Generator generator(seed);
  for (int i = 0; i < steps; ++i) generator.step();
  return generator.finish();
}

}  // namespace deplo::rules
