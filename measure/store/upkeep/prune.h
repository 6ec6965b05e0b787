// What a store can do without.
#pragma once
#include "measure/sqlite/rows.h"

namespace deplo::measure::upkeep {

/// A row for each kernel and kind of thing that can go: what, the kernel (NULL for runs), how many. These are
/// - trials of a source that the same schedule no longer becomes: a later trial of the same kernel, device, trail,
///   protocol and stage has another digest. Never one of those that count when a run is resumed (measure/store/retry.h), and
///   never a best one, whose source is the latest of its trail;
/// - runs of which nothing else is stored, started more than a day ago by a process that is gone.
sqlite::Rows prunable(sqlite::Database&);
/// Removes them in one transaction and gives the space back. What it removed, as above. Throws Error.
sqlite::Rows prune(sqlite::Database&);

}  // namespace deplo::measure::upkeep
