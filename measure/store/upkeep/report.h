// The queries of `deplo db`, which show a store's contents. Each throws Error if the file cannot be read.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/sqlite/rows.h"

namespace deplo::measure::upkeep {

/// Returns the number of rows of each table.
sqlite::Rows table_sizes(sqlite::Database&);
/// Returns a row for each device: its runs, kernels and trials, and their times.
sqlite::Rows device_summaries(sqlite::Database&);
/// Returns the number of trials with each status.
sqlite::Rows status_counts(sqlite::Database&);

/// Limits a query to these names (measure/store/upkeep/choice.h); "": all. A query throws Error if a name selects
/// nothing.
struct Filter {
  std::string kernel, device, status;
  std::int64_t limit = -1;  // number of rows; -1: no limit
};

/// Returns the best schedule of each kernel and device, as Store::best() chooses it. If an imported kernel has an
/// objective other than time (measure/store/objective.h), the columns `objective` and `value` have its value, also in
/// latest_trials().
sqlite::Rows best_schedules(sqlite::Database&, const Filter&);
/// Returns the ids of the kernel and the device of each row of best_schedules().
std::vector<std::pair<std::int64_t, std::int64_t>> best_ids(sqlite::Database&, const Filter&);
/// Returns the trials, the latest first.
sqlite::Rows latest_trials(sqlite::Database&, const Filter&);
sqlite::Rows kernel_summaries(sqlite::Database&, const Filter&);
/// Returns the latest rule of each family of shapes and device: columns family, device, goal, loss, created, pipeline
/// and rule.
sqlite::Rows family_rules(sqlite::Database&, const Filter&);
/// Returns the ids of valid trials of a kernel on a device, one for each schedule, in the ranking of Store::best().
std::vector<std::int64_t> ranked_trials(sqlite::Database&, std::int64_t kernel, std::int64_t device);
/// Returns the columns id, library, status and median_us of Store::baselines(), fastest first.
sqlite::Rows library_times(sqlite::Database&, std::int64_t kernel, std::int64_t device);
/// Returns the failures, the most frequent first. Failures whose messages differ only in numbers share a row.
sqlite::Rows failure_clusters(sqlite::Database&, const Filter&);
/// Compares the best schedules of each kernel and device: their times, the speed-up of b over a, and whether the
/// schedules are the same. If the objective is not time, its values are compared, and its name follows the kernel's.
sqlite::Rows compare_bests(sqlite::Database& a, sqlite::Database& b);

/// Returns the text with `#` in place of each number and each word of hexadecimal digits.
std::string mask_numbers(std::string_view text);

}  // namespace deplo::measure::upkeep
