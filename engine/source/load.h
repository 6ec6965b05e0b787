// Loads the kernels of a source together with their inputs, ready to be measured.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/source/inputs.h"
#include "engine/source/source.h"
#include "ir/module.h"
#include "measure/baselines/tile_call.h"

namespace deplo::engine {

class OpaqueKernel;

struct LoadedKernel {
  std::size_t number = 0;  // in its graph or program
  ir::Program loop;
  measure::InputFiles files = {};              // of those inputs that have one
  std::optional<measure::TileCall> tile = {};  // for a kernel of a tile program: the program's launch
  /// A tile program block by block, or a kernel file; `loop` then is its signature.
  std::shared_ptr<const OpaqueKernel> opaque = {};
  const std::string& name() const;
};

/// The kernels that a source becomes for a target, after all passes. `inputs` are applied in order; a later one
/// overrides an earlier one. The caller must check that all their names were met (check_met). Throws Error; errors in
/// the source are prefixed by `place`, unless it is empty.
std::vector<LoadedKernel> load(const Source&, const Target&, std::span<Inputs* const> inputs,
                               const std::string& place = {});

/// The kernels that a command line selects.
struct KernelSelection {
  Source source;
  std::optional<std::string> only;  // number or name of one kernel of a graph or a tile program; nullopt: all kernels
};
/// The kernel that `only` names, or all. Throws Error for an unknown one.
std::vector<LoadedKernel> pick_kernels(std::vector<LoadedKernel>, const std::optional<std::string>& only);
std::vector<LoadedKernel> pick_kernels(const ir::Module&, const std::optional<std::string>& only);
/// Loads the selection. Throws Error if `Inputs` names an input that does not exist.
std::vector<LoadedKernel> load(const KernelSelection&, const Target&, Inputs = {});

}  // namespace deplo::engine
