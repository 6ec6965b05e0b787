// Queries about a Tile IR program: its tile, loops, sums and axes.
#pragma once
#include <cstdint>
#include <string>

#include "ir/walk.h"

namespace deplo::rules {

/// The one Tile statement of a Tile IR program.
const ir::Tile& tile_of(const ir::Program&);
ir::Tile& tile_of(ir::Program&);
/// The loop `found` of the program, for editing.
ir::Loop& to_edit(ir::Program&, const ir::Loop& found);

/// Does one index expression of a Load or a Write depend on both axes?
bool walk_together(const ir::Tile&, const std::string& a, const std::string& b);
/// Does the body load from the buffer?
bool loads(const ir::Body&, const std::string& buffer);
/// Does the statement only define a value?
bool is_scalar(const ir::Stmt&);
/// The loop that matrix instructions execute (ir/hardware/mma.h); nullptr: there is none.
const ir::Loop* products_loop(const ir::Body&);
inline bool has_products(const ir::Body& body) { return products_loop(body) != nullptr; }
/// Does the body rescale its sums along the way, as an online softmax does? Such sums cannot be split like others.
bool has_online_softmax(const ir::Body&);
/// Does the tile body have a reduce loop, or a scan (at any depth)?
bool has_reduce(const ir::Body&);
bool has_scan(const ir::Body&);
bool has_bind(const ir::Tile&, ir::Bind);
/// Does the statement define a 64-bit integer? Vectors, matrix instructions and staged slabs cannot hold one.
bool is_i64(const ir::Stmt&);

/// Upper bound on the elements of a window whose channels are the lanes of a CPU's vectors, and which several places of
/// a thread share. 7 x 7 of 768 channels took 1.3 times as long so, likely because lines 3 KiB apart
/// share few sets of a cache (docs/performance.md, "Depthwise convolutions").
constexpr std::int64_t most_elements_with_channels = 16;

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace deplo::rules
