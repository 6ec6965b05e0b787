#include "engine/source/graph.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "engine/loop/kernel.h"
#include "engine/source/experiment.h"
#include "engine/source/fill_kernels.h"
#include "ir/canonical/canonical.h"
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

Result<rules::Fused> lower_by_trail(const ir::torch::Graph& graph, const Passes& passes, const Trail& taken,
                                    const rules::FusionObserver& observer) {
  CHECK(passes.lift);
  const ir::tensor::Graph tensors = lower_to_tensor(graph, passes);
  if (tensors.outputs.empty()) return rules::Fused{};  // all outputs are empty
  Result<rules::Fused> fused = rules::fuse(
      tensors, taken, {.merge = passes.merge, .guard = passes.guard, .target = passes.target, .fixed = passes.fixed},
      observer);
  if (!fused.ok()) return fused;
  for (ir::Program& kernel : fused.value().module.kernels) {
    // Kernels without tf32 products keep their keys.
    kernel.allow_tf32 = graph.allow_tf32 && !ir::mma::find_products(kernel, ir::mma::Operands::tf32).empty();
    // a lifted but unmerged matmul holds all its products; it is only for display
    if (passes.merge) check_size(kernel, "the graph");
    if (const std::string fault = ir::verify(kernel); !fault.empty())
      throw Error(fmt::format("the graph: expected well-formed kernels, found in {}: {}", kernel.name, fault));
  }
  return fused;
}

namespace {

class Variations {
 public:
  Variations(const ir::torch::Graph& graph, const Passes& passes, std::size_t max_variations)
      : graph_(graph), passes_(passes), max_variations_(max_variations) {}

  void add(const Trail& changes) {
    if (found_.size() == max_variations_) return;
    Result<rules::Fused> fused = lower_by_trail(graph_, passes_, changes);
    if (!fused.ok()) return;  // the change removes a decision that was changed before
    std::vector<Fork> forks = fused.value().forks;
    found_.push_back({changes, std::move(fused.value())});
    std::erase_if(forks, [&](const Fork& fork) { return !varied_.insert(fork.knob).second; });
    for (const Fork& fork : forks)
      for (std::size_t i = 1; i < fork.options.size(); ++i) {
        Trail more = changes;
        more.push_back({fork.knob, fork.options[i]});
        add(more);
      }
  }
  std::vector<Variation> take() { return std::move(found_); }

 private:
  const ir::torch::Graph& graph_;
  const Passes& passes_;
  std::size_t max_variations_;
  std::set<std::string> varied_;  // knobs that are varied already
  std::vector<Variation> found_;
};

}  // namespace

std::vector<Variation> vary_decisions(const ir::torch::Graph& graph, const Passes& passes, std::size_t max_variations) {
  Variations variations(graph, passes, max_variations);
  variations.add({});
  return variations.take();
}

std::string graph_key(const ir::torch::Graph& graph, const Passes& passes) {
  return digest(fmt::format("{}\nfixed {}\n{}", print(lower_to_tensor(graph, passes)), print(passes.fixed),
                            graph.allow_tf32 ? "allow tf32" : ""));
}

std::string kernels_digest(const ir::Module& module) {
  std::string text;
  for (const ir::Program& kernel : module.kernels) text += print(ir::canonical(kernel).program) + "\n";
  return digest(text);
}

ir::Module lower_to_measure(const ir::torch::Graph& graph, const Passes& passes, const Trail& taken) {
  ir::Module module = lower_by_trail(graph, passes, taken).value_or_throw().module;
  fill_kernels(module);
  return module;
}

}  // namespace deplo::engine
