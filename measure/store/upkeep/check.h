// Checks whether the contents of a store can be true.
#pragma once
#include "measure/sqlite/rows.h"

namespace deplo::measure::upkeep {

/// Returns a row for each kind of fault in the store: the fault, the table, the number of rows with the fault, and an
/// example. Empty if the store is sound. The connection needs the functions of measure/store/kernel_keys.h. Throws
/// Error if the file is too damaged to be read.
sqlite::Rows check_store(sqlite::Database&);

}  // namespace deplo::measure::upkeep
