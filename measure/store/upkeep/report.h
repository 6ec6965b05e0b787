// What a store holds, for people: the queries behind `deplo db`. Each throws Error where the file cannot be read.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/sqlite/rows.h"

namespace deplo::measure {

/// Of each table: how many rows.
Rows table_sizes(Database&);
/// A row for each device: runs, kernels, trials, when.
Rows device_summaries(Database&);
/// A row for each status: trials.
Rows status_counts(Database&);

/// Only what this names (measure/store/upkeep/choice.h); "": all. What names nothing of the store is an Error.
struct Filter {
  std::string kernel, device, status;
  std::int64_t limit = -1;  // of rows; -1: none
};

/// The fastest schedule of each kernel and device, as Store::best() chooses it.
Rows best_schedules(Database&, const Filter&);
/// The latest first.
Rows latest_trials(Database&, const Filter&);
Rows kernel_summaries(Database&, const Filter&);
/// Ids of valid trials of a kernel on a device, one of each schedule, as Store::best() ranks them.
std::vector<std::int64_t> ranked_trials(Database&, std::int64_t kernel, std::int64_t device);
/// Of Store::baselines(): id, library, status, median_us; fastest first.
Rows library_times(Database&, std::int64_t kernel, std::int64_t device);
/// Failures whose messages differ in nothing but numbers are one row, the most frequent first.
Rows failure_clusters(Database&, const Filter&);
/// The best of each kernel and device in either: times, speed-up of b over a, and whether the schedule is the same.
Rows compare_bests(Database& a, Database& b);

/// The text with `#` for each number and each word of hexadecimal digits.
std::string mask_numbers(std::string_view text);

}  // namespace deplo::measure
