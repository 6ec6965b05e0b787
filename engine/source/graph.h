// Lowers graphs to kernels.
#pragma once
#include <string>

#include "core/target.h"
#include "ir/module.h"
#include "ir/tensor/tensor.h"
#include "ir/torch/graph.h"
#include "rules/fusion/fuse.h"

namespace deplo::engine {

/// The passes of the front half: decompose, optimise, lift, merge. Each needs those before it.
struct Passes {
  bool optimise = true, lift = true, merge = true;
  bool guard = true;  // false: merge whatever is legal, whatever it costs
  rules::AttentionChoice attention = {};
  Target target = {};  // the target that fusion may look at (source.h)
};
/// Parses "d", "do", "dol" or "dolm". Throws Error.
Passes parse_passes(const std::string& text);

ir::tensor::Graph lower_to_tensor(const ir::torch::Graph&, const Passes&);
/// All kernels are verified. Throws Error if the graph needs more memory than any device has, or a type that kernels cannot
/// hold.
ir::Module lower_to_module(const ir::torch::Graph&, const Passes&, const rules::AttentionObserver& = {});
/// The same, with the distributions of each kernel's inputs set (engine/source/fill_kernels.h).
ir::Module lower_to_measure(const ir::torch::Graph&, const Passes& = {});

}  // namespace deplo::engine
