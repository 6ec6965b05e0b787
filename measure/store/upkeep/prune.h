// Removes rows that a store no longer needs.
#pragma once
#include "measure/sqlite/rows.h"

namespace deplo::measure::upkeep {

/// Returns a row for each kernel and kind of removable rows: the kind, the kernel (NULL for runs) and the number.
/// Two kinds of rows are removable:
/// - Trials of an old source: a later trial of the same kernel, device, trail, protocol and stage has another digest.
///   Failures that count when a run is resumed are kept (measure/store/retry.h). A best trial is never removable,
///   because its source is the latest of its trail.
/// - Runs without any other row that were started more than a day ago by a process that is gone.
sqlite::Rows prunable(sqlite::Database&);
/// Removes the prunable() rows in one transaction and frees their space. Returns what it removed, like prunable().
/// Throws Error.
sqlite::Rows prune(sqlite::Database&);

}  // namespace deplo::measure::upkeep
