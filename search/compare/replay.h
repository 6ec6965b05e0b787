// Runs a searcher on a recorded space, in recorded time.
#pragma once
#include <cstdint>
#include <optional>

#include "search/compare/curve.h"

namespace deplo::search::compare {

struct Replay {
  double seconds = 0;            // recorded time: the run ends with the evaluation that reaches it …
  std::int64_t evaluations = 0;  // … but not before this many evaluations
  /// Draws as many launches as were recorded, with replacement. Tells the searcher the recorded time, scaled by the
  /// ratio of the mean of the drawn launches to the mean of all. Objectives that are not durations are told as
  /// recorded. A configuration has the same result throughout a run. The best so far is then chosen by the noisy times,
  /// but its rank is that of the recorded time.
  bool noisy = false;
  /// 0: evaluations follow one another. Otherwise, the number of compilers that work in parallel with one device. A
  /// candidate is asked when a compiler is free, and told when the device has run it. At most `workers` + 1 candidates
  /// are outstanding, so that none waits long for the device.
  std::size_t workers = 0;
  /// Number of configurations in a final, as in `tune` (docs/measurement.md, "Confirm"). They are the fastest ones by
  /// the noisy times. The last step has the rank of the winner. 0: no final. Requires `noisy`.
  std::size_t finalists = 0;
  /// The record of a configuration that is evaluated first. It runs alone, and is told before the searcher is asked.
  std::optional<std::uint32_t> first = {};
};

/// Deterministic. `seed` determines the noise. An evaluation with effort e takes the first ⌈e n⌉ of the n recorded
/// launches (draws as many with replacement if `noisy`) and tells their mean. It costs less by the time of the other
/// launches. Building costs once per configuration; verification and overheads cost each time. The best so far is
/// search/loop.h's Incumbent.
Steps replay(const TableSpace&, const Landscape&, Searcher&, const Replay&, std::uint64_t seed);

}  // namespace deplo::search::compare
