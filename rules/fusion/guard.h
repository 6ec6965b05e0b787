// The blow-up guard decides which merges pay off. All its rules and constants are in this file and in guard.cpp.
#pragma once
#include <string>

#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {

/// Upper bound on the work of a merged kernel, as a multiple of the work of the kernels that it was made from. A row
/// kernel that sweeps its row three times computes a merged producer three times.
inline constexpr double max_inflation = 2.1;
/// Upper bound on the growth of work if the merged kernel has a contraction. The contraction's operands should be
/// loaded, not computed: a computed operand is computed again for every tile of the other operand, and no rule can
/// stage or pack it. On PoCL (x * 2) @ w takes 1.6 times as long as x @ w, and (silu(g) * u) @ w 24 times as long,
/// while the merge saves one pass over x. An epilogue is little work compared with the products: 1.1 admits it, and
/// rejects x * 2 (3 operations and 2 loads per product instead of 2 and 2: 1.25).
inline constexpr double max_contraction_growth = 1.1;
/// A kernel counts as unpacking numbers if it writes at least `least_unpacking` times the bytes that it reads. A
/// contraction that multiplies the numbers with at most `max_rows_unpacked` rows unpacks them itself: a register tile
/// has all rows, and the unpacked numbers are not written and read again (docs/performance.md, "Packed weights").
inline constexpr double least_unpacking = 2;
inline constexpr std::int64_t max_rows_unpacked = 16;
/// Upper bound on the growth of work if two kernels become one with two results. If the second kernel uses the first
/// kernel's result in several sweeps, each sweep computes it again. A residual sum and its norm do 1.1 times the work
/// of both kernels, and take 0.85 of the time (docs/performance.md, "From a model to kernels").
inline constexpr double max_joined_growth = 1.25;
/// Lower bound on the bytes that such a joined kernel saves, as a fraction of the bytes of the smaller kernel. Saving
/// less does not justify a kernel of another form: two products of one vector share that vector, and each has a matrix
/// of its own.
inline constexpr double least_spared_bytes = 0.1;
/// Upper bound on the number of values of a joined kernel. A merge of sorted runs has more than 128. Twelve steps of a
/// recurrence, each of which computes the earlier steps again, had 700 values, and building their kernel took minutes:
/// 410 KB of OpenCL.
inline constexpr std::size_t max_joined_values = 256;
/// Upper bound on the elements among which a merged kernel chooses one by its position. A program that writes slices of
/// a tensor in a loop has up to two for each write: PoCL took 110 s for 32 kernels with up to 68. The kernels of 67
/// exported models have at most 28 (LayoutLMv3).
inline constexpr std::size_t max_pieces = 32;
/// Upper bound on how often a merged kernel looks elements up by loaded indices, as a multiple of the lookups before. A
/// vector of such elements takes a load for each lane, unless neighbours share the index, as in a row. A kernel that
/// compares all pairs would look each element up for every other one: for four lines of 1,600 gathered elements, it
/// took 620 to 640 µs, and two kernels took 235 µs (Zen 3, PoCL). A row kernel looks its row up at most three times.
inline constexpr double max_lookup_growth = 4;
/// If a matmul on a CPU has at least this many columns and this many products per sum, rows that are transposed in
/// memory are copied first. Each panel of columns reads all rows, one element from each 64-byte line, and that many
/// lines fill a cache of 32 KiB. With 1,024, 512 and 256 columns and products, matmul and copy took 0.63, 0.87 and 1.26
/// of the time of one kernel (Zen 3, docs/performance.md, "Functions and transposed copies").
inline constexpr std::int64_t least_side_of_copy = 512;
/// Upper bound on the elements of a sweep inside a row (softmax's division). One block runs the sweep. A longer sweep
/// is too much memory traffic for a single block, so the kernels stay separate. 2^18 f32 are 1 MiB: a vocabulary's
/// logits.
inline constexpr double longest_sweep = 1 << 18;

/// Upper bound on the sums that one score weights, i.e. the columns of a head. The block that computes a score holds
/// all these sums. More than 256 f32 (FlashAttention's widest head) do not stay in the registers of a warpgroup, and
/// then another block would have to compute the scores again.
inline constexpr double max_sums_of_score = 256;

/// Why a merge is refused.
struct Refusal {
  std::string why;       // "": the merge is not refused
  bool by_cost = false;  // schedules support the merged kernel's form, but it is expected to take longer
};

/// Decides whether `merged` may replace `producer` and `consumer`.
/// - No reduction may run more often than before, or inside another reduction.
/// - No reduction may run inside a sweep of a free axis, where it would lose its parallelism.
/// - A kernel may have one contraction, because a schedule tiles only one. A softmax and the product that computes its
///   scores count as one contraction.
/// - The rows and columns of a contraction must stay the last two axes of its kernel, as schedules need them, unless
///   the columns stay the last axis, as in attention (by cost).
/// - The padding of a convolution's input is stored, so that no window checks whether it is inside the input (by cost).
/// - Elements must not be looked up by loaded indices more than max_lookup_growth times as often (by cost), unless the
///   producer unpacks numbers for few rows.
/// - The work must stay within max_inflation and, with a contraction, within max_contraction_growth (by cost), unless
///   the producer unpacks numbers for few rows.
Refusal refuse(const Fusion&, const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer);

/// Is an attention expected to take less time as one kernel than with its scores in memory? With f32 operands it is: it
/// took 0.5 to 1.07 of the time on two cores of an EPYC, at all sizes (docs/performance.md, "Attention"). The exception
/// are deep heads on GPUs whose tensor cores do not multiply f32. With 16-bit operands one kernel is faster if tensor
/// cores can multiply both products (helpers/key_products.h) in whole instructions. On CPUs it is slower with 16-bit
/// operands, because dot-product instructions are used only in kernels with one product.
struct AttentionGain {
  bool pays = false;
  std::string why;
};
AttentionGain attention_gain(const Fusion&, const LoopOp& scores);

/// Are the last two free axes of the kernel the rows and columns of a contraction? For each of the two axes, the
/// contraction must have an operand that walks this axis and not the other one.
bool has_rows_and_columns(const Fusion&, const LoopOp&);
/// Does the kernel reduce windows, i.e. elements whose index is the sum of a free axis and a reduce axis?
bool reduces_windows(const Fusion&, const LoopOp&);
/// Does the kernel have a contraction, i.e. a product whose operands can be shared by tiles?
bool contracts(const Fusion&, const LoopOp&);

/// Returns why `merged` must not replace the kernels of an attention; "" if it may. `before`: their total cost.
std::string refuse_attention(const Fusion&, const LoopOp& merged, const Cost& before);

/// Would the merged kernel look elements up by loaded indices more than max_lookup_growth times as often? Numbers that
/// are unpacked for few rows do not count.
bool repeats_lookups(const Fusion&, const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer);

/// The work of `merged` divided by the work of the two kernels, but at least 1, times the greater inflation of the two.
/// Unpacking numbers for few rows counts as no additional work, because the rows of a register tile share it.
double inflation(const Fusion&, const LoopOp& merged, const LoopOp& producer, const LoopOp& consumer);

}  // namespace deplo::rules::fusion
