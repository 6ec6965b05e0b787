// Private to measure/store: selects the trial that represents a schedule (its evidence).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/quantity.h"
#include "measure/store/rows/records.h"

namespace deplo::measure {

/// Returns a query with one row for each trail of a kernel on a device: the columns of `trial`, `device`, and the
/// number of `transient_failures`. The row is the latest conclusive() trial (retry.h) that was not stopped, or the
/// latest trial if there is none. Only trials of the trail's latest source count: those with the digest of the latest
/// trial. Valid times that cannot be true (soundness.h) do not count. `where`: SQL on `t`, the trial, and `r`, its run.
/// `columns`: fewer columns of `t`, so that samples and messages need not be sorted; must include id, kernel, trail,
/// digest, status and stopped.
std::string select_evidence(std::string_view where, std::string_view columns = "t.*");

/// Returns a query for the valid rows of `evidence`, a query of select_evidence(), with their `place` within their
/// kernel and device; 1 is the best. Confirmed times come before screened ones, full runs before prefixes, then faster
/// before slower. Times that differ from the fastest of the same kind by less than Protocol::tie count as equal, if
/// `changes` is known. Among equal times the heuristic's schedule comes first, then those with fewer decisions that
/// differ from the heuristic's, then the first trail in the order of text.
std::string select_ranked(const std::string& evidence);

/// Returns the valid trial of each trail of a kernel on a device, the oldest first. Only trials that were checked with
/// this tolerance or a smaller one count. If the objectives need the energy, times without an energy do not count.
std::vector<TrialRecord> valid_trials(sqlite::Database&, std::int64_t kernel, std::int64_t device, double tolerance,
                                      const Objectives&);

/// Returns SearchRecord::objectives of the latest search of a kernel on a device; "" if there is none.
std::string latest_objectives(sqlite::Database&, std::int64_t kernel, std::int64_t device);

/// Returns the statuses for which `holds` is true, as SQL: "'hang', 'illegal_access'".
std::string statuses(bool (*holds)(Status));

}  // namespace deplo::measure
