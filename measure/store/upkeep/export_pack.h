// Makes a pack (measure/store/pack.h) from a store.
#pragma once
#include "measure/store/pack.h"
#include "measure/store/upkeep/report.h"

namespace deplo::measure::upkeep {

/// Returns a pack of the best schedule of each kernel and device, as Store::best() chooses it, the latest choice of
/// kernels for each graph, and the latest rule of each family. Imported trials are left out, because they have no
/// schedules of deplo. Rows are sorted by device, name and key, so that stores with equal contents give equal packs.
/// Only the kernel and the device of `filter` count. If it names a kernel, graphs are left out.
Pack pack_of(sqlite::Database&, const Filter& filter);

}  // namespace deplo::measure::upkeep
