// Inputs and reference of a problem.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "measure/problem.h"

namespace deplo::measure {

/// Numbers for buffer number `buffer` of a problem with this seed, the same on every platform: uniform(-1, 1), whole
/// from 0 to 31 for i32 (indices of a gather, which clamps them), 0 or 1 for bool.
std::vector<float> random_input(const ir::Buffer&, std::size_t buffer, std::uint64_t seed);

Reference make_reference(const ir::Program& loop, std::uint64_t seed);

/// Values of the free axes whose outputs are compared in a large problem: at least 64 where there are as many. Every
/// corner (shifted tails go wrong at the end of an axis), the neighbourhoods of the first and the last element, the
/// first rows (a prefix of the grid covers them), and random ones.
std::vector<std::vector<std::int64_t>> sample_points(std::span<const std::int64_t> extents, std::uint64_t seed);

/// How many statements one run of a Loop program executes.
double statement_executions(const ir::Body&);

/// "c[3, 17]" for an offset in elements.
std::string element_name(const ir::Buffer&, std::int64_t offset);

}  // namespace deplo::measure
