// Decides when a GPU that was idle has reached its full clock.
#pragma once

namespace deplo::measure {

/// The caller launches kernels until done(): the clock is back at 97 % of `before_mhz`, or it is at least half of
/// `highest_mhz` and has not risen for 100 ms. Before that, times are too long, because an idle GPU runs at a fifth of
/// its highest clock, which then rises in steps. Takes at most one second of launches, or 10 ms if the clock is not
/// known.
class WarmUp {
 public:
  /// `highest_mhz`: as the device reports it; 0: not known. `before_mhz`: mhz() of an earlier warm-up; 0: there was
  /// none.
  WarmUp(double highest_mhz, double before_mhz) : highest_mhz_(highest_mhz), before_mhz_(before_mhz) {}
  /// Adds a sample: the microseconds of all its launches, and the clock during them (0: not known).
  void add(double us, double clock_mhz);
  bool done() const;
  /// Returns the mean clock of the last 10 ms; 0: not known.
  double mhz() const { return mhz_; }

 private:
  double highest_mhz_, before_mhz_;
  double spent_us_ = 0, steady_us_ = 0;  // time of launches: in total, and since the clock last rose
  double window_us_ = 0, cycles_ = 0;    // time and clock cycles of the current window
  double mhz_ = 0, reached_mhz_ = 0;     // the clock of the last window, and the highest clock so far
};

}  // namespace deplo::measure
