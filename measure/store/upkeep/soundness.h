// Whether a stored time can be true. A store is a file that others may have written, by hand or with other programs.
#pragma once
#include <string_view>

#include "ir/program.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/records.h"
#include "rules/cost/ceilings.h"

namespace deplo::measure {

/// What is wrong with a trial that is ok; "" where nothing is: a time and samples that are positive numbers, the time
/// their median, and no less than what `least` takes, the work that no schedule avoids (least_work.h). `ceilings` and
/// `l2_bytes` are the device's; what is not known of them is 0.
std::string_view fault_of(const TrialRecord&, const ir::Work& least, const rules::Ceilings&, std::int64_t l2_bytes);

/// Adds deplo_fault(id) to the connection: the same of the trial of that number; NULL where nothing is wrong and where
/// the trial is not ok. Of what `deplo db import` found elsewhere only the time has to be a number: some records have
/// no samples, and no kernel.
void add_fault_function(Database&);

}  // namespace deplo::measure
