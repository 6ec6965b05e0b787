// Records made from functions, for the tests of table spaces.
#pragma once
#include <functional>
#include <memory>

#include "search/records/records.h"

namespace deplo::search::tables {

using Options = std::vector<std::int64_t>;

/// Returns records with the knobs p0, p1, …, whose values are 0, 1, … below `values`. `time` gives the µs of each
/// combination; 0 leaves the combination out, and a negative time makes it fail. Each costs 1 s to build, and as many
/// seconds to run as its time in µs.
std::shared_ptr<const Records> grid(const Options& values, const std::function<double(const Options&)>& time);

}  // namespace deplo::search::tables
