// The blow-up guard: which merges pay. The one place with the rule and its constants.
#pragma once
#include <string>

#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {

/// A merged kernel may do at most this many times the work of the kernels that it was made from: a row kernel that
/// sweeps its row three times computes what was merged into it as often.
inline constexpr double most_inflation = 2.1;
/// A merge into a kernel with a contraction may make the work of the two grow by this much: its operands are loaded,
/// not computed. One that is computed is computed for every tile of the other operand again, and no rule can stage or
/// pack it: on PoCL (x * 2) @ w takes 1.6 times as long as x @ w, (silu(g) * u) @ w 24 times, while the kernel that is
/// saved is one pass over x. What an epilogue computes is little beside the products: 1.1 lets it in, and keeps x * 2
/// out (3 operations and 2 loads per product instead of 2 and 2: 1.25).
inline constexpr double most_contraction_growth = 1.1;
/// A sweep inside a row (softmax's division) is run by one block: beyond so many elements a block alone streams too
/// much, and the kernels stay apart. 2^18 f32 are 1 MiB: a vocabulary's logits.
inline constexpr double longest_sweep = 1 << 18;

/// A block that computes a score uses it for all sums that it weighs, so it holds as many: the columns of a head.
/// Beyond 256 f32 (FlashAttention's widest head) they do not stay in the registers of a warpgroup, and another block
/// would compute the scores again.
inline constexpr double most_sums_of_score = 256;

/// Why `merged` must not replace `producer` and `consumer`; "" when it may. No reduction may run more often than
/// before, inside another, or inside a sweep of a free axis, where it would have lost its parallelism; one contraction
/// per kernel, since a schedule tiles one; the work within most_inflation, or most_contraction_growth. A softmax is one
/// contraction together with the product of which its scores are made.
std::string refuse(const Fusion&, const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer);

/// May it be expected that an attention takes less time as one kernel than with its scores in memory? In f32 it does: on
/// two cores of an EPYC 0.5 to 1.07 of the time, whatever its sizes (docs/performance.md, "Attention"). Of 16 bits it does
/// on tensor cores, which multiply both products (helpers/key_products.h), where both are whole numbers of their
/// instructions; on CPUs dot products multiply in kernels that hold one product.
struct AttentionGain {
  bool pays = false;
  std::string why;
};
AttentionGain attention_gain(const Fusion&, const LoopOp& scores);

/// Has it a product with operands that tiles share?
bool contracts(const Fusion&, const LoopOp&);

/// Why `merged` must not replace the kernels of an attention, whose costs together were `before`; "" when it may.
std::string refuse_attention(const Fusion&, const LoopOp& merged, const Cost& before);

/// Work over that of the two, times what they already had.
double inflation(const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer);

}  // namespace deplo::rules::fusion
