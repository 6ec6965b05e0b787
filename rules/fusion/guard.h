// The blow-up guard decides which merges pay. Its rules and constants are all here.
#pragma once
#include <string>

#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {

/// Upper bound on the work of a merged kernel, as a multiple of the work of the kernels that it was made from. A row
/// kernel that sweeps its row three times computes a merged producer three times.
inline constexpr double most_inflation = 2.1;
/// Upper bound on the growth of work if the merged kernel has a contraction. The contraction's operands should be
/// loaded, not computed: a computed operand is computed again for every tile of the other operand, and no rule can
/// stage or pack it. On PoCL (x * 2) @ w takes 1.6 times as long as x @ w, and (silu(g) * u) @ w 24 times as long,
/// while the merge saves one pass over x. An epilogue is little work compared with the products: 1.1 admits it, and
/// rejects x * 2 (3 operations and 2 loads per product instead of 2 and 2: 1.25).
inline constexpr double most_contraction_growth = 1.1;
/// A kernel unpacks numbers if it writes at least so many times the bytes that it reads. If a contraction multiplies them
/// with at most so many rows, it unpacks them itself: a register tile has all rows, and the unpacked numbers are not
/// written and read again (docs/performance.md, "Packed weights").
inline constexpr double least_unpacking = 2;
inline constexpr std::int64_t most_rows_unpacked = 16;
/// Upper bound on the growth of work if two kernels become one with two results: what the second computes of the first's
/// result in several sweeps is computed again in each. A residual sum and its norm do 1.1 times the work of both, and
/// take 0.85 of the time (docs/performance.md, "From a model to kernels").
inline constexpr double most_joined_growth = 1.25;
/// Lower bound on the bytes that such a kernel spares, as a part of those of the smaller of the two. Less is not worth
/// another form of kernel: two products of one vector share that vector, and each has a matrix of its own.
inline constexpr double least_spared_bytes = 0.1;
/// Upper bound on the values of such a kernel. A merge of sorted runs has more than 128. Twelve steps of a recurrence, each of
/// which computes those before it again, had 700, and building their kernel took minutes: 410 KB of OpenCL.
inline constexpr std::size_t most_joined_values = 256;
/// Lower bound on the columns of a matmul on CPUs, and on the products of each sum, for which rows that are transposed
/// in memory are copied first. Each panel of columns reads all rows, an element of each of so many lines of 64 bytes
/// that they fill a cache of 32 KiB. With 1,024, 512 and 256 of both, matmul and copy took 0.63, 0.87 and 1.26 of the
/// time of one kernel (Zen 3, docs/performance.md, "Functions and transposed copies").
inline constexpr std::int64_t least_side_of_copy = 512;
/// Upper bound on the elements of a sweep inside a row (softmax's division). One block runs the sweep; a longer one is
/// too much memory traffic for a single block, so the kernels stay separate. 2^18 f32 are 1 MiB: a vocabulary's logits.
inline constexpr double longest_sweep = 1 << 18;

/// Upper bound on the sums that one score weights: the columns of a head. The block that computes a score holds all
/// these sums. More than 256 f32 (FlashAttention's widest head) do not stay in the registers of a warpgroup, and
/// another block would compute the scores again.
inline constexpr double most_sums_of_score = 256;

/// Why a merge is refused.
struct Refusal {
  std::string why;       // "": it is not
  bool by_cost = false;  // the merged kernel would have a form that schedules know, but is expected to take longer
};

/// Decides whether `merged` may replace `producer` and `consumer`.
/// - No reduction may run more often than before, or inside another reduction.
/// - No reduction may run inside a sweep of a free axis, where it would lose its parallelism.
/// - A kernel may have one contraction, because a schedule tiles one. A softmax and the product that computes its
/// scores
///   count as one contraction.
/// - The rows and columns of a contraction must stay the last two axes of its kernel, as schedules need them, unless
/// the
///   columns stay the last one, as those of attention do (by cost).
/// - Padding of what a convolution reads is stored, so that no window asks where it is (by cost).
/// - The work must stay within most_inflation and, with a contraction, within most_contraction_growth (by cost), unless
///   the producer unpacks numbers for few rows.
Refusal refuse(const Fusion&, const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer);

/// Is an attention expected to take less time as one kernel than with its scores in memory? With f32 operands it is: it
/// took 0.5 to 1.07 of the time on two cores of an EPYC, at all sizes (docs/performance.md, "Attention"). With 16-bit
/// operands it is if tensor cores can multiply both products (helpers/key_products.h) in whole instructions. On CPUs it
/// is not, because dot-product instructions are used only in kernels with one product.
struct AttentionGain {
  bool pays = false;
  std::string why;
};
AttentionGain attention_gain(const Fusion&, const LoopOp& scores);

/// Are the last two free axes of the kernel rows and columns of a contraction: has it for each of them an operand that
/// walks this one and not the other?
bool has_rows_and_columns(const Fusion&, const LoopOp&);
/// Does the kernel reduce windows, elements at the sum of a free and a summed axis?
bool reduces_windows(const Fusion&, const LoopOp&);
/// Does the kernel have a contraction, i.e. a product whose operands tiles can share?
bool contracts(const Fusion&, const LoopOp&);

/// Returns why `merged` must not replace the kernels of an attention; "" if it may. `before`: their total cost.
std::string refuse_attention(const Fusion&, const LoopOp& merged, const Cost& before);

/// The work of `merged` over the work of the two, but at least 1, times the greater inflation of the two. What is unpacked
/// for few rows counts as no more work: the rows of a register tile share it.
double inflation(const Fusion&, const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer);

}  // namespace deplo::rules::fusion
