// The matmul of a program: a sum of products over two axes of its tile.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// A reduce loop that sums products of two values, one that walks the tile's last thread axis (n), one the thread axis
/// before it (m).
struct Matmul {
  const ir::Loop* reduce = nullptr;
  std::size_t m = 0, n = 0;  // positions in the tile's axes
};
std::optional<Matmul> find_matmul(const ir::Program&);  // none where matrix instructions multiply
/// Can matrix instructions of the target multiply the operands: inputs of one type that has 16 bits, or f32 as tf32?
bool multiplies_matrices(const ir::Program&, const Matmul&, const Target&);
/// Is an operand that walks n laid out in another order than along n? Vectors of it want a copy in shared memory.
bool is_transposed(const ir::Program&, const Matmul&);
/// Up to so many rows of a block on a CPU share a panel too seldom to pay for its copy or its place in the cache. It
/// lies between what was measured: blocks of 32 rows, where that held, and of 128, where it did not
/// (docs/performance.md, "TinyLlama's matmuls").
inline constexpr std::int64_t few_rows = 64;
/// An axis of a batch of products along which all have the same columns, or numbers choose them (the blocks of a routed
/// MLP, neighbours in one expert): its position in the tile's axes, of several the last.
std::optional<std::size_t> sharing_axis(const ir::Program&, const Matmul&);
/// On CPUs a matmul reads the panel of an operand where it lies, without a copy, where few_rows of a block or less
/// would share the copy and rows of the panel lie less than a page apart (docs/performance.md, "TinyLlama's matmuls"). Of
/// 16 bits at any distance: a copy would be of f32, as large as what it saves ("Matmuls of few rows and 16 bits"). At any
/// distance, too, where the products of a batch share it: the first brings it to the cache for the others ("A routed MLP").
bool reads_in_place(const ir::Program&, const Matmul&, std::int64_t rows);
/// Bytes of an element, in memory, of what a matmul reads along n.
std::int64_t columns_bytes(const ir::Program&, const Matmul&);

}  // namespace deplo::rules
