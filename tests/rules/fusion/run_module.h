// A module of kernels run in the interpreter or on a device, and the same graph as Tensor IR: shared by several tests.
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

/// Values of every input and parameter, by node, as their fills say, but small whole numbers for i32; others empty.
std::vector<std::vector<double>> random_sources(const ir::torch::Graph&, std::uint64_t seed);

/// The outputs of the module; `sources` are those of the graph that it came from, by name. `run_kernel` writes the
/// outputs of a kernel; nullptr: the interpreter. Adds a failure to the test if a kernel does not verify.
std::vector<std::vector<double>> run(const ir::Module&, const ir::torch::Graph&,
                                     const std::vector<std::vector<double>>& sources,
                                     const std::function<void(const ir::Program&, ir::Memory&)>& run_kernel = nullptr);

/// Decomposes, composes and fuses by the decisions of `taken`; "" where the kernels give what the Torch graph gives, to
/// `tolerance` of the largest element, and compute its formulas in exact arithmetic; else where not, with the kernels.
std::string fused_difference(const ir::torch::Graph&, std::uint64_t seed, const FuseOptions& = {},
                             double tolerance = 1e-6, const Trail& taken = {});

}  // namespace deplo::rules
