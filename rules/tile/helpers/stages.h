// Chunk loops, which stage a slab of each operand per trip, and what the rules that schedule their stages share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include "ir/walk.h"

namespace deplo::rules {

/// Places in the tile's body of its chunk loops: free loops from 0 by 1 whose body begins with Stages and holds no
/// others.
std::vector<std::size_t> chunk_loops(const ir::Tile&);
const ir::Loop& loop_at(const ir::Tile&, std::size_t place);
ir::Loop& loop_at(ir::Tile&, std::size_t place);
/// How many Stages the body begins with.
std::size_t leading_stages(const ir::Body&);

/// A Stage of a chunk loop and the knob that decides about it: its source, or where that is staged once more its
/// buffer.
struct ChunkStage {
  std::size_t loop = 0, at = 0;  // the loop's place in the tile's body, the stage's in the loop's
  std::string knob;
};
std::vector<ChunkStage> chunk_stages(const ir::Tile&);
const ir::Stage& stage_at(const ir::Tile&, const ChunkStage&);
ir::Stage& stage_at(ir::Tile&, const ChunkStage&);

/// Why no descriptor of TMA can describe the slab, in one line; "" where one can.
std::string tma_refusal(const ir::Stage&, const ir::Buffer& source);
/// Columns of one box: all of them, else the widest panel that a box can hold. 0: whole rows.
std::int64_t tma_panel(std::int64_t columns, std::int64_t element);
/// How TMA can lay out a slab: as it does, then in each of its patterns, of which every panel is a whole number.
std::vector<ir::Stage> tma_layouts(const ir::Stage&);

/// A slab as wgmma's descriptors want it, in the widest pattern, by TMA: an instruction of `rows`, or columns, begins with
/// a panel where these are not along k (`transposed`). nullopt: TMA cannot copy it so.
std::optional<ir::Stage> warpgroup_layout(const ir::Program&, const ir::Stage&, bool transposed, std::int64_t rows);

/// Do threads walk down the rows of the stage's slab? Then an odd pad spreads their banks, for which elements are
/// copied one by one; else nothing is gained by copies narrower than the widest.
bool walks_rows(const ir::Program&, const ir::Stage&);

/// A knob that every chunk loop has: `depth` of the first, `depth1` of the second …
std::string loop_knob(const std::string& name, std::size_t i);

/// Ranges of the tile's axes and, where one is given, of a loop in its body.
ir::Ranges scope_in(const ir::Tile&, const ir::Loop* loop = nullptr);

/// After this, slab `chunk` of the loop is there; `keep` later groups may be under way.
ir::AsyncWait wait_for(const ir::Loop&, const ir::Expr& chunk, std::int64_t keep, const ir::Ranges&);
/// Puts the wait for a trip's own slab behind the loop's stages, or renews it.
void put_wait(ir::Tile&, std::size_t place);

/// Replaces `axis` in all expressions of the body and simplifies those that held it. Guards that always hold go.
void replace_axis(ir::Body&, const std::string& axis, const ir::Expr& by, const ir::Ranges& around);

/// The accumulators that start outside the loop; the others start anew in every trip.
std::set<std::string, std::less<>> carried(const ir::Tile&, const ir::Loop&);
/// Gives what the copy of a body defines names that the program does not have; those in `keep` stay.
void rename_values(ir::Body& copy, const ir::Program&, const std::set<std::string, std::less<>>& keep);

}  // namespace deplo::rules
