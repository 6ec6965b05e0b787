// The kernels that a command line is about: one by name, or what a graph or a tile program becomes.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/source/inputs.h"
#include "engine/source/source.h"
#include "ir/module.h"
#include "measure/baselines/tile_call.h"

namespace deplo::engine {

struct KernelSelection {
  Source source;
  std::optional<std::string> only;  // of a graph or a tile program: a kernel's number or name; the others are left out
};

struct NumberedKernel {
  std::size_t number = 0;  // in its graph or program
  ir::Program loop;
  measure::InputFiles files = {};              // of its inputs, where they have any
  std::optional<measure::TileCall> tile = {};  // of a tile program: the launch that it is
};
/// All kernels, or the one that `only` names. Throws Error with the names there are.
std::vector<NumberedKernel> pick_kernels(const ir::Module&, const std::optional<std::string>& only);
/// Reads what the source names, with every pass for such a target, and gives it the inputs, all of which must be there.
std::vector<NumberedKernel> read_kernels(const KernelSelection&, const Target&, Inputs = {});

}  // namespace deplo::engine
