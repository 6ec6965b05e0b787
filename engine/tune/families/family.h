// Tunes families of shapes: measures the best schedule of each shape on the other shapes, keeps a few of these
// schedules, and makes the rule that chooses among them.
#pragma once
#include <functional>
#include <vector>

#include "core/progress.h"
#include "engine/source/experiment.h"
#include "engine/tune/session.h"
#include "engine/tune/tuning_results.h"

namespace deplo::engine {

/// Returns the results of tuning a kernel, by its name or one of KernelCase::same, or null if there are none.
using RowOf = std::function<const Row*(const std::string& kernel)>;

/// Tunes each family of the experiment after its kernels were tuned. A schedule of one shape is tried on another shape
/// as the nearest legal schedule there. All schedules are screened. Those about as fast as the best are then timed in
/// turns, in full runs. Held-out shapes are measured after the choice. The rules are stored. `seconds` is the time for
/// all families, but each shape gets at least a short measurement. Stops early if the session is cancelled; incomplete
/// families are left out.
std::vector<FamilyRow> tune_families(const Experiment&, Session&, Progress&, const RowOf&, double seconds);

}  // namespace deplo::engine
