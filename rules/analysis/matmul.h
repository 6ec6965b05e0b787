// Finds the matmul of a program: sums of products over two axes of its tile.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// A reduce loop that sums products of two values. One value walks the tile's last thread axis (n), the other value
/// walks the thread axis before it (m).
struct Matmul {
  const ir::Loop* reduce = nullptr;
  std::size_t m = 0, n = 0;  // positions in the tile's axes
};
std::optional<Matmul> find_matmul(const ir::Program&);  // returns nullopt also if matrix instructions execute the loop
/// Returns whether the target's matrix instructions can multiply the operands. The operands must be inputs of one type:
/// a 16-bit float, or f32 if the program allows tf32.
bool multiplies_matrices(const ir::Program&, const Matmul&, const Target&);
/// Returns the same for warpgroup instructions, which take 64 rows and 16-bit elements.
bool multiplies_matrices_by_warpgroups(const ir::Program&, const Matmul&, const Target&);
/// Returns whether n is not the contiguous axis of an operand that walks n. Vector loads of such an operand need a copy
/// in shared memory.
bool is_transposed(const ir::Program&, const Matmul&);
/// If a block on a CPU has at most this many rows, the rows reuse a panel too rarely to pay for copying the panel or
/// for its place in the cache. The value lies between two measured sizes: this is true of blocks of 32 rows, but not of
/// blocks of 128 rows (docs/performance.md, "TinyLlama's matmuls and row kernels").
inline constexpr std::int64_t few_rows = 64;
/// Returns the position in the tile's axes of a batch axis whose products all read the same columns, or whose columns
/// are chosen by loaded numbers (the blocks of a routed MLP, where neighbours use one expert). If there are several
/// such axes, returns the last one.
std::optional<std::size_t> sharing_axis(const ir::Program&, const Matmul&);
/// Bytes of a page. The hardware prefetcher stops at its end (rules/tile/prefetch.cpp).
inline constexpr std::int64_t page = 4096;
/// Returns the largest distance in bytes between two rows of an operand along n, or 0 if it has no rows.
std::int64_t row_distance(const ir::Program&, const Matmul&);
/// The largest number of rows of a block that reads the operand along n in place: `near` if the operand's rows are less
/// than a page apart, `distant` if they are up to eight pages apart, `halves` if they have 16-bit elements
/// (docs/performance.md, "Few rows in place").
struct InPlaceLimits {
  std::int64_t near, distant, halves;
};
/// Returns whether a CPU kernel reads the operand along n in place, without copying a panel of it. It does if the
/// operand is not transposed, `rows` (of a block) is at most few_rows, and one of these holds:
/// - `rows` is within the limits of the target, in_place_limits(). A copy of 16-bit elements would be f32, as large as
///   what it saves ("Matmuls of few rows and 16 bits").
/// - The products of a batch share the panel: the first one loads it into the cache for the others ("A routed MLP").
bool reads_in_place(const ir::Program&, const Matmul&, std::int64_t rows, const InPlaceLimits&);
/// If the rows of a convolution follow the lines of its images (a1 / 28 and a1 % 28), returns the number of pixels in a
/// line (28). A thread needs no divisions if its rows lie within one line or are whole lines. Returns 0 if no index
/// divides the rows.
std::int64_t line_of_rows(const ir::Program&, const Matmul&);
/// Returns whether the sum walks each operand in constant steps. If so, a slab can hold the operand's rows, even if the
/// rows follow the lines of an image.
bool walks_evenly(const ir::Program&, const Matmul&);
inline bool are_in_lines(std::int64_t rows, std::int64_t line) {
  return line == 0 || line % rows == 0 || rows % line == 0;
}
/// Returns the bytes per element, in memory, of the operand that the matmul reads along n.
std::int64_t columns_bytes(const ir::Program&, const Matmul&);

}  // namespace deplo::rules
