// The numbers of the measuring protocol. The reasons for them: docs/measurement.md.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "measure/check/verdict.h"

namespace deplo::measure {

/// A sample is a batch of B launches, B = clamp(W / t, 1, max_batch), with W = sample_us or confirm_sample_us, and t
/// the time of a launch. "Best" is the best known time.
struct Protocol {
  // The check.
  double tolerance = default_tolerance;  // of an output's elements, relative to their scale
  std::string inputs;                    // their distribution, if it is not the usual one (measure/check/inputs.h)
  double full_run_ms = 100;              // if one full run takes longer, screening runs a prefix of the grid
  double slow = 3;                       // hopeless: the first blocks show a time above this times the best …
  double slow_us = 200;                  // … and above this: then no more blocks are run
  // Screening.
  int samples = 5;             // at most; the value is their median
  double sample_us = 200;      // W: far above the clock's resolution
  double discard_stop = 1.5;   // screening ends if the discarded first sample is slower than this times the best …
  double early_stop = 1.10;    // … or if the fastest of the others is slower than this times the best
  double screen_clock = 0.75;  // a sample below this share of the stage's median clock is taken again
  // Confirmation.
  int finalists = 8, max_finalists = 16;  // the fastest `finalists`, and up to `max_finalists` that are within …
  double finalist_margin = 1.03;          // … this times the best
  int rounds = 15, max_rounds = 45;       // 15 more while the leader is undecided
  double tie = 0.005;                     // relative differences below this do not matter
  double confirm_sample_us = 1000;        // W
  double confirm_clock = 0.97;            // like screen_clock
  int warm_samples = 5;                   // on one set of operands, after the last round
  // Both.
  int max_batch = 64;
  double plausible = 0.9;  // a time below this share of the least that the device's ceilings allow is implausible

  /// The same protocol with this share of the screening's samples, in (0, 1], but at least one sample.
  Protocol with_effort(double share) const;
  /// One line with the rules and all numbers; tolerance and inputs only if they are not the usual. Stored with every
  /// trial. Times under different texts are not compared.
  std::string text() const;
  bool operator==(const Protocol&) const = default;
};

/// A number that an experiment may choose. The others depend on devices and clocks, not on what the times are for.
struct ProtocolNumber {
  std::string_view name;
  std::variant<int Protocol::*, double Protocol::*> member;
  double least, most;
};
std::span<const ProtocolNumber> protocol_numbers();

}  // namespace deplo::measure
