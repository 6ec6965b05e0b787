// What the inputs of graphs and kernels are drawn from: as an expression says, or as a user asks for by name.
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

/// By name: of `--inputs FILE`, or of an entry's `inputs:` in an experiment.
struct Inputs {
  struct One {
    ir::Fill fill;
    std::string place;      // for messages
    std::string file = {};  // .npy, in place of the fill
  };
  std::map<std::string, One, std::less<>> by_name;
  std::set<std::string> met = {};  // the names that there were, of all that they were given to
};

/// "uniform(0.1, 1)", "normal(0, 1)", "randint(0, 100)" or "constant(2)". Throws Error, prefixed by `place`.
ir::Fill parse_fill(std::string_view text, std::string_view place);
/// A map from names to such texts or to .npy files, as seen from the working folder or from `folder`. Throws Error
/// `file:line: …`.
Inputs read_inputs(const Config&, const std::filesystem::path& folder);
Inputs load_inputs(const std::string& file);

/// Gives the inputs, parameters and arrays that are named what they are to be drawn from. Throws Error where their type
/// does not hold it.
void give(Inputs&, ir::torch::Graph&);
void give(Inputs&, ir::Program& loop);
void give(Inputs&, TileLaunch&);
/// Adds the files that a launch's arguments name, unless their arrays were given something else.
void add_files(const TileLaunch&, Inputs&);
/// The files that the inputs of a kernel of such a graph, or of such a loop, take their values from.
measure::InputFiles files_of(const Inputs&, const ir::Program& loop);
/// Throws Error for a name that nothing had.
void check_met(const Inputs&);

}  // namespace deplo::engine
