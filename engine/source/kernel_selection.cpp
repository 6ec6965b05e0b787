#include "engine/source/kernel_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/error.h"
#include "core/text/nearest.h"
#include "engine/source/kernel.h"

namespace deplo::engine {
namespace {

std::size_t pick_kernel(const std::vector<ir::Program>& kernels, const std::string& only) {
  std::size_t number = 0;
  const char* const end = only.data() + only.size();
  const auto [stop, error] = std::from_chars(only.data(), end, number);
  if (error == std::errc() && stop == end && number < kernels.size()) return number;
  std::vector<std::string> names;
  for (const ir::Program& kernel : kernels) names.push_back(kernel.name);
  const auto found = std::ranges::find(names, only);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string range = kernels.size() == 1 ? "0" : fmt::format("0 … {}", kernels.size() - 1);
  throw Error(fmt::format("--only: expected a kernel's number ({}) or name, found '{}'{}", range, only,
                          did_you_mean(only, names)));
}

}  // namespace

bool KernelSelection::is_empty() const {
  return kernel.empty() && symbols.empty() && !only && !graph.code && !graph.file && !graph.pt2 && !graph.model &&
         !graph.layer && !graph.seq;
}

void check_source(const KernelSelection& source) {
  const bool graph = source.kernel.empty();
  check_source(source.graph, !graph);
  if (graph && !source.symbols.empty()) throw Error("--symbol: expected --kernel with it, found a graph");
  if (!graph && source.only) throw Error("--only: expected a graph (-c, …) with it, found --kernel");
}

std::vector<NumberedKernel> pick_kernels(const ir::Module& module, const std::optional<std::string>& only) {
  std::size_t begin = 0, end = module.kernels.size();
  if (only) end = (begin = pick_kernel(module.kernels, *only)) + 1;
  std::vector<NumberedKernel> picked;
  for (std::size_t i = begin; i < end; ++i) picked.push_back({i, module.kernels[i]});
  return picked;
}

std::vector<NumberedKernel> read_kernels(const KernelSelection& source, Inputs inputs) {
  if (!source.kernel.empty()) {
    NumberedKernel kernel{0, load_kernel(source.kernel, source.symbols, "--kernel")};
    give(inputs, kernel.loop);
    check_met(inputs);
    return {std::move(kernel)};
  }
  ir::torch::Graph graph = read_graph(source.graph, "-c");
  give(inputs, graph);
  check_met(inputs);
  return pick_kernels(lower_to_measure(graph, "the graph"), source.only);
}

}  // namespace deplo::engine
