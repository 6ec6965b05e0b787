// The state of a tuning run at any moment, for whoever has to report it.
#pragma once
#include <cstddef>
#include <mutex>

#include "engine/tune/tuning_results.h"

namespace deplo::engine {

/// Thread-safe: the run writes, the one that waits for its end may read.
class Board {
 public:
  void start(Summary summary);
  void set(std::size_t row, Row);
  /// As of now, with the time since the start.
  Summary read() const;

 private:
  mutable std::mutex mutex_;
  Summary summary_;
  double started_ = 0;
};

/// Of a steady clock, in seconds.
double now();

}  // namespace deplo::engine
