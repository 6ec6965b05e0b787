// Makes a pack (measure/store/pack.h) from a store.
#pragma once
#include "measure/store/pack.h"
#include "measure/store/upkeep/report.h"

namespace deplo::measure::upkeep {

/// The best schedule of each kernel and device, as Store::best() chooses it, and the latest choice of kernels for each
/// graph. Imported trials are left out, because they have no schedules of deplo. Sorted by device, name and key, so
/// that stores with equal contents give equal packs. `filter`: kernel and device; the others are ignored. With a
/// kernel, graphs are left out.
Pack pack_of(sqlite::Database&, const Filter& filter);

}  // namespace deplo::measure::upkeep
