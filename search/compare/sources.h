// Warm starts offline: what was recorded of the same kernel on other devices.
#pragma once
#include <memory>
#include <vector>

#include "core/rng.h"

#include "search/records/table_space.h"
#include "search/searcher.h"

namespace deplo::search::compare {

/// Recorded elsewhere.
using Sources = std::vector<std::shared_ptr<const Records>>;
/// Those of the same kernel (by name, with knobs of the same names) and objective on other devices.
Sources sources_of(const Records&, const Sources& all);
/// `count` of the records, all where there are fewer, as a searcher is told them.
SourceTask draw(const Records&, std::size_t count, Rng&);

}  // namespace deplo::search::compare
