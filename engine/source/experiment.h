// An experiment: which kernels to tune, on which device, how, and for how long. It is one YAML file;
// experiments/smoke.yaml documents the format.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/source/inputs.h"
#include "engine/source/options.h"
#include "engine/source/restrict.h"
#include "engine/source/shapes.h"
#include "engine/source/source.h"
#include "ir/program.h"
#include "measure/baselines/tile_call.h"
#include "measure/protocol/protocol.h"
#include "measure/store/quantity.h"
#include "search/searcher.h"

namespace deplo::engine {

// Upper bounds on values in YAML and flags.
inline constexpr std::int64_t max_extent = std::int64_t{1} << 31;
inline constexpr std::int64_t max_count = 1'000'000'000;
inline constexpr double max_seconds = 30 * 86400.0;
inline constexpr double largest_goal = 100;  // of a search's goal, which is a ratio of times

class OpaqueKernel;

struct KernelCase {
  std::string name;   // its name in tables and in the store
  std::string place;  // file:line, for messages
  ir::Program loop;
  Restrictions restrictions = {};                   // the experiment's, then the entry's own
  measure::InputFiles files = {};                   // for the inputs that are read from files
  std::optional<measure::TileCall> tile = {};       // for a kernel of a tile program: the program's launch
  std::shared_ptr<const OpaqueKernel> opaque = {};  // not null: `loop` is only its signature
  measure::Objectives objectives = {};              // what the search minimises
  // names of the other kernels of the experiment that are equal to this one; all are tuned as one
  std::vector<std::string> same = {};
  bool alternative = false;  // true: the heuristic's decisions of fusion do not make this kernel
  std::int64_t count() const { return 1 + static_cast<std::int64_t>(same.size()); }
};

/// A graph, or a launch of a tile program, among the sources of an experiment. Other decisions about it may give it
/// other kernels (engine/tune/kernel_sets.h).
struct GraphCase {
  std::string name, place;
  Source source;
  std::vector<Inputs> inputs;  // later inputs override earlier ones
  Restrictions restrictions;
  std::vector<std::string> kernels;  // the names of the heuristic's kernels, in order
  measure::Objectives objectives = {};
};

/// An entry whose kernels are tuned for several shapes. Its kernels are those of the heuristic's decisions of fusion.
struct FamilyCase {
  struct Kernel {
    std::string what;  // Program::name, which is the same for all shapes
    std::string name;  // name of the experiment's kernel, or one of its KernelCase::same
  };
  struct Member {
    ir::Symbols shape;  // the sizes that vary in the family
    bool held_out = false;
    std::vector<Kernel> kernels;
  };
  /// A shape between the members' shapes. The chosen schedules are measured on it, but it is not tuned.
  struct Between {
    ir::Symbols shape;
    std::vector<KernelCase> kernels;  // here Program::name equals Kernel::what
  };
  std::string name, place;
  std::vector<Member> members;
  std::vector<Between> between = {};
};

/// Returns the text that identifies the kernel in a store.
std::string stored_text(const KernelCase&);
std::string stored_text(const ir::Program& loop);

struct Experiment {
  std::string file;
  std::string name;             // "": the experiment has no name
  std::string text;             // text of the file; it is stored with the run
  std::string target = "auto";  // a name under configs/targets, or "auto": the device's own target
  // a name under configs/restrictions, "none", or "auto": the target's default
  std::string restrictions = "auto";
  std::string device = "opencl";
  std::string strategy = "default";
  search::SearchOptions options;
  double seconds = 300;        // for all kernels together
  std::int64_t trials = 100;   // new measurements per kernel, including the heuristic's
  double goal = 1;             // search::Budget::goal; 1: none
  std::int64_t patience = 60;  // consecutive new measurements of one kernel without a new best
  measure::Protocol protocol = {};
  std::vector<KernelCase> kernels;
  std::vector<GraphCase> graphs;
  std::vector<FamilyCase> families = {};
  FamilyGoal family_goal = {};
};

/// Returns the name in an experiment's text, or "" if there is none or the text is not an experiment. For texts from a
/// store.
std::string experiment_name(const std::string& text);
/// Overrides of the experiment's target and device, and the decisions of fusion for its graphs.
struct Place {
  std::optional<std::string> target = {}, device = {};
  /// The decisions about a source as a whole (engine/source/alternatives.h); empty: the heuristic's.
  std::function<Trail(const Source&, const Target&)> decisions = {};
};
/// Loads an experiment. `inputs` apply to every kernel and graph that has inputs of these names, and override the
/// inputs of the entries. `options` and `place` override the experiment's own values. Throws Error `file:line: expected
/// …, found …`.
Experiment load_experiment(const std::filesystem::path& file, Inputs inputs = {}, const SourceOptions& options = {},
                           const Place& place = {});
/// Like load_experiment(), but for a text. `file` is for messages. Names of other files may be relative to `folder`.
Experiment parse_experiment(std::string text, const std::string& file, const std::filesystem::path& folder,
                            Inputs inputs = {}, const SourceOptions& options = {}, const Place& place = {});
/// Throws Error `place: expected WHAT (NAMES), found …` unless `name` is one of `names`.
void check_name(std::string_view place, std::string_view what, const std::string& name,
                const std::vector<std::string>& names);
/// check_strategy, check_target and check_device throw Error, prefixed by `place`. The message lists the valid names.
void check_strategy(const std::string& name, std::string_view place);
/// Throws Error if a restriction names a parameter that none of its kernel files has, or only values that the parameter
/// does not have.
void check_parameters(const std::vector<KernelCase>&);
/// Sets a hyperparameter of the experiment's strategy. `assignment` is NAME=VALUE. Throws Error.
void set_parameter(Experiment&, const std::string& assignment, std::string_view place);
void check_target(const std::string& name, std::string_view place);
void check_device(const std::string& name, std::string_view place);

}  // namespace deplo::engine
