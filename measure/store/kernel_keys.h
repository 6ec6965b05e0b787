// The structural keys (ir/canonical/canonical.h) of kernels, where SQL asks for them.
#pragma once
#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

/// Adds deplo_schedule_key(text) and deplo_exact_key(text) to the connection: '' for what is no Loop IR, such as the
/// description of an imported space.
void add_key_functions(sqlite::Database&);

}  // namespace deplo::measure
