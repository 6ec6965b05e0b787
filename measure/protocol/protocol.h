// The numbers of the measuring protocol. The reasons for them: docs/measurement.md.
#pragma once
#include <string>

namespace deplo::measure {

/// Largest |found - expected| / scale that is right. Sums of K products of uniform(-1, 1) numbers in f32, in any order,
/// err by about 2^-24 * sqrt(K) of their root mean square: 8e-6 at K = 18944. A missing or doubled term errs by
/// sqrt(1 / K): 7e-3, operands rounded to TF32 by about 4e-4 in the mean, 1e-3 in the worst of 64.
inline constexpr double default_tolerance = 1e-4;

/// A sample is a batch of B launches, B = clamp(W / t, 1, max_batch), W = sample_us or confirm_sample_us. Times are
/// compared with the best known, "best".
struct Protocol {
  // The check.
  double tolerance = default_tolerance;  // of an output's elements, by their scale
  std::string inputs;                    // what they are drawn from, where it is not the usual (measure/check/inputs.h)
  double full_run_ms = 100;              // where one full run takes longer, screening runs a prefix of the grid
  double slow = 3;                       // hopeless: slower than this times the best on the first blocks …
  double slow_us = 200;                  // … and slower than this: no more than the first blocks are run
  // Screening.
  int samples = 5;             // at most; the value is their median
  double sample_us = 200;      // W: far above the clock's resolution
  double discard_stop = 1.5;   // the discarded first sample ends it when slower than this times the best
  double early_stop = 1.10;    // and the fastest of the others when slower than this times the best
  double screen_clock = 0.75;  // a sample at less than this of the stage's median clock is taken again
  // Confirmation.
  int finalists = 8, max_finalists = 16;  // the best so many, and up to so many that are within …
  double finalist_margin = 1.03;          // … this times the best
  int rounds = 15, max_rounds = 45;       // 15 more while the leader is undecided
  double tie = 0.005;                     // differences below this do not matter
  double confirm_sample_us = 1000;        // W
  double confirm_clock = 0.97;
  int warm_samples = 5;  // on one set of operands, after the last round
  // Both.
  int max_batch = 64;
  double plausible = 0.9;  // of the time that the device's measured ceilings allow

  /// That of a screening with this share of the samples, in (0, 1]: at least one. All else is as it is.
  Protocol with_effort(double share) const;
  /// One line that names the rules and all numbers, tolerance and inputs where they are not the usual; stored with
  /// every trial. Times of different texts are not compared.
  std::string text() const;
  bool operator==(const Protocol&) const = default;
};

}  // namespace deplo::measure
