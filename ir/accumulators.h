// Finds where the implicit accumulators of Loop and Tile IR start (docs/ir.md, accumulator scopes).
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "ir/stmt.h"

namespace deplo::ir {

/// `acc` becomes the neutral element of `op` immediately before statement `index` of `body`.
struct AccumulatorStart {
  const Body* body = nullptr;
  std::size_t index = 0;
  std::string acc;
  Op op = Op::add;
};

/// Returns one entry per accumulator, in order of first appearance. The entries point into `body`.
std::vector<AccumulatorStart> accumulator_starts(const Body& body);

}  // namespace deplo::ir
