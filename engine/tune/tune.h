// `deplo tune`: connects a kernel's space, a searcher and a measurer.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/progress.h"
#include "engine/source/experiment.h"
#include "engine/tune/bits_filter.h"
#include "engine/tune/board.h"
#include "measure/protocol/protocol.h"
#include "search/loop.h"

namespace deplo::engine {

/// A trial of a kernel that was just stored.
struct TrialNews {
  const Row& row;  // the kernel's results so far
  const search::Candidate& candidate;
  const search::Measured& measured;
};

/// In a run with 84 rows and 15 minutes a kernel gets about ten trials, and the strategy needs most of them.
inline constexpr std::size_t default_winners = 4;

struct TuneOptions {
  std::string store = "deplo.db";
  std::string overrides;                          // the flags that changed the experiment, as text: stored with the run
  bool retry_failed = false;                      // measure schedules again that failed in an earlier run
  std::string warm_start = {};                    // a store of other devices and shapes to begin from; "": a cold start
  bool in_process = false;                        // run candidates in this process, for a debugger
  std::size_t analytic_prior = 0;                 // schedules of engine/learn/prior.h for a model that starts cold
  std::size_t winners = default_winners;          // how many winners of the run's other kernels a kernel tries first
  double tolerance = measure::default_tolerance;  // of the outputs' elements; stored with the trials
  BitsWish bits = {};                             // which schedules may be found
  std::function<bool(const TrialNews&)> on_trial = {};  // called for each trial; returns false to stop the run
};

/// Row::stop for people: "time is up".
std::string_view stop_text(std::string_view stop);

/// Tunes every kernel of the experiment, and the kernels that its graphs may become by other decisions of fusion
/// (engine/tune/kernel_sets.h); stores which are the fastest for each graph. If a kernel cannot be tuned, its row says
/// why. Each trial is stored before the next one is measured. Stops early once interrupted() (core/interrupt.h). The
/// results so far are on the board at any time.
void tune(Experiment, const TuneOptions&, Progress&, Board&);

/// For a thread that ends the process while tune() runs. The candidate in flight is left as if it had not been begun,
/// so that the next run measures it. Throws Error if the store cannot be written.
void abandon(const TuneOptions&);

}  // namespace deplo::engine
