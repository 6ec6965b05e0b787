// When a GPU that was idle runs at its clock.
#pragma once

namespace deplo::measure {

/// Launches go on until the clock rises no more: it did not for 100 ms, or it is again where it was before. An idle GPU
/// runs at a fifth of its highest clock and comes up in steps; what is measured meanwhile is too slow. At most a second
/// of launches; 10 ms where the clock is not known.
class WarmUp {
 public:
  /// `highest_mhz`: what the device says of itself; 0: not known. `before_mhz`: where an earlier one ended; 0: none did.
  WarmUp(double highest_mhz, double before_mhz) : highest_mhz_(highest_mhz), before_mhz_(before_mhz) {}
  /// A sample: microseconds of all its launches, and the clock meanwhile (0: not known).
  void add(double us, double clock_mhz);
  bool done() const;
  /// The clock of the last 10 ms; 0: not known.
  double mhz() const { return mhz_; }

 private:
  double highest_mhz_, before_mhz_;
  double spent_us_ = 0, steady_us_ = 0;  // in all; since the clock rose
  double window_us_ = 0, cycles_ = 0;    // of the present window
  double mhz_ = 0, reached_mhz_ = 0;     // of the last window; of the highest so far
};

}  // namespace deplo::measure
