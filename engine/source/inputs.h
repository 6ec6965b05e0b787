// The distributions or files of the inputs of graphs and kernels, as a user sets them by name.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/config.h"
#include "ir/module.h"
#include "ir/torch/graph.h"
#include "measure/check/inputs.h"

namespace deplo::engine {

struct TileLaunch;

/// What a user set by name: with `--inputs FILE`, or with an entry's `inputs:` in an experiment.
struct Inputs {
  struct One {
    ir::Fill fill;
    std::string place;      // for messages
    std::string file = {};  // .npy file, used instead of the fill
  };
  std::map<std::string, One, std::less<>> by_name;
  std::set<std::string> met = {};  // the names of all inputs of everything that they were given to
};

/// Parses "uniform(0.1, 1)", "normal(0, 1)", "randint(0, 100)", "distinct(0, 100)" or "constant(2)". Throws Error, prefixed
/// by `place`.
ir::Fill parse_fill(std::string_view text, std::string_view place);
/// Reads a map from names to such texts or to .npy files. Files are relative to the working folder or to `folder`. Throws
/// Error `file:line: …`.
Inputs read_inputs(const Config&, const std::filesystem::path& folder);
Inputs load_inputs(const std::string& file);

/// Sets the distribution or the file of each named input, parameter or array. Throws Error if its type cannot hold the
/// values.
void give(Inputs&, ir::torch::Graph&);
void give(Inputs&, ir::Program& loop);
void give(Inputs&, TileLaunch&);
/// Adds the files that a launch's arguments name, unless their arrays are already set.
void add_files(const TileLaunch&, Inputs&);
/// The files from which the inputs of a kernel take their values.
measure::InputFiles files_of(const Inputs&, const ir::Program& loop);
/// Throws Error if a name matched nothing.
void check_met(const Inputs&);

}  // namespace deplo::engine
