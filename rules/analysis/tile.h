// Queries about a Tile IR program: its tile, loops, sums and axes.
#pragma once
#include <cstdint>
#include <string>

#include "ir/walk.h"

namespace deplo::rules {

/// Returns the one Tile statement of a Tile IR program.
const ir::Tile& tile_of(const ir::Program&);
ir::Tile& tile_of(ir::Program&);
/// Returns the loop `found` of the program as a mutable reference.
ir::Loop& to_edit(ir::Program&, const ir::Loop& found);

/// Returns whether one index expression of a Load or a Write depends on both axes.
bool walk_together(const ir::Tile&, const std::string& a, const std::string& b);
/// Returns whether the body loads from the buffer.
bool loads(const ir::Body&, const std::string& buffer);
/// Returns whether the statement only defines a value.
bool is_scalar(const ir::Stmt&);
/// Returns the loop that matrix instructions execute (ir/hardware/mma.h); nullptr if there is none.
const ir::Loop* products_loop(const ir::Body&);
inline bool has_products(const ir::Body& body) { return products_loop(body) != nullptr; }
/// Returns whether the body rescales its sums in the loop, as an online softmax does. Such sums cannot be split like
/// others.
bool has_online_softmax(const ir::Body&);
/// Returns whether the body has a reduce loop, or a scan, at any depth.
bool has_reduce(const ir::Body&);
bool has_scan(const ir::Body&);
bool has_bind(const ir::Tile&, ir::Bind);
/// Returns whether the statement defines a 64-bit integer. Vectors, matrix instructions and staged slabs cannot hold
/// one.
bool is_i64(const ir::Stmt&);

/// Maximum number of elements in a window for which a CPU stores lines of at most half a vector with channels last, so
/// that the channels are the lanes. With a window of 7 x 7 and 768 channels this took 1.3 times as long, likely because
/// lines 3 KiB apart share few sets of a cache (docs/performance.md, "Depthwise convolutions"). That was measured
/// before outputs shared windows of this size.
constexpr std::int64_t max_elements_with_channels = 16;

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace deplo::rules
