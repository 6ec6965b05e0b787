// Finds the matmul of a program: sums of products over two axes of its tile.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// A reduce loop that sums products of two values. One value walks the tile's last thread axis (n), the other one walks
/// the thread axis before it (m).
struct Matmul {
  const ir::Loop* reduce = nullptr;
  std::size_t m = 0, n = 0;  // positions in the tile's axes
};
std::optional<Matmul> find_matmul(const ir::Program&);  // nullopt also if matrix instructions execute the loop
/// Can the target's matrix instructions multiply the operands? They must be inputs of one type: a float of 16 bits, or
/// f32 if the program allows tf32.
bool multiplies_matrices(const ir::Program&, const Matmul&, const Target&);
/// The same for instructions of warpgroups, which take 64 rows and elements of 16 bits.
bool multiplies_matrices_by_warpgroups(const ir::Program&, const Matmul&, const Target&);
/// Is n not the contiguous axis of an operand that walks n? Vector loads of such an operand need a copy in shared
/// memory.
bool is_transposed(const ir::Program&, const Matmul&);
/// If a block on a CPU has at most this many rows, they reuse a panel too rarely to pay for its copy or for its place
/// in the cache. The value lies between two measured sizes: this is true of blocks of 32 rows, but not of 128
/// (docs/performance.md, "TinyLlama's matmuls").
inline constexpr std::int64_t few_rows = 64;
/// An axis of a batch of products that all read the same columns, or whose columns loaded numbers choose (the blocks of
/// a routed MLP, where neighbours use one expert). Returns its position in the tile's axes; the last one of several.
std::optional<std::size_t> sharing_axis(const ir::Program&, const Matmul&);
/// On CPUs: does the matmul read the operand along n in place, without copying a panel of it? It does if the operand is
/// not transposed, `rows` (of a block) is at most few_rows, and one of these holds:
/// - `rows` is at most `most` (rows_in_place() of the target), and the panel's rows are less than a page apart
///   (docs/performance.md, "TinyLlama's matmuls").
/// - `rows` is at most `most`, and the elements have 16 bits: a copy would be f32, as large as what it saves ("Matmuls of
///   few rows and 16 bits").
/// - The products of a batch share the panel: the first one loads it into the cache for the others ("A routed MLP").
bool reads_in_place(const ir::Program&, const Matmul&, std::int64_t rows, std::int64_t most);
/// Where the rows of a convolution go along lines of its images (a1 / 28 and a1 % 28): the places of a line. A thread
/// whose rows are within a line, or whole lines, divides nothing. 0: no index divides the rows.
std::int64_t line_of_rows(const ir::Program&, const Matmul&);
/// Does the sum walk each operand in constant steps? Then a slab can have its rows, in lines or not.
bool walks_evenly(const ir::Program&, const Matmul&);
inline bool are_in_lines(std::int64_t rows, std::int64_t line) {
  return line == 0 || line % rows == 0 || rows % line == 0;
}
/// Bytes per element, in memory, of the operand that the matmul reads along n.
std::int64_t columns_bytes(const ir::Program&, const Matmul&);

}  // namespace deplo::rules
