#include "engine/source/kernel_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/error.h"
#include "core/text/nearest.h"
#include "engine/source/graph.h"
#include "engine/source/tile_launch.h"

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

std::vector<NumberedKernel> pick_kernels(const ir::Module& module, const std::optional<std::string>& only) {
  std::size_t begin = 0, end = module.kernels.size();
  if (only) end = (begin = pick_kernel(module.kernels, *only)) + 1;
  std::vector<NumberedKernel> picked;
  for (std::size_t i = begin; i < end; ++i) picked.push_back({i, module.kernels[i]});
  return picked;
}

namespace {

std::vector<NumberedKernel> read_selection(const KernelSelection& selection, const Target& target, Inputs& inputs) {
  if (const auto* kernel = std::get_if<LoopKernel>(&selection.source)) {
    NumberedKernel only{0, read_kernel(*kernel)};
    give(inputs, only.loop);
    return {std::move(only)};
  }
  if (const auto* tile = std::get_if<TileSource>(&selection.source)) {
    TileLaunch launch = read_launch(*tile);
    give(inputs, launch);
    add_files(launch, inputs);
    const ir::Module module = lower_to_measure(launch);
    std::vector<NumberedKernel> kernels = pick_kernels(module, selection.only);
    for (NumberedKernel& kernel : kernels) kernel.tile = kernel_tile_call(launch, module);
    return kernels;
  }
  const auto& source = std::get<GraphSource>(selection.source);
  ir::torch::Graph graph = read_graph(source);
  give(inputs, graph);
  return pick_kernels(lower_to_measure(graph, passes_of(source, target)), selection.only);
}

}  // namespace

std::vector<NumberedKernel> read_kernels(const KernelSelection& selection, const Target& target, Inputs inputs) {
  std::vector<NumberedKernel> kernels = read_selection(selection, target, inputs);
  check_met(inputs);
  for (NumberedKernel& kernel : kernels) kernel.files = files_of(inputs, kernel.loop);
  return kernels;
}

}  // namespace deplo::engine
