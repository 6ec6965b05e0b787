// Indices that are equal for several neighbours, such as those of numbers that share a word of memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace deplo::ir {

/// Returns the size of the groups of neighbouring values of the variable that have the same element, if each group is
/// followed by the next element of the last dimension. Example: 8 for [a1, a0 * 2 + lane / 8] and 16 lanes. Groups
/// begin at multiples of their size. Returns 0 if the index has another form. The variable goes from 0 to `extent` - 1,
/// and `extent` is a power of two.
std::int64_t repeats_of(const std::vector<Expr>& index, const std::string& variable, std::int64_t extent);

}  // namespace deplo::ir
