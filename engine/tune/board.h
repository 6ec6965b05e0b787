// The current state of a tuning run, which can be read at any moment.
#pragma once
#include <cstddef>
#include <mutex>

#include "engine/tune/tuning_results.h"

namespace deplo::engine {

/// Thread-safe: the tuning run writes, and the thread that waits for the run may read.
class Board {
 public:
  void start(Summary summary);
  void set(std::size_t row, Row);
  void set(std::vector<GraphRow>);
  void set(std::vector<FamilyRow>);
  /// Returns the current state, with the time since the start.
  Summary read() const;

 private:
  mutable std::mutex mutex_;
  Summary summary_;
  double started_ = 0;
};

/// Returns the time of a steady clock in seconds.
double now();

}  // namespace deplo::engine
