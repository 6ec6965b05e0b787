// The sweep of an online softmax over its keys, and queries about it.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>
#include "core/target.h"
#include "ir/walk.h"

namespace deplo::rules {

/// A loop over keys with one SoftmaxSum, directly in the body of a tile whose axes are not distributed yet. The weights
/// depend on an axis of the tile that the scores do not depend on.
struct KeySweep {
  std::size_t at = 0;  // position in the tile's body
  const ir::SoftmaxSum* step = nullptr;
  // Positions in the loop's body of the statements that compute the score, and the weights.
  std::vector<std::size_t> scores, weights;
  std::size_t n = 0;             // the tile's axis along which a row's values lie
  std::optional<std::size_t> m;  // the axis along which most rows share their keys; nullopt if there is none
};
std::optional<KeySweep> find_key_sweep(const ir::Program&);
const ir::Loop& loop_of(const ir::Tile&, const KeySweep&);

/// Returns the loads among the scores' statements whose index depends on the key.
std::vector<const ir::Load*> key_loads(const ir::Loop& keys, const KeySweep&);
/// Returns whether the load reads consecutive elements for consecutive keys, as from a mask. Then lanes along the keys
/// need no slab.
bool lies_along_keys(const ir::Program&, const ir::Load&, const std::string& key);

/// A slab of an input that scores read by the key. The keys are the slab's last axis, so that lanes lie along them. The
/// keys' extent is 0, a placeholder for the chunk's size, and their origin is that of the first key.
struct KeySlab {
  ir::Stage stage;
  std::vector<ir::Expr> index;  // index of the load from the slab, without its last dimension, the key
};
std::optional<KeySlab> find_key_slab(const ir::Program&, const KeySweep&, const ir::Load&, const Target&);

/// A dimension of a slab. `at`: the expression by which a load walks the dimension. `in_slab`: the index in the slab.
struct Walk {
  ir::Expr at;
  std::int64_t extent = 1;
  ir::Expr origin, in_slab;
};
/// Returns a slab of the input that a load reads, with these dimensions in the input's order. nullopt if there is none,
/// for example because the load walks another dimension by the same axes.
std::optional<KeySlab> find_slab(const ir::Program&, const ir::Load&, const std::vector<Walk>&);

/// Returns whether a value that depends on the key selects what is loaded, as in a table of relative position biases.
/// Lanes along the keys cannot load such elements, because an index names one value.
bool gathers_by_key(const ir::Loop& keys);
/// Returns whether the sweep can be split into chunks of keys: each of key_loads() lies along the keys or has a slab.
bool has_chunks(const ir::Program&, const KeySweep&, const Target&);
/// Returns whether `rows` neighbouring rows share all slabs of keys. Heads that share keys are rows, too.
bool share_keys(const ir::Program&, const KeySweep&, std::int64_t rows);
/// Returns whether vectors of `lanes` values can be read and written, and vectors can be read along the keys.
bool has_vectors(const ir::Program&, const KeySweep&, std::int64_t lanes, const Target&);
/// Returns the loop that sums up a score if its operands are contiguous along the loop's axis, so that lanes may lie
/// along it. nullptr if there is no such loop.
const ir::Loop* dots_loop(const ir::Program&, const KeySweep&);

}  // namespace deplo::rules
