// Copies that arrive later than they are issued.
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
  /// `at`: the number of the instruction that issues it, for findings.
  struct Work {
    const Warp* warp;
    std::uint32_t at;
    std::function<void()> run;
    /// Throws Finding with the place of the instruction.
    void done() const;
  };
  bool none() const { return all_.empty(); }
  void add(Work work) { all_.push_back(std::move(work)); }
  /// Any one of them.
  Work take(Rng&);
  /// Throws Finding if the cluster's work is not done.
  void check_done(const Cluster&) const;

 private:
  std::vector<Work> all_;
};

}  // namespace deplo::measure::ptx
