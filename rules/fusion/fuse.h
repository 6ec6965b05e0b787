// Tensor IR → Loop IR: lift every node to a kernel of its own, then merge kernels as long as that pays off.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "core/target.h"
#include "core/trail.h"
#include "ir/module.h"
#include "ir/tensor/tensor.h"

namespace deplo::rules {

// Fusion has decisions. The first option of each is the heuristic's choice. T is the output of the kernel in question.
//   fusion.attention_T=fused|split  scores, softmax and the product with the values in one kernel, or in several
//   fusion.key_parts_T=N            the parts into which one kernel's keys are split (fusion/key_parts.h); 1: not split
//   fusion.layout_T=readers|plain   T is stored in the order its readers prefer, or in the order of its dimensions
//   fusion.merge_T=0|1              T is in memory, or is computed by the kernels that read it, which repeats work
//   fusion.join_T=1|0               T is computed by the kernel of an earlier result, or by a kernel of its own

struct FuseOptions {
  bool merge = true;    // false: one kernel per node of the Tensor IR (--passes dol)
  bool guard = true;    // false: merge whatever is legal, whatever it costs
  bool layouts = true;  // store parameters and results between kernels in the order in which kernels read them
  Target target = {};   // attention_gain and key_parts use its matrix instructions and number of units
  /// Decisions that are fixed for all tensors, by kind: `attention=split key_parts=4`. They are not forks.
  Trail fixed = {};
};

/// A softmax followed by a product, and why it becomes one kernel or stays several.
struct FoundAttention {
  std::string output;  // output of the kernel that contains the product
  ir::Shape scores;    // shape of the scores; empty if no kernel that computes them was found
  bool fused = false;
  bool may_be_other = false;  // choosing the other option would change `fused`
  std::size_t kernels = 0;    // if may_be_other: the number of kernels that are merged, or would be
  std::string why;            // "": the decision is fixed
};

/// How the keys of an attention in one kernel are split. All parts have the same length. The last part may begin among
/// the keys of the part before it, but counts only its own keys.
struct KeyParts {
  std::string kernel;
  std::int64_t parts = 1, keys = 0;  // parts: 1 if the keys are not split; keys: length of a part
  std::string why;                   // "": the decision is fixed
};

/// Two kernels, named by their outputs, and the reason why they were not merged. The second one reads the first one's
/// output.
struct Apart {
  std::string producer, consumer, why;
};

/// `found` is called for each attention, `parted` for each attention that becomes one kernel, and `apart` for each pair
/// of a kernel and a kernel that reads its results.
struct FusionObserver {
  std::function<void(const FoundAttention&)> found = [](const FoundAttention&) {};
  std::function<void(const KeyParts&)> parted = [](const KeyParts&) {};
  std::function<void(const Apart&)> apart = {};  // if empty, the reasons are not computed
};

/// Kernels, and the decisions that led to them.
struct Fused {
  ir::Module module;
  Trail trail;
  std::vector<Fork> forks;  // [i] was decided by trail[i]
};
/// The graph must come from compose(): every output is computed. `taken`: decisions by name; all other decisions take
/// options[0]. Fails with Status::invalid, naming the first decision of `taken` that the graph does not have.
Result<Fused> fuse(const ir::tensor::Graph&, const Trail& taken, const FuseOptions& = {}, const FusionObserver& = {});
/// The same, with the heuristic's decisions.
ir::Module fuse(const ir::tensor::Graph&, const FuseOptions& = {}, const FusionObserver& = {});

}  // namespace deplo::rules
