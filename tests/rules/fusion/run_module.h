// Runs a module of kernels in the interpreter or on a device, and compares its outputs with those of its graph. Several
// tests use this.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/module.h"
#include "ir/tensor/tensor.h"
#include "ir/torch/graph.h"
#include "rules/fusion/fuse.h"

namespace deplo::rules {

/// Returns a vector of values for each node, which is empty unless the node is an input or a parameter. Values are
/// drawn as the fills say. Instead of a normal distribution, i32 is drawn from -4..4, and a float uniformly from (-2,
/// 2).
std::vector<std::vector<double>> random_sources(const ir::torch::Graph&, std::uint64_t seed);

/// Runs the module and returns its outputs. `sources` has the values of the inputs and parameters, by the nodes of the
/// graph that the module came from. `run_kernel` writes the outputs of a kernel; if it is nullptr, the interpreter
/// does. Adds a failure to the test if a kernel does not pass the verifier.
std::vector<std::vector<double>> run(const ir::Module&, const ir::torch::Graph&,
                                     const std::vector<std::vector<double>>& sources,
                                     const std::function<void(const ir::Program&, ir::Memory&)>& run_kernel = nullptr);

/// Decomposes, composes and fuses the graph with the decisions of `taken`. Returns "" if the kernels' outputs equal
/// those of the Torch graph, up to `tolerance` times the largest element, and if the kernels compute the graph's
/// formulas in exact arithmetic. Otherwise returns the first difference and the kernels.
std::string fused_difference(const ir::torch::Graph&, std::uint64_t seed, const FuseOptions& = {},
                             double tolerance = 1e-6, const Trail& taken = {});

}  // namespace deplo::rules
