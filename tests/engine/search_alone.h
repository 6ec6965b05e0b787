// A random search of one kernel on a runner that a test scripts.
#pragma once
#include "engine/tune/board.h"
#include "engine/tune/tune_kernel.h"
#include "measure/store/store.h"
#include "measure/worker/runner.h"

namespace deplo::engine {

/// Searches without a time limit.
inline Row search_alone(const KernelCase& kernel, measure::worker::Runner& runner, measure::Store& store, int trials) {
  Session session{runner, store, load_target("opencl-cpu-avx2"), {}};
  session.device_id = store.add_device(runner.info());
  session.run_id = store.add_run({session.device_id, "", "", "random", 0, "here"});
  Experiment experiment;
  experiment.strategy = "random";
  KernelBudget budget;
  budget.seconds = budget.share = 1e6;
  budget.trials = trials;
  Progress progress(stderr, true);
  Narrator narrator{progress, "", now() + 1e6, [](const Row&) {}};
  Prospect prospect;
  return tune_kernel(kernel, experiment, budget, session, narrator, prospect);
}

}  // namespace deplo::engine
