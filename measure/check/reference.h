// The reference of a problem.
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

/// Throws Error when an output has no finite element. `rounding`: how far rounding may take each element, too; that
/// takes about three times as long.
Reference make_reference(const ir::Program& loop, std::uint64_t seed, const InputFiles& files = {},
                         bool rounding = false);

/// The element of buffer number `buffer` at an offset, with its rounding; nullopt where it is not found by the steps
/// that the offset takes along the free axes, as in a scatter.
std::optional<Reference::Element> reference_at(const ir::Program& loop, std::uint64_t seed, const InputFiles& files,
                                               std::size_t buffer, std::int64_t offset);

/// Values of the free axes whose outputs are compared in a large problem: at least 64 where there are as many. Every
/// corner (shifted tails go wrong at the end of an axis), the neighbourhoods of the first and the last element, the
/// first rows (a prefix of the grid covers them), and random ones.
std::vector<std::vector<std::int64_t>> sample_points(std::span<const std::int64_t> extents, std::uint64_t seed);

/// How many statements one run of a Loop program executes.
double statement_executions(const ir::Body&);

/// "c[3, 17]" for an offset in elements.
std::string element_name(const ir::Buffer&, std::int64_t offset);

}  // namespace deplo::measure
