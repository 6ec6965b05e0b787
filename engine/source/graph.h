// Lowers graphs to kernels.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "core/target.h"
#include "core/trail.h"
#include "ir/module.h"
#include "ir/tensor/tensor.h"
#include "ir/torch/graph.h"
#include "rules/fusion/fuse.h"

namespace deplo::engine {

/// The passes of the front half: decompose, optimise, lift, merge. Each needs those before it.
struct Passes {
  bool optimise = true, lift = true, merge = true;
  bool guard = true;   // false: merge whatever is legal, whatever it costs
  Target target = {};  // the target that fusion may look at (source.h)
  Trail fixed = {};    // FuseOptions::fixed
};
/// Parses "d", "do", "dol" or "dolm". Throws Error.
Passes parse_passes(const std::string& text);

ir::tensor::Graph lower_to_tensor(const ir::torch::Graph&, const Passes&);
/// All kernels are verified. Throws Error if the graph needs more memory than any device has, or a type that kernels
/// cannot hold.
ir::Module lower_to_module(const ir::torch::Graph&, const Passes&, const rules::FusionObserver& = {});
/// The same, with the decisions of fusion that `taken` names; the heuristic takes the others. A failure: `taken` does
/// not fit this graph.
Result<rules::Fused> lower_by_trail(const ir::torch::Graph&, const Passes&, const Trail& taken,
                                    const rules::FusionObserver& = {});
/// A graph lowered with decisions of fusion that are not the heuristic's.
struct Variation {
  Trail changes;  // these decisions; empty: all are the heuristic's
  rules::Fused fused;
};
/// The heuristic's kernels, then those of each other option of each decision, with the heuristic's options for the
/// other decisions. At most `max_variations`.
std::vector<Variation> vary_decisions(const ir::torch::Graph&, const Passes&, std::size_t max_variations = 32);

/// Identifies a graph and what is fixed about its kernels, in stores.
std::string graph_key(const ir::torch::Graph&, const Passes&);
/// Equal for modules with the same kernels in the same order, except for names.
std::string kernels_digest(const ir::Module&);
/// The module of lower_by_trail() with the distributions of each kernel's inputs set (engine/source/fill_kernels.h).
/// Throws Error if `taken` does not fit.
ir::Module lower_to_measure(const ir::torch::Graph&, const Passes& = {}, const Trail& taken = {});

}  // namespace deplo::engine
