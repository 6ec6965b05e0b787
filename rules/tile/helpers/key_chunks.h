// The sweep of an online softmax as a loop over chunks of keys: two contractions that share one launch.
#pragma once
#include <cstdint>
#include <string>

#include "ir/hardware/mma.h"
#include "rules/tile/helpers/key_sweep.h"

namespace deplo::rules {

/// Who multiplies: each thread for itself, or matrix instructions (ir/hardware/mma.h) of warps or of warpgroups.
enum class By : std::uint8_t { threads, warps, warpgroups };
/// Of the sums of scores, or of what they weigh, over so many columns; nullptr: there is none.
const ir::mma::Atom* atom_of(By, std::int64_t columns);

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

/// Why matrix instructions cannot make both products of chunks of so many keys, in one line; "": they can.
std::string products_obstacle(const ir::Program&, const KeySweep&, By, std::int64_t keys, const Target&);

/// May the rows that are multiplied by keys lie in shared memory, too?
bool has_row_slab(const ir::Program&, const KeySweep&);

/// The sweep has_chunks.
ir::Program with_key_chunks(ir::Program, const KeySweep&, const ChunkShape&, const Target&);

}  // namespace deplo::rules
