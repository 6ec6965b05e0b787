// Whether what a store says can be true.
#pragma once
#include "measure/sqlite/rows.h"

namespace deplo::measure::upkeep {

/// A row for each kind of fault that is there: what, in how many rows, an example. Empty: the store is sound. Needs
/// measure/store/kernel_keys.h on the connection. Throws Error where the file is too damaged to be read.
sqlite::Rows check_store(sqlite::Database&);

}  // namespace deplo::measure::upkeep
