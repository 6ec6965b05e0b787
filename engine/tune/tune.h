// `deplo tune`: the one place that ties a kernel's space, a searcher and a measurer together.
#pragma once
#include <functional>
#include <string>

#include "core/progress.h"
#include "engine/source/experiment.h"
#include "engine/tune/board.h"
#include "measure/protocol/protocol.h"
#include "search/loop.h"

namespace deplo::engine {

/// One trial of one kernel, which is stored already.
struct TrialNews {
  const Row& row;  // of the kernel so far
  const search::Candidate& candidate;
  const search::Measured& measured;
};

/// A kernel of 84 rows has about ten trials in 15 minutes, and the strategy needs most of them.
inline constexpr std::size_t default_winners = 4;

struct TuneOptions {
  std::string store = "deplo.db";
  std::string overrides;                          // the flags that changed the experiment, as text: stored with the run
  bool retry_failed = false;                      // schedules that an earlier run found to fail are measured again
  std::string warm_start = {};                    // a store of other devices and shapes to begin from; "": a cold start
  bool in_process = false;                        // candidates run in this process: for a debugger
  std::size_t analytic_prior = 0;                 // a cold start of a model begins with so many of engine/learn/prior.h
  std::size_t winners = default_winners;          // of the run's other kernels, tried first; 0: each kernel for itself
  double tolerance = measure::default_tolerance;  // of the outputs' elements; stored with the trials
  std::function<bool(const TrialNews&)> on_trial = {};  // told of each; false: as if interrupted
};

/// Tunes every kernel of the experiment, but for those that cannot be tuned, whose rows say why; each trial is in the
/// store before the next is measured. Stops early once interrupted() (core/interrupt.h). The results so far stand on
/// the board at any time.
void tune(const Experiment&, const TuneOptions&, Progress&, Board&);

/// For a thread that ends the process beside tune(): the candidate in the works is left as if it had not been begun, so
/// that the next run measures it. Throws Error where the store cannot be written.
void abandon(const TuneOptions&);

}  // namespace deplo::engine
