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

/// The passes of the front half: decompose, optimise, lift, merge. Each pass requires the passes before it.
struct Passes {
  bool optimise = true, lift = true, merge = true;
  bool guard = true;   // false: merge whatever is legal, at any cost
  Target target = {};  // the target that fusion takes into account (source.h)
  Trail fixed = {};    // FuseOptions::fixed
};
/// Parses "d", "do", "dol" or "dolm". Throws Error.
Passes parse_passes(const std::string& text);

ir::tensor::Graph lower_to_tensor(const ir::torch::Graph&, const Passes&);
/// Lowers a graph to verified kernels, with the decisions of fusion in `taken`; the heuristic makes the others. Fails
/// if `taken` does not fit this graph. Throws Error if the graph needs more memory than any device has, or a type that
/// kernels do not support.
Result<rules::Fused> lower_by_trail(const ir::torch::Graph&, const Passes&, const Trail& taken,
                                    const rules::FusionObserver& = {});
/// A graph lowered with decisions of fusion that differ from the heuristic's.
struct Variation {
  Trail changes;  // the decisions that differ; empty: none
  rules::Fused fused;
};
/// Returns the heuristic's variation, then one variation for each other option of each decision, with the heuristic's
/// options for all other decisions. A decision that exists only under such an option is varied together with it.
/// Returns at most `max_variations`.
std::vector<Variation> vary_decisions(const ir::torch::Graph&, const Passes&, std::size_t max_variations = 32);

/// Returns a key that identifies, in stores, a graph and what is fixed about its kernels.
std::string graph_key(const ir::torch::Graph&, const Passes&);
/// Returns a digest that is equal for modules with the same kernels in the same order, ignoring names.
std::string kernels_digest(const ir::Module&);
/// Returns the module of lower_by_trail() with the input distributions of all kernels set
/// (engine/source/fill_kernels.h). Throws Error if `taken` does not fit the graph.
ir::Module lower_to_measure(const ir::torch::Graph&, const Passes& = {}, const Trail& taken = {});

}  // namespace deplo::engine
