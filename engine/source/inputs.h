// The distributions or files that a user sets by name for the inputs of graphs and kernels.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/config.h"
#include "engine/foreign/files.h"
#include "ir/module.h"
#include "ir/torch/graph.h"
#include "measure/check/inputs.h"
#include "measure/work_folder.h"

namespace deplo::engine {

struct TileLaunch;

/// Inputs that a user set by name, with `--inputs FILE` or with an entry's `inputs:` in an experiment.
struct Inputs {
  struct One {
    ir::Fill fill;
    std::string place;      // for messages
    std::string file = {};  // .npy file, used instead of the fill
    // replaces both for a scalar of a user's own kernel: "2.5", "[1, 2]"
    std::string values = {};
  };
  std::map<std::string, One, std::less<>> by_name;
  std::set<std::string> met = {};  // names of all inputs of the graphs and kernels that this was applied to
  std::shared_ptr<const measure::WorkFolder> folder = {};  // holds arrays extracted from .npz files
};

/// Parses "uniform(0.1, 1)", "normal(0, 1)", "randint(0, 100)", "distinct(0, 100)" or "constant(2)". Throws Error,
/// prefixed by `place`.
ir::Fill parse_fill(std::string_view text, std::string_view place);
/// Reads a map from names to such texts, to .npy files, to arrays of .npz files ("x.npz", "x.npz:NAME"), or to values
/// of scalars. File names are relative to the working folder or to `folder`. Throws Error `file:line: …`.
Inputs read_inputs(const Config&, const std::filesystem::path& folder);
/// Reads the map from a YAML file, or all arrays of a .npz file.
Inputs load_inputs(const std::string& file);

/// Sets the distribution or file of each named input, parameter or array. Throws Error if its type cannot represent the
/// values.
void give(Inputs&, ir::torch::Graph&);
void give(Inputs&, ir::Program& loop);
void give(Inputs&, TileLaunch&);
/// Returns the values for the arguments of a user's own kernel. Later inputs override earlier ones.
foreign::GivenArguments given_arguments(std::span<Inputs* const>);
/// Adds the files of a launch's arguments to the inputs, except for arrays that are set already.
void add_files(const TileLaunch&, Inputs&);
/// Returns the files from which the kernel's inputs are read.
measure::InputFiles files_of(const Inputs&, const ir::Program& loop);
/// Throws Error if a name did not match any input.
void check_met(const Inputs&);

}  // namespace deplo::engine
