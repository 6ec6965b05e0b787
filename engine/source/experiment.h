// An experiment: which kernels to tune, where, how, and for how long. It is one YAML file; experiments/smoke.yaml
// documents the format.
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
inline constexpr std::int64_t most_extent = std::int64_t{1} << 31;
inline constexpr std::int64_t most_count = 1'000'000'000;
inline constexpr double most_seconds = 30 * 86400.0;
inline constexpr double largest_goal = 100;  // of a search, as a ratio of times

class OpaqueKernel;

struct KernelCase {
  std::string name;   // in the table and in the store
  std::string place;  // file:line, for messages
  ir::Program loop;
  Restrictions restrictions = {};                   // the experiment's, then its own
  measure::InputFiles files = {};                   // of those inputs that have one
  std::optional<measure::TileCall> tile = {};       // for a kernel of a tile program: the program's launch
  std::shared_ptr<const OpaqueKernel> opaque = {};  // `loop` then is its signature
  measure::Objectives objectives = {};              // what its search minimises
  std::vector<std::string> same = {};  // names of the other kernels that are equal to it; all are tuned as one
  bool alternative = false;            // the heuristic's decisions of fusion make no such kernel
  std::int64_t count() const { return 1 + static_cast<std::int64_t>(same.size()); }
};

/// A graph, or a launch of a tile program, among the sources of an experiment. Other decisions about it may give it
/// other kernels (engine/tune/kernel_sets.h).
struct GraphCase {
  std::string name, place;
  Source source;
  std::vector<Inputs> inputs;  // a later one overrides an earlier one
  Restrictions restrictions;
  std::vector<std::string> kernels;  // the heuristic's, by name, in order
  measure::Objectives objectives = {};
};

/// An entry whose kernels are tuned for several shapes. The heuristic's decisions of fusion make its kernels.
struct FamilyCase {
  struct Kernel {
    std::string what;  // Program::name: the same for all shapes
    std::string name;  // in the experiment, or among KernelCase::same
  };
  struct Member {
    ir::Symbols shape;  // the sizes that differ from shape to shape
    bool held_out = false;
    std::vector<Kernel> kernels;
  };
  /// A shape between those of the members. The kept schedules are measured on it; it is not tuned.
  struct Between {
    ir::Symbols shape;
    std::vector<KernelCase> kernels;  // Program::name is Kernel::what
  };
  std::string name, place;
  std::vector<Member> members;
  std::vector<Between> between = {};
};

/// The text by which a store knows the kernel.
std::string stored_text(const KernelCase&);
std::string stored_text(const ir::Program& loop);

struct Experiment {
  std::string file;
  std::string name;                   // "": it has none
  std::string text;                   // of the file: stored with the run
  std::string target = "auto";        // a name under configs/targets, or auto: the device's own target
  std::string restrictions = "auto";  // a name under configs/restrictions, none, or auto: the default of the target
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

/// The name in an experiment's text; "" if there is none, or if the text is not an experiment. For texts from a store.
std::string experiment_name(const std::string& text);
/// Where the experiment runs, overriding what it says itself, and as what kernels.
struct Place {
  std::optional<std::string> target = {}, device = {};
  /// The decisions about a source as a whole (engine/source/alternatives.h); empty: the heuristic's.
  std::function<Trail(const Source&, const Target&)> decisions = {};
};
/// `inputs` go to every kernel and graph that has inputs of these names, and override what their entries say. `options`
/// and `place` override the experiment's own. Throws Error `file:line: expected …, found …`.
Experiment load_experiment(const std::filesystem::path& file, Inputs inputs = {}, const SourceOptions& options = {},
                           const Place& place = {});
/// The same for a text. `file` is for messages. Other files may be named relative to `folder`.
Experiment parse_experiment(std::string text, const std::string& file, const std::filesystem::path& folder,
                            Inputs inputs = {}, const SourceOptions& options = {}, const Place& place = {});
/// Throws Error `place: expected WHAT (NAMES), found …` unless `name` is one of `names`.
void check_name(std::string_view place, std::string_view what, const std::string& name,
                const std::vector<std::string>& names);
/// check_strategy, check_target and check_device throw Error, prefixed by `place`, that lists the valid names.
void check_strategy(const std::string& name, std::string_view place);
/// Throws Error if a restriction names a parameter that no kernel file among those that have the restriction has, or
/// none of its values.
void check_parameters(const std::vector<KernelCase>&);
/// `assignment`: NAME=VALUE for a hyperparameter of the experiment's strategy. Throws Error.
void set_parameter(Experiment&, const std::string& assignment, std::string_view place);
void check_target(const std::string& name, std::string_view place);
void check_device(const std::string& name, std::string_view place);

}  // namespace deplo::engine
