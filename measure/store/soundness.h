// Checks whether a stored time can be true, because others may have written to the file, by hand or with other
// programs.
#pragma once
#include <string_view>

#include "ir/program.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/rows/records.h"
#include "rules/cost/ceilings.h"

namespace deplo::measure {

/// Returns the fault of a trial with status ok; "" if it has none. The time and the samples must be positive numbers.
/// The time must be the median of the samples, and not below the time of `min_work`, the work that no schedule avoids
/// (least_work.h). `ceilings` and `l2_bytes`: the device's; 0 if not known.
std::string_view fault_of(const TrialRecord&, const ir::Work& min_work, const rules::Ceilings&, std::int64_t l2_bytes);

/// Adds deplo_fault(id) to the connection: fault_of() of the trial with this id. NULL if it has no fault, or if its
/// status is not ok. An imported trial needs only a valid time, because some records have no samples and no kernel.
void add_fault_function(sqlite::Database&);

}  // namespace deplo::measure
