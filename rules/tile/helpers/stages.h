// Finds chunk loops, which stage a slab of each operand per iteration, and helps rules that schedule their stages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include "core/target.h"
#include "ir/walk.h"

namespace deplo::rules {

/// Returns the positions of the chunk loops in the tile's body: free loops that start at 0 and step by 1, whose body
/// begins with Stages and holds no other Stages.
std::vector<std::size_t> chunk_loops(const ir::Tile&);
const ir::Loop& loop_at(const ir::Tile&, std::size_t place);
ir::Loop& loop_at(ir::Tile&, std::size_t place);
/// Returns the number of Stages at the beginning of the body.
std::size_t leading_stages(const ir::Body&);

/// A Stage of a chunk loop, and the name of the knob that decides about it: the stage's source or, if an earlier stage
/// has the same source, the stage's buffer.
struct ChunkStage {
  std::size_t loop = 0, at = 0;  // positions: of the loop in the tile's body, and of the stage in the loop's body
  std::string knob;
};
std::vector<ChunkStage> chunk_stages(const ir::Tile&);
const ir::Stage& stage_at(const ir::Tile&, const ChunkStage&);
ir::Stage& stage_at(ir::Tile&, const ChunkStage&);

/// Returns whether the origin defines the position of each row of the slab.
bool has_rows_in_lines(const ir::Stage&);
/// Returns in one line why a TMA descriptor cannot describe the slab; "" if it can.
std::string tma_refusal(const ir::Stage&, const ir::Buffer& source);
/// Returns the number of columns of a panel if a row of `columns` columns is too wide for one box: as many as a box can
/// hold. Returns 0 if boxes hold whole rows. `element`: size of an element in bytes.
std::int64_t tma_panel(std::int64_t columns, std::int64_t element);
/// Returns the layouts in which TMA can store a slab: first the stage's own layout, then each swizzle pattern that
/// fits. The slab must be a whole number of panels, and a panel a whole number of patterns.
std::vector<ir::Stage> tma_layouts(const ir::Stage&);

/// Returns the stage copied by TMA in the layout that wgmma's descriptors need, with the widest pattern that fits. If
/// `transposed`, panels do not lie along k, and each instruction, of `rows` rows or columns, must begin with a panel.
/// nullopt if TMA cannot copy the slab in such a layout.
std::optional<ir::Stage> warpgroup_layout(const ir::Program&, const ir::Stage&, bool transposed, std::int64_t rows);
/// Returns the same for rows in lines (has_rows_in_lines), copied by cp.async of 16 bytes. `scope`: ranges of the axes
/// around the stage.
std::optional<ir::Stage> warpgroup_layout_in_lines(const ir::Program&, const ir::Stage&, bool transposed,
                                                   std::int64_t rows, const ir::Ranges& scope, const Target&);

/// Returns whether threads walk down the rows of the stage's slab. If so, an odd pad spreads their accesses over the
/// banks, and requires elements to be copied one by one. If not, copies narrower than the widest gain nothing.
bool walks_rows(const ir::Program&, const ir::Stage&);

/// Returns the name of a knob that every chunk loop has: `depth` for the first loop, `depth1` for the second …
std::string loop_knob(const std::string& name, std::size_t i);

/// Returns the ranges of the tile's axes and, if given, of a loop in its body.
ir::Ranges scope_in(const ir::Tile&, const ir::Loop* loop = nullptr);

/// Returns a wait after which slab `chunk` of the loop has arrived. `keep` later groups may still be in flight.
ir::AsyncWait wait_for(const ir::Loop&, const ir::Expr& chunk, std::int64_t keep, const ir::Ranges&);
/// Inserts, or replaces, the wait for an iteration's own slab after the loop's stages.
void put_wait(ir::Tile&, std::size_t place);
/// Returns whether the loop waits for asynchronous copies.
bool has_wait(const ir::Loop&);

/// Calls edit(stage) for each Stage of the buffer.
template <class Edit>
void edit_stages(ir::Body& body, const std::string& buffer, Edit&& edit) {
  ir::for_each<ir::Stage>(body, [&](ir::Stage& stage) {
    if (stage.buffer == buffer) edit(stage);
  });
}

/// Replaces `axis` in all expressions of the body and simplifies those that contained it. Removes guards that always
/// hold.
void replace_axis(ir::Body&, const std::string& axis, const ir::Expr& by, const ir::Ranges& around);

/// Returns the loop-carried accumulators, which start outside the loop. The others start again in every iteration.
std::set<std::string, std::less<>> carried(const ir::Tile&, const ir::Loop&);
/// Renames the values that a copied body defines to names that the program does not have. Names in `keep` stay.
void rename_values(ir::Body& copy, const ir::Program&, const std::set<std::string, std::less<>>& keep);

}  // namespace deplo::rules
