// How the sums of a product of matrices are dealt out to threads. Private to the room.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/target.h"
#include "ir/hardware/mma.h"
#include "ir/tile_program/program.h"
#include "rules/blocks/decisions.h"

namespace deplo::rules::blocks {

/// With `across` threads beside each other along a row, a thread has N / across columns, and every (threads / across)th
/// row.
struct Dealing {
  std::int64_t across = 1, columns = 1, rows = 1;  // threads; of a thread's sums
  Dealing(const ir::tile_program::Type& sums, std::int64_t threads)
      : across(std::min(sums.shape.back(), threads)),
        columns(sums.shape.back() / across),
        rows(std::max<std::int64_t>(1, ir::tile_program::element_count(sums) / threads / columns)) {}
};

/// Rows that are written out one after the other, so that an element of the right factor is loaded once for all of
/// them.
inline constexpr std::int64_t max_rows = 8;
/// Columns of a CPU's vector of f32 (AVX2).
inline constexpr std::int64_t least_columns = 8;

/// A CPU's thread goes along a row of the sums; a GPU's keeps all of its sums in registers.
inline ProductSchedule usual_schedule(const Dealing& dealt, const Target& target) {
  return target.cpu ? ProductSchedule{false, 1, dealt.columns} : ProductSchedule{false, dealt.rows, dealt.columns};
}

/// The warps of a block that share the sums of a product by matrix instructions: each has `rows` x `columns` atoms.
struct Warps {
  const ir::mma::Atom* atom = nullptr;
  std::int64_t across = 1;             // warps beside each other along a row
  std::int64_t rows = 1, columns = 1;  // atoms of a warp
};
/// nullopt: matrix instructions cannot do it (another type or shape, fewer sums than warps, more than registers hold).
std::optional<Warps> warps_of(const ir::tile_program::Entry&, const ir::tile_program::Operation& product,
                              std::int64_t threads, const Target&);

}  // namespace deplo::rules::blocks
