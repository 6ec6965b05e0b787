// Decides when a GPU that was idle has reached its clock.
#pragma once

namespace deplo::measure {

/// The caller launches until done(): the clock is back at 97 % of `before_mhz`, or it is at least half of `highest_mhz`
/// and has not risen for 100 ms. An idle GPU runs at a fifth of its highest clock and rises in steps; until then, times
/// are too long. At most one second of launches; 10 ms if the clock is not known.
class WarmUp {
 public:
  /// `highest_mhz`: as the device reports it; 0: not known. `before_mhz`: mhz() of an earlier warm-up; 0: there was
  /// none.
  WarmUp(double highest_mhz, double before_mhz) : highest_mhz_(highest_mhz), before_mhz_(before_mhz) {}
  /// Adds a sample: the microseconds of all its launches, and the clock during them (0: not known).
  void add(double us, double clock_mhz);
  bool done() const;
  /// The clock of the last 10 ms; 0: not known.
  double mhz() const { return mhz_; }

 private:
  double highest_mhz_, before_mhz_;
  double spent_us_ = 0, steady_us_ = 0;  // in total; since the clock last rose
  double window_us_ = 0, cycles_ = 0;    // of the current window
  double mhz_ = 0, reached_mhz_ = 0;     // of the last window; the highest so far
};

}  // namespace deplo::measure
