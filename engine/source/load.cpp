#include "engine/source/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text/nearest.h"
#include "core/text/number.h"
#include "engine/foreign/kernel_file.h"
#include "engine/source/graph.h"
#include "engine/source/tile_program/block_program.h"
#include "engine/source/tile_program/form.h"
#include "engine/source/tile_program/tile_launch.h"

namespace deplo::engine {
namespace {

std::size_t pick_kernel(const std::vector<LoadedKernel>& kernels, const std::string& only) {
  if (const auto number = parse_number<std::size_t>(only); number && *number < kernels.size()) return *number;
  std::vector<std::string> names;
  for (const LoadedKernel& kernel : kernels) names.push_back(kernel.name());
  const auto found = std::ranges::find(names, only);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string range = kernels.size() == 1 ? "0" : fmt::format("0 … {}", kernels.size() - 1);
  throw Error(fmt::format("--only: expected a kernel's number ({}) or name, found '{}'{}", range, only,
                          did_you_mean(only, names)));
}

/// Runs `work`. Prefixes the message of an Error that it throws by `place`.
template <class Work>
auto at_place(const std::string& place, const Work& work) {
  if (place.empty()) return work();
  try {
    return work();
  } catch (const Error& e) {
    throw Error(place + ": " + e.what(), e.exit());
  }
}

struct Kernels {
  std::vector<ir::Program> loops;
  std::optional<measure::TileCall> tile = {};
  std::shared_ptr<const OpaqueKernel> opaque = {};
};

Kernels read_kernels(const Source& source, const Target& target, std::span<Inputs* const> inputs,
                     const std::string& place) {
  if (source.kind() == SourceKind::kernel) {
    ir::Program loop = read_kernel(source);
    for (Inputs* const one : inputs) give(*one, loop);
    return {{std::move(loop)}};
  }
  if (const foreign::Files* files = source.kernel_file()) {
    auto file = std::make_shared<const foreign::KernelFile>(*files, given_arguments(inputs));
    for (Inputs* const one : inputs)
      for (const std::string& name : file->argument_names()) one->met.insert(name);
    return {{file->signature()}, {}, file};
  }
  if (const TileSource* tile = source.tile()) {
    TileLaunch launch = at_place(place, [&] { return read_launch(*tile); });
    for (Inputs* const one : inputs) {
      give(*one, launch);
      if (one == inputs.front()) add_files(launch, *one);
    }
    LaunchForm form = at_place(place, [&] { return choose_form(launch, source.options, source.decisions); });
    if (!form.module) {
      auto blocks = at_place(place, [&] {
        auto made = std::make_shared<const BlockProgram>(std::move(launch), target);
        made->check_tunable();
        return made;
      });
      return {{blocks->signature()}, {}, blocks};
    }
    give_inputs(launch, *form.module);
    measure::TileCall call = kernel_tile_call(launch, *form.module);
    return {std::move(form.module->kernels), std::move(call)};
  }
  ir::torch::Graph graph = at_place(place, [&] { return read_graph(source); });
  for (Inputs* const one : inputs) give(*one, graph);
  return {at_place(place, [&] {
            return lower_to_measure(graph, passes_of(source.options, target), source.decisions);
          }).kernels};
}

/// Returns the files of the kernel's inputs: `files`, overridden by `inputs`.
measure::InputFiles files_of(std::span<Inputs* const> inputs, const ir::Program& loop, measure::InputFiles files) {
  for (const Inputs* const one : inputs) {
    std::erase_if(files, [&](const auto& file) { return one->by_name.contains(file.first); });
    for (auto& [name, file] : files_of(*one, loop)) files[name] = file;
  }
  return files;
}

}  // namespace

const std::string& LoadedKernel::name() const { return opaque ? opaque->name() : loop.name; }

std::vector<LoadedKernel> load(const Source& source, const Target& target, std::span<Inputs* const> inputs,
                               const std::string& place) {
  Kernels kernels = read_kernels(source, target, inputs, place);
  const bool has_inputs = kernels.opaque != nullptr;  // read_kernels() has applied the inputs to the opaque kernel
  std::vector<LoadedKernel> loaded;
  for (ir::Program& loop : kernels.loops) {
    measure::InputFiles files = kernels.opaque ? kernels.opaque->inputs() : measure::InputFiles{};
    if (!has_inputs) files = files_of(inputs, loop, std::move(files));
    loaded.push_back({loaded.size(), std::move(loop), std::move(files), kernels.tile, kernels.opaque});
  }
  return loaded;
}

std::vector<LoadedKernel> pick_kernels(std::vector<LoadedKernel> kernels, const std::optional<std::string>& only) {
  if (!only) return kernels;
  const std::size_t number = pick_kernel(kernels, *only);
  return {std::move(kernels[number])};
}

std::vector<LoadedKernel> pick_kernels(const ir::Module& module, const std::optional<std::string>& only) {
  std::vector<LoadedKernel> all;
  for (const ir::Program& loop : module.kernels) all.push_back({all.size(), loop});
  return pick_kernels(std::move(all), only);
}

std::vector<LoadedKernel> load(const KernelSelection& selection, const Target& target, Inputs inputs) {
  Inputs* const given[] = {&inputs};
  std::vector<LoadedKernel> kernels = load(selection.source, target, given);
  check_met(inputs);
  return pick_kernels(std::move(kernels), selection.only);
}

}  // namespace deplo::engine
