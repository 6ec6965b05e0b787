// Warm starts on recorded spaces, from records of the same kernel on other devices.
#pragma once
#include <memory>
#include <vector>

#include "core/rng.h"

#include "search/records/table_space.h"
#include "search/searcher.h"

namespace deplo::search::compare {

/// Records from other devices.
using Sources = std::vector<std::shared_ptr<const Records>>;
/// The sources in `all` that have the same kernel name, knob names and objective, but another device.
Sources sources_of(const Records&, const Sources& all);
/// Draws `count` of the records (all if there are fewer), in the form that searchers take.
SourceTask draw(const Records&, std::size_t count, Rng&);

}  // namespace deplo::search::compare
