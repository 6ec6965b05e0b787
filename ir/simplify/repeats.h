// Indices that stay the same for several neighbours, as those of numbers that share a word of memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace deplo::ir {

/// How many neighbours, from a multiple of that number on, have one element, where the next ones have the next element of
/// the last dimension: 8 of [a1, a0 * 2 + lane / 8] for 16 lanes. 0: the index is of another kind. The variable goes from
/// 0 to before `extent`, a power of two.
std::int64_t repeats_of(const std::vector<Expr>& index, const std::string& variable, std::int64_t extent);

}  // namespace deplo::ir
