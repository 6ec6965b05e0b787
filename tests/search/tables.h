// Records made of functions, for the tests of table spaces.
#pragma once
#include <functional>
#include <memory>

#include "search/records/records.h"

namespace deplo::search::tables {

using Options = std::vector<std::int64_t>;

/// Knobs p0, p1, … with the values 0, 1, … below `values`; `time` gives µs for each combination, 0 leaves it out,
/// below 0 it fails. Costs: 1 s to build and as many seconds to run as µs.
std::shared_ptr<const Records> grid(const Options& values, const std::function<double(const Options&)>& time);

}  // namespace deplo::search::tables
