// Tensor IR → Loop IR: lift every node to a kernel of its own, then merge kernels while that pays.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "ir/module.h"
#include "ir/tensor/tensor.h"

namespace deplo::rules {

/// Scores, softmax and the product with the values as one kernel: always where that is right, where it pays
/// (fusion/guard.h), or never.
enum class Attention : std::uint8_t { automatic, fused, split };

struct FuseOptions {
  bool merge = true;    // false: one kernel per node of the Tensor IR (--passes dol)
  bool guard = true;    // false: merge whatever is legal, whatever it costs
  bool layouts = true;  // parameters and results between kernels are stored in the order that their readers want
  Attention attention = Attention::automatic;
  bool tensor_cores = false;  // the target has them: they multiply both products of an attention of 16 bits
};

/// A softmax with a product behind it, and why it is one kernel or stays several.
struct FoundAttention {
  std::string output;  // of the kernel that has the product
  ir::Shape scores;    // empty where no kernel computes them for it
  bool fused = false;
  bool may_be_other = false;  // by `attention`
  std::size_t kernels = 0;    // where it may: that are one, or would be
  std::string why;            // "": because `attention` says so
};
using AttentionObserver = std::function<void(const FoundAttention&)>;

/// `graph` is what compose() gives: every output is computed. The observer is told of each attention.
ir::Module fuse(const ir::tensor::Graph&, const FuseOptions& = {}, const AttentionObserver& = {});

}  // namespace deplo::rules
