// Tensor IR → Loop IR: lift every node to a kernel of its own, then merge kernels while that pays.
#pragma once
#include <cstdint>

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
};

/// `graph` is what compose() gives: every output is computed.
ir::Module fuse(const ir::tensor::Graph&, const FuseOptions& = {});

}  // namespace deplo::rules
