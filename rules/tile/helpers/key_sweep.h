// The sweep of an online softmax over its keys, and what may be done with it.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>
#include "core/target.h"
#include "ir/walk.h"

namespace deplo::rules {

/// A loop over keys that stands directly in the tile, before its axes are dealt out, by one SoftmaxSum. Its scores are
/// the same for all values of an axis that its weights walk.
struct KeySweep {
  std::size_t at = 0;  // in the tile's body
  const ir::SoftmaxSum* step = nullptr;
  std::vector<std::size_t> scores, weights;  // statements of the loop's body that make the score, and the weights
  std::size_t n = 0;                         // the axis of the tile along which a row's values lie
  std::optional<std::size_t> m;              // the axis along which most rows share their keys; nullopt: there is none
};
std::optional<KeySweep> find_key_sweep(const ir::Program&);
const ir::Loop& loop_of(const ir::Tile&, const KeySweep&);

/// Loads of the scores that walk the key.
std::vector<const ir::Load*> key_loads(const ir::Loop& keys, const KeySweep&);
/// Lanes lie along the keys there already, as in a mask.
bool lies_along_keys(const ir::Program&, const ir::Load&, const std::string& key);

/// A slab of an input that scores read by the key, its keys last, so that lanes lie along them. The extent of the keys, 0,
/// is a chunk's; their origin is that of the first one.
struct KeySlab {
  ir::Stage stage;
  std::vector<ir::Expr> index;  // of the load, without its last one, the key
};
std::optional<KeySlab> find_key_slab(const ir::Program&, const KeySweep&, const ir::Load&, const Target&);

/// A dimension of a slab: what a load walks it by, and where in the slab that is.
struct Walk {
  ir::Expr at;
  std::int64_t extent = 1;
  ir::Expr origin, in_slab;
};
/// A slab of the input that a load reads, of these dimensions in the input's order; nullopt: it walks others by them, too.
std::optional<KeySlab> find_slab(const ir::Program&, const ir::Load&, const std::vector<Walk>&);

/// Can the keys come in chunks? Each load of the scores that walks the key has lanes along the keys, or a slab.
bool has_chunks(const ir::Program&, const KeySweep&, const Target&);
/// Do so many neighbouring rows share all slabs of keys? Heads that share keys are rows, too.
bool share_keys(const ir::Program&, const KeySweep&, std::int64_t rows);
/// May vectors of so many values, and of what lies along the keys, be read and written?
bool has_vectors(const ir::Program&, const KeySweep&, std::int64_t lanes, const Target&);
/// The loop that sums up a score, of products that lie side by side in memory: lanes may lie along it. nullptr: none.
const ir::Loop* dots_loop(const ir::Program&, const KeySweep&);

}  // namespace deplo::rules
