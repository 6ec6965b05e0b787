// What a store holds, for people: the queries behind `deplo db`. Each throws Error where the file cannot be read.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/sqlite/rows.h"

namespace deplo::measure::upkeep {

/// Of each table: how many rows.
sqlite::Rows table_sizes(sqlite::Database&);
/// A row for each device: runs, kernels, trials, when.
sqlite::Rows device_summaries(sqlite::Database&);
/// A row for each status: trials.
sqlite::Rows status_counts(sqlite::Database&);

/// Only what this names (measure/store/upkeep/choice.h); "": all. What names nothing of the store is an Error.
struct Filter {
  std::string kernel, device, status;
  std::int64_t limit = -1;  // of rows; -1: none
};

/// The fastest schedule of each kernel and device, as Store::best() chooses it. Where an imported kernel has another
/// objective than time (measure/store/objective.h), its value stands in the columns `objective` and `value`; so it does in
/// latest_trials().
sqlite::Rows best_schedules(sqlite::Database&, const Filter&);
/// The latest first.
sqlite::Rows latest_trials(sqlite::Database&, const Filter&);
sqlite::Rows kernel_summaries(sqlite::Database&, const Filter&);
/// Ids of valid trials of a kernel on a device, one of each schedule, as Store::best() ranks them.
std::vector<std::int64_t> ranked_trials(sqlite::Database&, std::int64_t kernel, std::int64_t device);
/// Of Store::baselines(): id, library, status, median_us; fastest first.
sqlite::Rows library_times(sqlite::Database&, std::int64_t kernel, std::int64_t device);
/// Failures whose messages differ in nothing but numbers are one row, the most frequent first.
sqlite::Rows failure_clusters(sqlite::Database&, const Filter&);
/// The best of each kernel and device in either: times (of another objective its values, with its name behind the
/// kernel's), speed-up of b over a, and whether the schedule is the same.
sqlite::Rows compare_bests(sqlite::Database& a, sqlite::Database& b);

/// The text with `#` for each number and each word of hexadecimal digits.
std::string mask_numbers(std::string_view text);

}  // namespace deplo::measure::upkeep
