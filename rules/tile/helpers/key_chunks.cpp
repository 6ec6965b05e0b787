#include "rules/tile/helpers/key_chunks.h"

#include <utility>

#include "core/text/match.h"
#include "rules/analysis/tile.h"
#include "rules/tile/helpers/product_chunks.h"
#include "rules/tile/helpers/thread_chunks.h"

namespace deplo::rules {

// A mask has rows that span all keys. A dialect may require vectors in these rows to be aligned.
std::int64_t chunk_lanes(const ir::Program& program, const KeySweep& sweep, std::int64_t keys, std::int64_t columns,
                         const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const std::int64_t values = tile.axes[sweep.n].extent;
  const std::int64_t rows = traits(target.dialect).unaligned_vectors ? 0 : loop_of(tile, sweep).axis.extent;
  std::int64_t lanes = gathers_by_key(loop_of(tile, sweep)) ? 1 : target.vector_lanes;
  while (lanes > 1 && (keys % (columns * lanes) != 0 || values % (columns * lanes) != 0 || rows % lanes != 0 ||
                       !has_vectors(program, sweep, lanes, target)))
    lanes /= 2;
  return lanes;
}

ir::Program with_key_chunks(ir::Program program, const KeySweep& sweep, const ChunkShape& shape, const Target& target) {
  using namespace key_chunks;
  if (shape.by != By::threads) return ProductChunks(std::move(program), sweep, shape, target).run();
  if (target.cpu) return MemoryChunks(std::move(program), sweep, shape, target).run();
  return ThreadChunks(std::move(program), sweep, shape, target).run();
}

}  // namespace deplo::rules
