// Distributes the sums of a matrix product over threads. Private to the room.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/target.h"
#include "ir/hardware/mma.h"
#include "ir/tile_program/program.h"
#include "rules/blocks/decisions.h"

namespace deplo::rules::blocks {

/// With `across` threads next to each other along a row, a thread has N / across columns, and every (threads /
/// across)th row.
struct Dealing {
  std::int64_t across = 1, columns = 1, rows = 1;  // across: threads; columns, rows: of a thread's sums
  Dealing(const ir::tile_program::Type& sums, std::int64_t threads)
      : across(std::min(sums.shape.back(), threads)),
        columns(sums.shape.back() / across),
        rows(std::max<std::int64_t>(1, ir::tile_program::element_count(sums) / threads / columns)) {}
};

/// Upper bound on the rows that are written out one after the other, so that an element of the right factor is loaded
/// once for all of them.
inline constexpr std::int64_t max_rows = 8;
/// Lower bound on columns: the lanes of a CPU's f32 vector (AVX2).
inline constexpr std::int64_t least_columns = 8;

/// The heuristic's schedule. A GPU's thread keeps all of its sums in registers. A CPU's thread keeps up to eight rows
/// of eight columns: split-K, a matmul and a Fourier transform take 0.45, 0.42 and 0.83 of the time that they take row
/// by row (Zen 3), and tuning chose the same on Zen 4 (docs/performance.md, "Block by block").
inline ProductSchedule usual_schedule(const Dealing& dealt, const Target& target) {
  if (!target.cpu) return {false, dealt.rows, dealt.columns};
  std::int64_t rows = max_rows;
  while (dealt.rows % rows != 0) rows /= 2;
  return {false, rows, dealt.columns % least_columns == 0 ? least_columns : dealt.columns};
}

/// How the warps of a block share the sums of a product by matrix instructions. Each warp has `rows` x `columns` atoms.
struct Warps {
  const ir::mma::Atom* atom = nullptr;
  std::int64_t across = 1;             // warps next to each other along a row
  std::int64_t rows = 1, columns = 1;  // atoms per warp
};
/// Returns nullopt if matrix instructions cannot compute the product: they lack its type or shape, it has fewer sums
/// than warps, or the sums need too many registers.
std::optional<Warps> warps_of(const ir::tile_program::Entry&, const ir::tile_program::Operation& product,
                              std::int64_t threads, const Target&);

}  // namespace deplo::rules::blocks
