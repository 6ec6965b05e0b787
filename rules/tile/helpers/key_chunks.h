// The sweep of an online softmax as a loop over chunks of keys: two contractions that share one launch.
#pragma once
#include <cstdint>

#include "core/target.h"
#include "ir/walk.h"
#include "rules/tile/helpers/key_products.h"

namespace deplo::rules {

/// What a chunk is made of, and who makes it.
struct ChunkShape {
  By by = By::threads;
  std::int64_t keys = 0;          // of a chunk
  std::int64_t columns = 1;       // threads that share a row
  std::int64_t rows = 1, fm = 1;  // of a block, and of a thread; fm of matrix instructions: those of a warp
  bool rows_in_registers = true;  // those of operand a, for all chunks; else in shared memory
  bool dots = false;              // lanes lie along what scores sum up, not along the keys
};

/// Lanes of a row's keys, and of its values.
std::int64_t chunk_lanes(const ir::Program&, const KeySweep&, std::int64_t keys, std::int64_t columns, const Target&);

/// The sweep has_chunks.
ir::Program with_key_chunks(ir::Program, const KeySweep&, const ChunkShape&, const Target&);

}  // namespace deplo::rules
