// A device's counter of the energy that it has taken.
#pragma once
#include "core/outcome.h"

namespace deplo::measure {

/// Counts the energy of a whole device, whatever runs on it, idle power included. Not thread-safe.
class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  /// Millijoules since a moment that stays the same. The number moves in steps. Fails with no_energy if the counter
  /// cannot be read any more.
  virtual Result<double> millijoules() = 0;
  /// The longest time between two steps, in microseconds.
  virtual double step_us() const = 0;
};

}  // namespace deplo::measure
