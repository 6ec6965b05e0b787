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
  std::size_t number = 0;  // index of the kernel in its graph or tile program
  ir::Program loop;
  measure::InputFiles files = {};              // files of the inputs that are read from files
  std::optional<measure::TileCall> tile = {};  // for a kernel of a tile program: the program's launch
  /// Set for a tile program that runs block by block, and for a kernel file. `loop` is then only the signature.
  std::shared_ptr<const OpaqueKernel> opaque = {};
  const std::string& name() const;
};

/// Returns the kernels that a source becomes for a target, after all passes. `inputs` are applied in order; later ones
/// override earlier ones. The caller must check that all their names were met (check_met). Throws Error; errors in a
/// graph or a tile program are prefixed by `place`, unless it is empty.
std::vector<LoadedKernel> load(const Source&, const Target&, std::span<Inputs* const> inputs,
                               const std::string& place = {});

/// The kernels that a command line selects.
struct KernelSelection {
  Source source;
  std::optional<std::string> only;  // number or name of one kernel of a graph or a tile program; nullopt: all kernels
};
/// Returns the kernel that `only` selects by its number or name; nullopt: all kernels. Throws Error if there is no such
/// kernel.
std::vector<LoadedKernel> pick_kernels(std::vector<LoadedKernel>, const std::optional<std::string>& only);
std::vector<LoadedKernel> pick_kernels(const ir::Module&, const std::optional<std::string>& only);
/// Loads the selected kernels. Throws Error if `Inputs` names an input that does not exist.
std::vector<LoadedKernel> load(const KernelSelection&, const Target&, Inputs = {});

}  // namespace deplo::engine
