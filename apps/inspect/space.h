// `deplo space`: describes a kernel's tree of decisions, from random paths or from an enumeration.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/progress.h"
#include "core/target.h"
#include "engine/source/load.h"
#include "engine/source/restrict.h"
#include "search/count.h"

namespace deplo::apps {

/// How many random paths are walked if the user names no number: this many, or as many as all kernels together take
/// this computing time for.
inline constexpr std::size_t usual_paths = 2000;
inline constexpr int usual_seconds = 20;

struct SpaceOptions {
  engine::KernelSelection selection;
  std::string target = "opencl-cpu";
  engine::Restrictions restrictions = {};
  std::optional<std::int64_t> paths = {};  // nullopt: see usual_paths
  std::uint64_t seed = 0;
  bool enumerate = false;       // visit every candidate instead of random paths
  std::size_t limit = 100'000;  // maximum number of candidates to enumerate
  std::size_t sample = 0;       // not 0: print only this many random trails
};

/// One level of the tree.
struct SpaceLevel {
  search::Level level;
  std::vector<Value> heuristic;  // the options on the heuristic's path; empty: that path has no such level
  // The candidates for which another choice at this level gave another kernel, and those for which it gave the same
  // kernel.
  std::size_t changed = 0, unchanged = 0;
};

/// How often a rule was skipped, and why.
struct RuleSkips {
  std::string rule;
  std::size_t paths = 0;                                     // the number of paths on which the rule was skipped
  std::vector<std::pair<std::string, std::size_t>> reasons;  // each with its number of paths, the most frequent first
};

struct SpaceReport {
  std::string kernel;             // the kernel's title
  std::size_t number = 0;         // the kernel's number in its graph
  std::optional<std::size_t> as;  // number of the earlier kernel that this one equals; all members below are then empty
  search::Estimate leaves;        // the number of candidates: estimated, or exact after an enumeration
  bool interrupted = false;       // true: not all paths were walked
  bool shortened = false;         // true: not all of usual_paths were walked, because they take too long
  std::vector<SpaceLevel> levels;
  std::size_t examined = 0;      // number of paths (the first ones) from which the next three members were computed
  std::size_t candidates = 0;    // distinct candidates on these paths
  std::size_t kernels = 0;       // distinct sources to which these candidates are lowered
  std::vector<RuleSkips> skips;  // in the order of the pipeline
};

/// A set of kernels that a graph may become by decisions of fusion.
struct KernelSetReport {
  std::string changes;  // the decisions that are not the heuristic's; "": none
  std::size_t kernels = 0;
};
/// Returns the sets of a graph, the heuristic's first. Empty if the source is not a graph, if it has no decisions,
/// or after an interrupt. Fuses the graph once for each set.
std::vector<KernelSetReport> explore_graph(const SpaceOptions&, Progress&);

/// Returns a report for each kernel. Ends early after an interrupt (core/interrupt.h), with the results so far. Throws
/// Error if a space exceeds the limit of an enumeration.
std::vector<SpaceReport> explore(const SpaceOptions&, const std::vector<engine::LoadedKernel>&, Progress&);
/// Returns `options.sample` distinct random trails of each kernel (fewer if there are not as many), one per line.
std::string sample(const SpaceOptions&, const std::vector<engine::LoadedKernel>&);

/// Returns the report's tables. `width`: the window's width in columns; 0: no limit.
std::string print_table(const SpaceOptions&, const std::vector<KernelSetReport>&, const std::vector<SpaceReport>&,
                        std::size_t width);
std::string print_json(const SpaceOptions&, const std::vector<KernelSetReport>&, const std::vector<SpaceReport>&);

}  // namespace deplo::apps
