#include "engine/source/graph.h"

#include <fmt/format.h>

#include "core/error.h"
#include "engine/source/experiment.h"
#include "engine/source/fill_kernels.h"
#include "engine/source/kernel.h"
#include "ir/hardware/mma.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"

namespace deplo::engine {
Passes parse_passes(const std::string& text) {
  check_name("--passes", "a prefix of dolm", text, {"d", "do", "dol", "dolm"});
  Passes passes;
  passes.optimise = text.size() > 1;
  passes.lift = text.size() > 2;
  passes.merge = text.size() > 3;
  return passes;
}

ir::tensor::Graph lower_to_tensor(const ir::torch::Graph& graph, const Passes& passes) {
  ir::tensor::Graph tensors = rules::decompose(graph);
  return passes.optimise ? rules::compose(tensors) : tensors;
}

ir::Module lower_to_module(const ir::torch::Graph& graph, const Passes& passes,
                           const rules::AttentionObserver& observer) {
  CHECK(passes.lift);
  const ir::tensor::Graph tensors = lower_to_tensor(graph, passes);
  if (tensors.outputs.empty()) return {};  // all are without elements
  ir::Module module = rules::fuse(
      tensors, {.merge = passes.merge, .guard = passes.guard, .attention = passes.attention, .target = passes.target},
      observer);
  for (ir::Program& kernel : module.kernels) {
    kernel.allow_tf32 =
        graph.allow_tf32 && !ir::mma::find_products(kernel, ir::mma::Operands::tf32).empty();  // others keep their keys
    if (passes.merge) check_size(kernel, "the graph");  // a lifted matmul has all its products, to be looked at only
    if (const std::string fault = ir::verify(kernel); !fault.empty())
      throw Error(fmt::format("the graph: expected kernels that verify, found in {}: {}", kernel.name, fault));
  }
  return module;
}

ir::Module lower_to_measure(const ir::torch::Graph& graph, const Passes& passes) {
  ir::Module module = lower_to_module(graph, passes);
  fill_kernels(module);
  return module;
}

}  // namespace deplo::engine
