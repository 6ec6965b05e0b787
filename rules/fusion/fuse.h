// Tensor IR → Loop IR: lift every node to a kernel of its own, then merge kernels while that pays.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "core/target.h"
#include "ir/module.h"
#include "ir/tensor/tensor.h"

namespace deplo::rules {

/// Whether scores, softmax and the product with the values become one kernel. automatic: if that pays
/// (fusion/guard.h); fused: whenever that is correct; split: never.
enum class Attention : std::uint8_t { automatic, fused, split };

/// `key_parts`: into how many parts the keys of an attention in one kernel are split (fusion/key_parts.h). 1: not split.
/// 0: into as many parts as keep the target's units busy.
struct AttentionChoice {
  Attention kernels = Attention::automatic;
  std::int64_t key_parts = 0;
  // NOLINTNEXTLINE(google-explicit-constructor): most callers choose only the first
  AttentionChoice(Attention as = Attention::automatic, std::int64_t parts = 0) : kernels(as), key_parts(parts) {}
};

struct FuseOptions {
  bool merge = true;    // false: one kernel per node of the Tensor IR (--passes dol)
  bool guard = true;    // false: merge whatever is legal, whatever it costs
  bool layouts = true;  // store parameters and results between kernels in the order in which kernels read them
  AttentionChoice attention = {};
  Target target = {};  // its matrix instructions and its units decide about attentions
};

/// A softmax followed by a product, and why it becomes one kernel or stays several.
struct FoundAttention {
  std::string output;  // of the kernel that contains the product
  ir::Shape scores;    // their shape; empty if no kernel was found that computes them
  bool fused = false;
  bool may_be_other = false;  // another `attention` would change `fused`
  std::size_t kernels = 0;    // if may_be_other: the number of kernels that are merged, or would be
  std::string why;            // "": `attention` decided
};

/// How the keys of an attention in one kernel are split. All parts have the same length. The last one may begin among
/// the keys of the part before; it counts only its own.
struct KeyParts {
  std::string kernel;
  std::int64_t parts = 1, keys = 0;  // parts: 1 if the keys are not split; keys: of each part
  std::string why;                   // "": `key_parts` decided
};

/// `found` is called for each attention, `parted` for each attention that becomes one kernel.
struct AttentionObserver {
  std::function<void(const FoundAttention&)> found = [](const FoundAttention&) {};
  std::function<void(const KeyParts&)> parted = [](const KeyParts&) {};
};

/// The graph must come from compose(): every output is computed.
ir::Module fuse(const ir::tensor::Graph&, const FuseOptions& = {}, const AttentionObserver& = {});

}  // namespace deplo::rules
