// The interface of a device's energy counter.
#pragma once
#include "core/outcome.h"

namespace deplo::measure {

/// Counts the energy that a whole device consumes, whatever runs on it, including idle power. Not thread-safe.
class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  /// Returns the millijoules since a fixed moment. The value grows in steps. Fails with no_energy if the counter can no
  /// longer be read.
  virtual Result<double> millijoules() = 0;
  /// Returns the longest time between two steps, in microseconds.
  virtual double step_us() const = 0;
};

}  // namespace deplo::measure
