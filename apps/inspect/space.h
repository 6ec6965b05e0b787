// `deplo space`: the tree of decisions of a kernel, measured by random paths or walked to the end.
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

struct SpaceOptions {
  engine::KernelSelection selection;
  std::string target = "opencl-cpu";
  engine::Restrictions restrictions = {};
  std::size_t paths = 2000;
  std::uint64_t seed = 0;
  bool enumerate = false;       // every candidate in place of random paths
  std::size_t limit = 100'000;  // of candidates to enumerate
  std::size_t sample = 0;       // not 0: that many random trails and nothing else
};

/// One level of the tree.
struct SpaceLevel {
  search::Level level;
  std::vector<Value> heuristic;            // the options on the way that takes options[0]; empty: it does not come by
  std::size_t changed = 0, unchanged = 0;  // candidates of which this choice was changed: another kernel, or the same
};

/// Why a rule left the program alone.
struct RuleSkips {
  std::string rule;
  std::size_t paths = 0;                                     // on which it did
  std::vector<std::pair<std::string, std::size_t>> reasons;  // the most frequent first, with their paths
};

struct SpaceReport {
  std::string kernel;             // as a title
  std::size_t number = 0;         // in its graph
  std::optional<std::size_t> as;  // the kernel of the graph that it equals; nothing below is filled then
  search::Estimate leaves;        // of an enumeration: their number
  bool interrupted = false;       // not all paths were walked
  std::vector<SpaceLevel> levels;
  std::size_t examined = 0;      // paths, the first ones, that what follows was learnt from
  std::size_t candidates = 0;    // distinct ones among them
  std::size_t kernels = 0;       // distinct sources that they lower to
  std::vector<RuleSkips> skips;  // in the order of the pipeline
};

/// Reports of all kernels. Ends early, with what there is, when a signal came
/// (core/interrupt.h). Throws Error for a space beyond the limit.
std::vector<SpaceReport> explore(const SpaceOptions&, const std::vector<engine::LoadedKernel>&, Progress&);
/// `options.sample` trails of each kernel, each drawn once (fewer where there are no more), one a line.
std::string sample(const SpaceOptions&, const std::vector<engine::LoadedKernel>&);

/// For a window of that many columns; 0: no limit.
std::string print_table(const SpaceOptions&, const std::vector<SpaceReport>&, std::size_t width);
std::string print_json(const SpaceOptions&, const std::vector<SpaceReport>&);

}  // namespace deplo::apps
