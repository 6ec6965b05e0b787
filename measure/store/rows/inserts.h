// Private to measure/store: inserts rows, and returns their ids.
#pragma once
#include <cstdint>

#include "measure/sqlite/sqlite.h"
#include "measure/store/rows/records.h"

namespace deplo::measure {

/// Inserts the kernel unless the store has it.
std::int64_t insert_kernel(sqlite::Database&, const KernelRecord&);
// The columns `created` of these rows get the current time.
std::int64_t insert_graph(sqlite::Database&, const GraphRecord&);
/// `kernel`: the id of FamilyRecord::kernel.
std::int64_t insert_family(sqlite::Database&, const FamilyRecord&, std::int64_t kernel);

}  // namespace deplo::measure
