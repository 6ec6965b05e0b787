// Copies that are done later than they are issued.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/rng.h"

namespace deplo::measure::ptx {

class Cluster;
class Warp;

class DeferredWork {
 public:
  /// `at`: the number of the instruction that issues the work, for findings.
  struct Work {
    const Warp* warp;
    std::uint32_t at;
    std::function<void()> run;
    /// Does the work. Throws Finding with the place of the instruction.
    void done() const;
  };
  bool none() const { return all_.empty(); }
  void add(Work work) { all_.push_back(std::move(work)); }
  /// Removes and returns a randomly chosen piece of work.
  Work take(Rng&);
  /// Throws Finding if work of the cluster is not done.
  void check_done(const Cluster&) const;

 private:
  std::vector<Work> all_;
};

}  // namespace deplo::measure::ptx
