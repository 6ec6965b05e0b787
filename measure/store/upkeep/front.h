// The best configurations of kernels that were searched with several objectives.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/sqlite/rows.h"
#include "measure/store/pareto_front.h"
#include "measure/store/upkeep/report.h"

namespace deplo::measure::upkeep {

/// Returns the front for the objectives of the latest search of the kernel on the device; nullopt if its objective was
/// the time alone, or if there was no search.
std::optional<Front> stored_front(sqlite::Database&, std::int64_t kernel, std::int64_t device);
/// Returns the stored_front() for each row of best_schedules().
std::vector<std::optional<Front>> stored_fronts(sqlite::Database&, const Filter&);

/// Returns the front as a table. Its columns are the objectives by name, stage, digest and trail.
sqlite::Rows rows_of(const Front&);
/// Returns a text such as "front of matmul: 3 of 40 valid configurations; time in µs, code_size in bytes".
std::string heading(const std::string& kernel, const Front&);

}  // namespace deplo::measure::upkeep
