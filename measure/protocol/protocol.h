// The numbers of the measuring protocol. docs/measurement.md gives the reasons for them.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "measure/check/verdict.h"

namespace deplo::measure {

/// A sample is a batch of B launches. B = clamp(W / t, 1, max_batch), where W is sample_us or confirm_sample_us and t
/// is the time of a launch. "The best" is the best known time.
struct Protocol {
  // The check.
  double tolerance = default_tolerance;  // error allowed in an output's elements, relative to their scale
  std::string inputs;                    // distribution of the inputs if not the default (measure/check/inputs.h)
  double full_run_ms = 100;              // if one full run takes longer, screening runs a prefix of the grid
  double slow = 3;                       // no more blocks run if the first predict more than this times the best …
  double slow_us = 200;                  // … and more than this; such a candidate is hopeless
  // Screening.
  int samples = 5;             // at most; the result is their median
  double sample_us = 200;      // W of screening: far above the clock's resolution
  double discard_stop = 1.5;   // screening ends if the discarded first sample is slower than this times the best …
  double early_stop = 1.10;    // … or if the fastest of the later samples is slower than this times the best
  double screen_clock = 0.75;  // a sample is repeated if its clock is below this share of the stage's median clock
  // Confirmation.
  int finalists = 8, max_finalists = 16;  // the fastest `finalists`, and up to `max_finalists` that are within …
  double finalist_margin = 1.03;          // … this times the best
  int rounds = 15, max_rounds = 60;       // `rounds` more while the leader is undecided
  double tie = 0.005;                     // relative differences below this do not matter
  double confirm_sample_us = 1000;        // W of confirmation
  double confirm_clock = 0.97;            // like screen_clock
  int warm_samples = 5;                   // on one set of operands, after the last round
  // Screening and confirmation.
  int max_batch = 64;
  double plausible = 0.9;  // a time below this share of the shortest that the device's ceilings allow is implausible

  /// Returns the same protocol with this share of the screening's samples, in (0, 1], but at least one sample.
  Protocol with_effort(double share) const;
  /// Returns one line with the rules and all numbers; tolerance and inputs are included only if they are not the
  /// default. The line is stored with every trial. Times with different lines are not compared.
  std::string text() const;
  bool operator==(const Protocol&) const = default;
};

/// A number that an experiment may choose. The other numbers depend on devices and clocks, not on what the times are
/// for.
struct ProtocolNumber {
  std::string_view name;
  std::variant<int Protocol::*, double Protocol::*> member;
  double min, max;
};
std::span<const ProtocolNumber> protocol_numbers();

}  // namespace deplo::measure
