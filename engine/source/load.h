// From a source to kernels that can be measured, their inputs included.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/source/inputs.h"
#include "engine/source/source.h"
#include "ir/module.h"
#include "measure/baselines/tile_call.h"

namespace deplo::engine {

struct LoadedKernel {
  std::size_t number = 0;  // in its graph or program
  ir::Program loop;
  measure::InputFiles files = {};              // of its inputs, where they have any
  std::optional<measure::TileCall> tile = {};  // of a tile program: the launch that it is
};

/// The kernels that a source becomes for such a target, by every pass. It is given each of `inputs` in turn: a later one
/// replaces what an earlier one says. Whether all their names were met is the caller's to check. Throws Error; what is
/// wrong with the source is prefixed by `place`, unless that is empty.
std::vector<LoadedKernel> load(const Source&, const Target&, std::span<Inputs* const> inputs,
                               const std::string& place = {});

/// What a command line is about.
struct KernelSelection {
  Source source;
  std::optional<std::string> only;  // of a graph or a tile program: a kernel's number or name; the others are left out
};
/// The kernel that `only` names, or all. Throws Error with the names there are.
std::vector<LoadedKernel> pick_kernels(std::vector<LoadedKernel>, const std::optional<std::string>& only);
std::vector<LoadedKernel> pick_kernels(const ir::Module&, const std::optional<std::string>& only);
/// Loads the selection. Throws Error for a name of an input that nothing has.
std::vector<LoadedKernel> load(const KernelSelection&, const Target&, Inputs = {});

}  // namespace deplo::engine
