// Private to upkeep and to the report: which kernels, devices and trials of a store a command is about.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "measure/sqlite/rows.h"
#include "measure/store/upkeep/report.h"

namespace deplo::measure::upkeep {

/// What a filter of the command line means (core/text/select_names.h). The ids as a JSON array, for `IN (SELECT value FROM json_each(?1))`. Each throws Error with the names that there are
/// where the filter means none; "" means all.
std::string chosen_kernels(sqlite::Database&, const std::string& filter);
std::string chosen_devices(sqlite::Database&, const std::string& filter);
/// Both, the status and the limit: ?1 to ?4 of a query.
std::array<sqlite::Cell, 4> parameters(sqlite::Database&, const Filter&);
/// Of kernels `k` and devices `d`.
inline constexpr std::string_view is_chosen =
    "k.id IN (SELECT value FROM json_each(?1)) AND d.id IN (SELECT value FROM json_each(?2)) ";

/// Of a trial `t`: it was checked as strictly as usual. A result that only a laxer check took for right is nobody's
/// best.
std::string usual_tolerance();
/// "WITH … ": a table `ranked` with the evidence of each valid schedule, its `device` and its `place` (evidence.h), as
/// Store::best() chooses by default.
std::string ranked();

}  // namespace deplo::measure::upkeep
