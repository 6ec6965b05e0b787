// `deplo tune`: connects the space of a kernel, a searcher and a measurer.
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

/// News of a trial that was just stored.
struct TrialNews {
  const Row& row;  // the kernel's results so far
  const search::Candidate& candidate;
  const search::Measured& measured;
};

/// In a run with 84 rows and 15 minutes, a kernel gets about ten trials. The strategy needs most of them.
inline constexpr std::size_t default_winners = 4;

struct TuneOptions {
  std::string store = "deplo.db";
  std::string overrides;                  // text of the flags that changed the experiment; stored with the run
  bool retry_failed = false;              // measure schedules again that failed in an earlier run
  std::string warm_start = {};            // store of other devices and shapes to start from; "": cold start
  bool in_process = false;                // run candidates in this process, for a debugger
  std::size_t analytic_prior = 0;         // number of schedules for a model that starts cold (engine/learn/prior.h)
  std::size_t winners = default_winners;  // number of winners of the run's other kernels that a kernel tries first
  double tolerance = measure::default_tolerance;  // tolerance of output elements; stored with the trials
  BitsWish bits = {};                             // requirements on the bits of schedules
  // called after each trial; returns false to stop the run
  std::function<bool(const TrialNews&)> on_trial = {};
};

/// Returns Row::stop as a text for people: "time is up".
std::string_view stop_text(std::string_view stop);

/// Tunes every kernel of the experiment, and the kernels that its graphs may become by other decisions of fusion
/// (engine/tune/kernel_sets.h). Stores the fastest kernels for each graph. If a kernel cannot be tuned, its row says
/// why. Each trial is stored before the next one is measured. Stops early once interrupted() (core/interrupt.h). The
/// board always has the results so far.
void tune(Experiment, const TuneOptions&, Progress&, Board&);

/// For a thread that ends the process while tune() runs. Removes the unfinished candidate from the store, so that the
/// next run measures it. Throws Error if the store cannot be written.
void abandon(const TuneOptions&);

}  // namespace deplo::engine
