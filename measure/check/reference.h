// Computes the reference of a problem.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "measure/check/inputs.h"
#include "measure/check/problem.h"

namespace deplo::measure {

/// Throws Error if an output has no finite element. `rounding`: also compute how much rounding may change each element,
/// which takes about three times as long.
Reference make_reference(const ir::Program& loop, std::uint64_t seed, const InputFiles& files = {},
                         bool rounding = false);

/// The element of buffer `buffer` (an index) at an offset, with its rounding. nullopt if no steps along the free
/// axes lead to the offset, as in a scatter.
std::optional<Reference::Element> reference_at(const ir::Program& loop, std::uint64_t seed, const InputFiles& files,
                                               std::size_t buffer, std::int64_t offset);

/// The points in the free axes at which a large problem is compared: at least 64, unless there are fewer. They are the
/// corners (shifted tails go wrong at the end of an axis), points near the first and the last element, points in the
/// first rows (which a prefix of the grid covers), and random ones.
std::vector<std::vector<std::int64_t>> sample_points(std::span<const std::int64_t> extents, std::uint64_t seed);

/// The number of statements that one run of a Loop IR program executes.
double statement_executions(const ir::Body&);

/// "c[3, 17]" for an offset in elements.
std::string element_name(const ir::Buffer&, std::int64_t offset);

}  // namespace deplo::measure
