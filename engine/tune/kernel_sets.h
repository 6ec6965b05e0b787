// The alternative sets of kernels that a source may become, depending on decisions about the source as a whole
// (engine/source/alternatives.h). Tuning measures the sets and chooses the one with the least total time.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/target.h"
#include "core/trail.h"
#include "engine/source/alternatives.h"
#include "engine/source/experiment.h"

namespace deplo::engine {

struct KernelSet : Alternative {
  std::vector<std::string> kernels;  // names of kernels in the experiment, one for each launch
};

class KernelSets {
 public:
  /// Varies each decision about the source once, with the heuristic's options for all other decisions. Adds to the
  /// experiment the kernels that it does not have yet. The experiment must already have the heuristic's kernels of the
  /// graph. Throws Error with the graph's place.
  KernelSets(const GraphCase&, const Target&, Experiment&);

  const std::string& name() const { return name_; }
  const std::string& key() const { return key_; }
  const std::vector<KernelSet>& sets() const { return sets_; }  // [0] is the heuristic's set

  struct Chosen {
    KernelSet set;
    std::size_t sets = 0;  // number of sets that had times
    double heuristic_us = 0, best_us = 0;
  };
  /// Returns the time of a kernel of the experiment in µs; 0: the kernel has no time.
  using TimeOf = std::function<double(const std::string& kernel)>;
  /// Returns the set with the least sum of times. Among equally fast sets (engine/tune/ties.h), the one with the fewest
  /// changes wins. Changes that help are also combined if all kernels of the combination have times. Returns nullopt if
  /// the heuristic's set has no time.
  std::optional<Chosen> choose(const TimeOf&) const;
  /// Returns each kernel's share of the tuning time, before the kernels are tuned. The unit is the share of one row of
  /// the experiment; the sum is at most one row per set. A set gets less if it takes longer than the fastest set, and
  /// nothing if it takes more than `max_behind` times as long, because tuning rarely speeds up a kernel by that much.
  std::map<std::string, double> weights(const TimeOf&) const;
  static constexpr double max_behind = 3;

 private:
  void add(Alternative, Experiment&);
  std::optional<KernelSet> known(const Trail& changes) const;
  std::vector<KernelCase> kernels_of(const Trail& trail) const;

  GraphCase case_;
  Target target_;
  Alternatives source_;
  std::string name_, key_;
  std::map<std::string, std::string> names_;  // names of kernels, by identity()
  std::vector<KernelSet> sets_;
};

/// Returns the sets of all graphs of the experiment, and adds their kernels to the experiment. Leaves out graphs that
/// have only one set, and graphs of which the experiment lacks kernels because it is a shard.
std::vector<KernelSets> add_kernel_sets(Experiment&, const Target&);

}  // namespace deplo::engine
