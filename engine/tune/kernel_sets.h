// The sets of kernels that a source may become, by decisions about it as a whole (engine/source/alternatives.h). Tuning
// measures them and chooses the one whose kernels take the least time together.
#pragma once
#include <cstdint>
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
  std::vector<std::string> kernels;  // by the names in the experiment, one for each launch
};

class KernelSets {
 public:
  /// Varies each decision about the source once, with the heuristic's options for the others, and adds to the experiment
  /// the kernels that it does not have yet. It must have the kernels of the graph. Throws Error with the graph's place.
  KernelSets(const GraphCase&, const Target&, Experiment&);

  const std::string& name() const { return name_; }
  const std::string& key() const { return key_; }
  const std::vector<KernelSet>& sets() const { return sets_; }  // [0] is the heuristic's

  struct Chosen {
    KernelSet set;
    std::size_t sets = 0;  // how many had times
    double heuristic_us = 0, best_us = 0;
  };
  /// The time of a kernel of the experiment; 0: it has none.
  using TimeOf = std::function<double(const std::string& kernel)>;
  /// The set with the least sum of times. If several are equally fast (engine/tune/ties.h), the one with the fewest
  /// changes. Changes that help are also combined, if all kernels of the combination have times. nullopt: the
  /// heuristic's set has no time.
  std::optional<Chosen> choose(const TimeOf&) const;
  /// The shares of time that the kernels deserve, as numbers of rows, before they are tuned: together at most one row
  /// for each set. A set gets less if it takes longer than the fastest one, and nothing if it takes more than
  /// `max_behind` times as long: tuning makes most kernels faster by less than that.
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
  std::map<std::string, std::string> names_;  // of kernels, by identity()
  std::vector<KernelSet> sets_;
};

/// Those of all graphs of the experiment. Left out are graphs that have only one set, and those of which the experiment
/// lacks kernels because it is a shard.
std::vector<KernelSets> add_kernel_sets(Experiment&, const Target&);

}  // namespace deplo::engine
