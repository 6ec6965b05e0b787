// Tunes one kernel: measures the heuristic, then searches, then confirms the fastest few against the heuristic.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/progress.h"
#include "engine/source/experiment.h"
#include "engine/tune/measurer.h"
#include "engine/tune/shares.h"
#include "engine/tune/tuning_results.h"

namespace deplo::engine {

struct KernelBudget {
  double seconds = 0;  // for everything; the heuristic is measured even if this is 0
  double share = 0;    // the kernel's equal share of the time: if the search ends early, confirmation gets its rest
  std::int64_t trials = 1;  // new measurements
  double least_gain = 0;    // the search ends if the next second is expected to gain less than this …
  Expectation expectation = Expectation({});  // … judging by the kernels that were tuned before (shares.h)
};

/// The context of a kernel's progress reports.
struct Narrator {
  Progress& progress;
  std::string label;                        // "[3/9] name"
  double deadline = 0;                      // now() at the end of the whole run
  std::function<void(const Row&)> publish;  // called after every trial with the results so far
  /// Called after every trial; may be empty.
  std::function<void(const Row&, const search::Candidate&, const search::Measured&)> on_trial = {};
};

/// True if the search would go on with more time, by its Row::stop.
bool wants_time(std::string_view stop);

/// The best is the winner (ties.h) of the confirmed schedules. The heuristic is one of them, so the best is never
/// slower. The prospect comes from earlier passes and is updated.
Row tune_kernel(const KernelCase&, const Experiment&, const KernelBudget&, Session&, Narrator&, Prospect&);

/// Measures only the heuristic's schedule.
Row screen_kernel(const KernelCase&, const Experiment&, Session&, Narrator&, Prospect&);

/// What the store knows about the kernel, without measuring anything: the heuristic's time and the best.
Row recall_kernel(const KernelCase&, Session&);

}  // namespace deplo::engine
