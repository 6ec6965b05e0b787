// Tunes families of shapes: measures the best schedule of each shape on the others, keeps few of them, and makes the
// rule that chooses among these.
#pragma once
#include <functional>
#include <vector>

#include "core/progress.h"
#include "engine/source/experiment.h"
#include "engine/tune/session.h"
#include "engine/tune/tuning_results.h"

namespace deplo::engine {

/// The results of tuning a kernel, by its name or one of KernelCase::same; null: it has none.
using RowOf = std::function<const Row*(const std::string& kernel)>;

/// For each family of the experiment, after its kernels were tuned. A schedule of one shape is tried on another as the
/// nearest legal one there. All are screened; those that are about as fast as the best are then timed in turns, in full
/// runs. Shapes that are held out are measured after the choice. The rules are stored. `seconds`: for all families;
/// each shape is measured at least shortly. Stops early once the session is cancelled: a family that is not complete is
/// left out.
std::vector<FamilyRow> tune_families(const Experiment&, Session&, Progress&, const RowOf&, double seconds);

}  // namespace deplo::engine
