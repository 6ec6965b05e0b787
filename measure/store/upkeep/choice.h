// Which kernels and devices of a store a filter of the command line means (core/text/select_names.h).
#pragma once
#include <string>

#include "measure/sqlite/sqlite.h"

namespace deplo::measure::upkeep {

/// The ids as a JSON array, for `IN (SELECT value FROM json_each(?1))`. Each throws Error with the names that there are
/// where the filter means none; "" means all.
std::string chosen_kernels(sqlite::Database&, const std::string& filter);
std::string chosen_devices(sqlite::Database&, const std::string& filter);

}  // namespace deplo::measure::upkeep
