// SQL functions for the structural keys of kernels (ir/canonical/canonical.h).
#pragma once
#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

/// Adds deplo_schedule_key(text) and deplo_exact_key(text) to the connection. They return '' for text that is not Loop
/// IR, such as the description of an imported space.
void add_key_functions(sqlite::Database&);

}  // namespace deplo::measure
