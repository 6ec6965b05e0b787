// An experiment: which kernels to tune, where, how, and for how long. One YAML file; docs in experiments/smoke.yaml.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/source/inputs.h"
#include "engine/source/options.h"
#include "engine/source/restrict.h"
#include "ir/program.h"
#include "measure/baselines/tile_call.h"
#include "search/searcher.h"

namespace deplo::engine {

// What YAML and flags accept.
inline constexpr std::int64_t most_extent = std::int64_t{1} << 31;
inline constexpr std::int64_t most_count = 1'000'000'000;
inline constexpr double most_seconds = 30 * 86400.0;

struct KernelCase {
  std::string name;   // as in the table and in the store
  std::string place;  // file:line, for messages
  ir::Program loop;
  Restrictions restrictions = {};              // the experiment's, then its own
  measure::InputFiles files = {};              // of its inputs, where they have any
  std::optional<measure::TileCall> tile = {};  // of a tile program: the launch that it is
  std::vector<std::string> same = {};          // names of the kernels that are equal to it: tuned once
  std::int64_t count() const { return 1 + static_cast<std::int64_t>(same.size()); }
};

struct Experiment {
  std::string file;
  std::string name;                   // its own, "": it has none
  std::string text;                   // of the file: stored with the run
  std::string target = "auto";        // a name under configs/targets, or auto: what the device is
  std::string restrictions = "auto";  // a name under configs/restrictions, none, or auto: the target's default
  std::string device = "opencl";
  std::string strategy = "default";
  search::SearchOptions options;
  double seconds = 300;        // for all kernels together
  std::int64_t trials = 100;   // new measurements per kernel, the heuristic's included
  std::int64_t patience = 60;  // new measurements of one kernel in a row without a new best
  std::vector<KernelCase> kernels;
};

/// What an experiment calls itself; "" where it does not, or where the text is none. For texts that a store has kept.
std::string experiment_name(const std::string& text);
/// Where it runs, in place of what an experiment says of it.
struct Place {
  std::optional<std::string> target = {}, device = {};
};
/// `inputs` are given to every kernel and graph that has them, over what their entries say; `options` and `place`
/// come before the experiment's own. Throws Error `file:line: expected …, found …`.
Experiment load_experiment(const std::filesystem::path& file, Inputs inputs = {}, const SourceOptions& options = {},
                           const Place& place = {});
/// The same of a text. `file` is for messages; other files may be named as seen from `folder`.
Experiment parse_experiment(std::string text, const std::string& file, const std::filesystem::path& folder,
                            Inputs inputs = {}, const SourceOptions& options = {}, const Place& place = {});
/// Throws Error `place: expected WHAT (NAMES), found …` unless the name is one of them.
void check_name(std::string_view place, std::string_view what, const std::string& name,
                const std::vector<std::string>& names);
/// Each throws Error, prefixed by `place`, that lists the names there are.
void check_strategy(const std::string& name, std::string_view place);
/// `NAME=VALUE` of a hyperparameter of the experiment's strategy; throws Error.
void set_parameter(Experiment&, const std::string& assignment, std::string_view place);
void check_target(const std::string& name, std::string_view place);
void check_device(const std::string& name, std::string_view place);

}  // namespace deplo::engine
