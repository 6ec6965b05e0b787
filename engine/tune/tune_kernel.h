// Tunes one kernel: measures the heuristic's schedule, searches, and then confirms the fastest schedules against it.
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
  // for all stages; if it is not positive, only the heuristic's schedule is measured
  double seconds = 0;
  // the kernel's equal share of the time; if the search ends early, confirmation may use the rest of the share
  double share = 0;
  std::int64_t trials = 1;  // new measurements
  // the search ends if the next second is expected to gain less than this
  double least_gain = 0;
  // computed from the kernels that were tuned before (shares.h)
  Expectation expectation = Expectation({});
};

/// The context of the progress reports of a kernel.
struct Narrator {
  Progress& progress;
  std::string label;                        // "[3/9] name"
  double deadline = 0;                      // the time, as in now(), at which the whole run ends
  std::function<void(const Row&)> publish;  // called after every trial with the results so far
  /// Called after every trial. May be empty.
  std::function<void(const Row&, const search::Candidate&, const search::Measured&)> on_trial = {};
};

/// Returns the row of a kernel before anything is known about it. Row::stop is `cancelled` until a search ends.
Row blank_row(const KernelCase&);
/// Returns true if a search that ended with this Row::stop would go on with more time.
bool wants_time(std::string_view stop);

/// Tunes a kernel. The best schedule is the winner (ties.h) of the confirmed schedules. The heuristic's schedule is
/// among them, so the best is never slower. `prospect` has the state of earlier passes and is updated.
Row tune_kernel(const KernelCase&, const Experiment&, const KernelBudget&, Session&, Narrator&, Prospect&);

/// Returns the shortest time of a launch that the ceilings of the session allow, in microseconds; 0: unknown.
double shortest_us(const KernelCase&, const Session&);

/// Measures only the heuristic's schedule.
Row screen_kernel(const KernelCase&, const Experiment&, Session&, Narrator&, Prospect&);

/// Returns the stored results of the kernel without measuring anything: the heuristic's time and the best.
Row recall_kernel(const KernelCase&, Session&);

}  // namespace deplo::engine
