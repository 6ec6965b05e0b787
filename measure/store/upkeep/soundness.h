// Whether a stored time can be true. A store is a file that others may have written, by hand or with other programs.
#pragma once
#include <string_view>

#include "ir/program.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/records.h"
#include "rules/cost/ceilings.h"

namespace deplo::measure::upkeep {

/// The fault of a trial that is ok; "" if it has none. Its time and samples are positive numbers, the time is their
/// median, and not below the time of `least`, the work that no schedule avoids (least_work.h). `ceilings` and `l2_bytes`
/// are the device's; unknown ones are 0.
std::string_view fault_of(const TrialRecord&, const ir::Work& least, const rules::Ceilings&, std::int64_t l2_bytes);

/// Adds deplo_fault(id) to the connection: the same for the trial of that number; NULL if nothing is wrong or the trial
/// is not ok. An imported trial needs only a time that is a number: some records have no samples, and no kernel.
void add_fault_function(sqlite::Database&);

}  // namespace deplo::measure::upkeep
