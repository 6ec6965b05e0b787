// Private to measure/store: which trial of a schedule says what is known of it.
#pragma once
#include <string>
#include <string_view>

#include "core/outcome.h"

namespace deplo::measure {

/// A query for one row a trail that has trials of a kernel on a device: the columns of `trial`, `device`, and how many
/// `transient_failures` there were. The row is the latest conclusive() trial (retry.h) that was not stopped; where
/// there is none, the latest of all. Only trials of the source that the trail became last count, those with the digest
/// of the latest, and of valid times only those that can be true (soundness.h). `where`: SQL on `t`, the trial, and
/// `r`, its run. `columns`: fewer of `t`, where samples and messages would only be sorted with the rest; id, kernel,
/// trail, digest, status and stopped are among them.
std::string select_evidence(std::string_view where = "TRUE", std::string_view columns = "t.*");

/// A query for the valid rows of such a query, with their `place` among those of their kernel and device, 1 for the
/// best: confirmed before screened, full runs before prefixes, then by time. Times that differ from the fastest of the
/// same kind by less than Protocol::tie are equal, if `changes` is known: of these the heuristic's schedule is best,
/// then the one with fewer decisions that differ from the heuristic's, then the first trail in the order of text.
std::string select_ranked(const std::string& evidence);

/// "'hang', 'illegal_access'": those for which it holds, as SQL.
std::string statuses(bool (*holds)(Status));

}  // namespace deplo::measure
