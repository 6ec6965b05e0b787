// Private to upkeep and to the report: selects the kernels, devices and trials of a store that a command uses.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "measure/sqlite/rows.h"
#include "measure/store/upkeep/report.h"

namespace deplo::measure::upkeep {

/// Returns the ids that a filter of the command line selects (core/text/select_names.h; "" selects all) in a table,
/// "kernel" or "device", as a JSON array for `IN (SELECT value FROM json_each(?1))`. Throws Error with the existing
/// names if the filter selects none.
std::string chosen_ids(sqlite::Database&, const char* table, const std::string& filter);
/// Returns ?1 to ?4 of a query: the chosen kernels, the chosen devices, the status and the limit.
std::array<sqlite::Cell, 4> parameters(sqlite::Database&, const Filter&);
/// SQL: kernel `k` and device `d` are chosen.
inline constexpr std::string_view is_chosen =
    "k.id IN (SELECT value FROM json_each(?1)) AND d.id IN (SELECT value FROM json_each(?2)) ";

/// Returns SQL for: trial `t` was checked with the default tolerance or a smaller one. A result that passed only a
/// laxer check cannot be a best.
std::string usual_tolerance();
/// Returns SQL "WITH … " for a table `ranked` with the evidence of each valid schedule, its `device` and its `place`
/// (evidence.h). The ranking is that of Store::best() with the default tolerance.
std::string ranked();

}  // namespace deplo::measure::upkeep
