// The blow-up guard: which merges pay. The one place with the rule and its constants.
#pragma once
#include <string>

#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {

/// A merged kernel may do at most this many times the work of the kernels that it was made from. 2.1 lets silu(g) * u
/// into the operand of a matmul (5 operations and 3 loads per product instead of 2 and 2: 2.0) and keeps gelu (7 and 2:
/// 2.25) and rotary embeddings (8 and 6: 3.5) out of it. A register tile computes such an operand once for all of its
/// columns, so some growth is cheap.
inline constexpr double most_inflation = 2.1;
/// A sweep inside a row (softmax's division) is run by one block: beyond so many elements a block alone streams too
/// much, and the kernels stay apart. 2^18 f32 are 1 MiB: a vocabulary's logits.
inline constexpr double longest_sweep = 1 << 18;

/// Why `merged` must not replace `producer` and `consumer`; "" when it may. No reduction may run more often than
/// before, inside another, or inside a sweep of a free axis, where it would have lost its parallelism; one contraction
/// per kernel, since a schedule tiles one; the work within most_inflation.
std::string refuse(const Fusion&, const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer);

/// Work over that of the two, times what they already had.
double inflation(const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer);

}  // namespace deplo::rules::fusion
