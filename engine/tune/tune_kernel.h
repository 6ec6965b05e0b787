// Tuning of one kernel: the heuristic first, then the search, then the fastest few against the heuristic.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "core/progress.h"
#include "engine/source/experiment.h"
#include "engine/tune/measurer.h"
#include "engine/tune/shares.h"
#include "engine/tune/tuning_results.h"

namespace deplo::engine {

struct KernelBudget {
  double seconds = 0;  // for all that is done here; the heuristic is measured even if there are none
  double share = 0;    // of these an equal share: the confirmation may take the rest of a search that has ended early
  std::int64_t trials = 1;  // new measurements
  double least_gain = 0;    // of the next second: the search ends where it is expected to gain less …
  Expectation expectation = Expectation({});  // … as the kernels that were tuned before let expect (shares.h)
};

/// What the progress line says beside the kernel itself.
struct Narrator {
  Progress& progress;
  std::string label;                        // "[3/9] name"
  double deadline = 0;                      // now() at the end of the whole run
  std::function<void(const Row&)> publish;  // what is known so far, after every trial
  /// A trial that was just told; may be empty.
  std::function<void(const Row&, const search::Candidate&, const search::Measured&)> on_trial = {};
};

/// The best is the winner (ties.h) of the confirmed, of which the heuristic is one: it is never slower than that. The
/// prospect is what earlier passes left, and then what is left now.
Row tune_kernel(const KernelCase&, const Experiment&, const KernelBudget&, Session&, Narrator&, Prospect&);

/// What the store says of the kernel, without measuring anything: the heuristic's time and the best.
Row recall_kernel(const KernelCase&, Session&);

}  // namespace deplo::engine
