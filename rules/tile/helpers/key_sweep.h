// The sweep of an online softmax over its keys, and queries about it.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>
#include "core/target.h"
#include "ir/walk.h"

namespace deplo::rules {

/// A loop over keys with one SoftmaxSum, directly in the body of a tile whose axes are not dealt out yet. The tile has
/// an axis that the weights walk and the scores do not depend on.
struct KeySweep {
  std::size_t at = 0;  // in the tile's body
  const ir::SoftmaxSum* step = nullptr;
  std::vector<std::size_t> scores, weights;  // statements of the loop's body that compute the score, and the weights
  std::size_t n = 0;                         // the axis of the tile along which a row's values lie
  std::optional<std::size_t> m;              // the axis along which most rows share their keys; nullopt: there is none
};
std::optional<KeySweep> find_key_sweep(const ir::Program&);
const ir::Loop& loop_of(const ir::Tile&, const KeySweep&);

/// The loads among the scores' statements whose index depends on the key.
std::vector<const ir::Load*> key_loads(const ir::Loop& keys, const KeySweep&);
/// Does the load read consecutive elements for consecutive keys, as of a mask? Then lanes along the keys need no slab.
bool lies_along_keys(const ir::Program&, const ir::Load&, const std::string& key);

/// A slab of an input that scores read by the key. Keys are the slab's last axis, so that lanes lie along them. The
/// extent of the keys is 0, a placeholder for the chunk's size; their origin is that of the first key.
struct KeySlab {
  ir::Stage stage;
  std::vector<ir::Expr> index;  // of the load from the slab, without its last dimension, the key
};
std::optional<KeySlab> find_key_slab(const ir::Program&, const KeySweep&, const ir::Load&, const Target&);

/// A dimension of a slab: the expression by which a load walks it, and the index in the slab.
struct Walk {
  ir::Expr at;
  std::int64_t extent = 1;
  ir::Expr origin, in_slab;
};
/// A slab of the input that a load reads, with these dimensions in the input's order. nullopt: there is none, for
/// example because the load walks a further dimension by the same axes.
std::optional<KeySlab> find_slab(const ir::Program&, const ir::Load&, const std::vector<Walk>&);

/// Can the sweep be split into chunks of keys? Each of key_loads() must lie along the keys or have a slab.
/// Whether a value that a key has chooses what is loaded, as in a table of biases of relative positions. Lanes of keys
/// cannot: an index names one value.
bool gathers_by_key(const ir::Loop& keys);
bool has_chunks(const ir::Program&, const KeySweep&, const Target&);
/// Do `rows` neighbouring rows share all slabs of keys? Heads that share keys are rows, too.
bool share_keys(const ir::Program&, const KeySweep&, std::int64_t rows);
/// Can vectors of `lanes` values be read and written, and vectors of what lies along the keys be read?
bool has_vectors(const ir::Program&, const KeySweep&, std::int64_t lanes, const Target&);
/// The loop that sums up a score, if its operands are contiguous along it, so that lanes may lie along it. nullptr:
/// none.
const ir::Loop* dots_loop(const ir::Program&, const KeySweep&);

}  // namespace deplo::rules
