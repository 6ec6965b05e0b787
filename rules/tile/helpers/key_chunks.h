// Rewrites the sweep of an online softmax as a loop over chunks of keys: two contractions that share one launch.
#pragma once
#include <cstdint>

#include "core/target.h"
#include "ir/walk.h"
#include "rules/tile/helpers/key_products.h"

namespace deplo::rules {

/// The shape of a chunk, and who computes it.
struct ChunkShape {
  By by = By::threads;
  std::int64_t keys = 0;          // keys in a chunk
  std::int64_t columns = 1;       // threads that share a row
  std::int64_t rows = 1, fm = 1;  // rows: rows of a block; fm: rows of a thread, or row tiles of a warp or warpgroup
  bool rows_in_registers = true;  // true: operand a's rows stay in registers for all chunks; false: in shared memory
  bool dots = false;              // true: lanes lie along the axis that a score sums over; false: along the keys
};

/// Returns the number of lanes along a row's keys, which is also the number of lanes along its values.
std::int64_t chunk_lanes(const ir::Program&, const KeySweep&, std::int64_t keys, std::int64_t columns, const Target&);

/// Rewrites the sweep. has_chunks() must hold for the sweep.
ir::Program with_key_chunks(ir::Program, const KeySweep&, const ChunkShape&, const Target&);

}  // namespace deplo::rules
