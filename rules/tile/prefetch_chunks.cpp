// prefetch_chunks: prefetches the next chunk of a staged operand while the products of this chunk run.
//   for a7 in 0..32: # free
//     b_smem = Stage(b, origin=((a7 * 64), (a2 * 256)), slab=(s0:64@0, s1:256@1)) lanes=16
//     for a8 in 0..64: # reduce
//       →   Prefetch(b[…]) level2
//       in0 = load a[(a1 * 8), ((a7 * 64) + a8)]
// Without it, memory is idle during the products, and the products wait during the copies. Each iteration of each
// thread prefetches one cache line of the slab, or a few lines. During the last chunk these are lines of the next
// block's first chunk. The lines go to the level 2 cache, because a slab is mostly larger than level 1
// (docs/performance.md, "Chunks ahead").
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// A slab of rows of cache lines, copied by loads and stores before a reduce loop.
struct Slab {
  const ir::Loop* chunks = nullptr;
  const ir::Loop* reduce = nullptr;
  const ir::Stage* stage = nullptr;
  std::string knob;
  std::int64_t line = 1;  // elements of a cache line

  std::int64_t lines_of_row() const { return ceil_div(stage->slab.back().extent, line); }
  std::int64_t lines() const { return stage->slab.front().extent * lines_of_row(); }
};

// Returns the threads of the tile's block, and the number of this thread.
std::pair<std::int64_t, ir::Expr> threads_of(const ir::Tile& tile) {
  std::int64_t count = 1;
  ir::Expr number = 0;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::thread) number = number * axis.extent + ir::var(axis.name), count *= axis.extent;
  return {count, number};
}

// Returns whether the slab has rows that lie along the source's last dimension.
bool has_rows(const ir::Stage& stage, const ir::Buffer& source) {
  const bool plain = stage.transport == ir::Transport::copy && stage.slots == 1 && stage.slab.size() == 2;
  const int last = static_cast<int>(source.shape.size()) - 1;
  return plain && !has_rows_in_lines(stage) && stage.slab.back().dim == last && stage.slab.front().dim != last &&
         source.strides.back() == 1;
}

std::vector<Slab> slabs(const ir::Program& program) {
  std::vector<Slab> result;
  const auto matmul = find_matmul(program);
  if (!matmul || matmul->reduce->pairs || !matmul->reduce->per.empty()) return result;
  const ir::Tile& tile = tile_of(program);
  for (const ChunkStage& at : chunk_stages(tile)) {
    const ir::Loop& chunks = loop_at(tile, at.loop);
    const ir::Stage& stage = stage_at(tile, at);
    const ir::Buffer& source = *program.find(stage.source);
    const auto is_reduce = [&](const ir::Stmt& stmt) { return stmt.as<ir::Loop>() == matmul->reduce; };
    if (chunks.axis.extent > 1 && !chunks.end && std::ranges::any_of(chunks.body, is_reduce) && has_rows(stage, source))
      result.push_back({&chunks, matmul->reduce, &stage, at.knob, line_bytes / ir::bytes(source.dtype)});
  }
  return result;
}

// Returns whether the slab's elements are in so few products that the copies take a large part of the time. A shifted
// last thread repeats rows, hence twice few_rows. CPUs with AVX2 were not measured.
bool pays(const ir::Program& program, const Slab& slab, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  std::int64_t products = slab.reduce->axis.extent;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind != ir::Bind::block) products *= axis.extent;
  const std::int64_t elements = slab.stage->slab.front().extent * slab.stage->slab.back().extent;
  return products < 2 * few_rows * elements && !has_few_registers(target);
}

Verdict decide_prefetch_chunks(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!target.prefetch) return Skip{"no prefetch by address on this target"};
  const std::vector<Slab> found = slabs(program);
  for (const Slab& slab : found)
    if (!pins.on_off(slab.knob)) return on_off_fork(slab.knob, pays(program, slab, target));
  if (found.empty()) return Skip{"no chunks of a matmul's operand, copied row by row"};
  return Apply{};
}

// Returns the last block axis along which the slabs of blocks differ; nullptr if there is none.
const ir::Axis* next_block(const ir::Tile& tile, const ir::Stage& stage) {
  const auto steps = [&](const ir::Axis& axis) {
    return axis.bind == ir::Bind::block && axis.extent > 1 && ir::depends_on(stage.origin, axis.name);
  };
  const auto found = std::find_if(tile.axes.rbegin(), tile.axes.rend(), steps);
  return found == tile.axes.rend() ? nullptr : &*found;
}

// Returns the index of cache line `line` of the chunk after the current one. After the last chunk, this is the first
// chunk of the next block.
std::vector<ir::Expr> index_of(const ir::Tile& tile, const Slab& slab, const ir::Expr& line) {
  const std::string& chunk = slab.chunks->axis.name;
  const std::int64_t chunks = slab.chunks->axis.extent;
  const ir::Expr next = ir::var(chunk) + 1;
  ir::Substitution ahead = {{chunk, next % chunks}};
  if (const ir::Axis* block = next_block(tile, *slab.stage))
    ahead.emplace_back(block->name, ir::var(block->name) + next / chunks);
  std::vector<ir::Expr> index;
  for (const ir::Expr& e : slab.stage->origin) index.push_back(ir::substitute(e, ahead));
  ir::Expr& row = index[slab.stage->slab.front().dim];
  row = row + line / slab.lines_of_row();
  index.back() = index.back() + line % slab.lines_of_row() * slab.line;
  ir::Ranges scope = scope_in(tile, slab.chunks);
  scope.emplace_back(slab.reduce->axis.name, ir::Interval{0, slab.reduce->axis.extent - 1});
  for (ir::Expr& e : index) e = ir::simplify(e, scope);
  return index;
}

// Returns the prefetches for one iteration of the reduce loop. The iterations of all threads, in order, divide the
// lines among them: several iterations share a line, or each has several lines. Lines past the slab's end may be among
// them.
ir::Body prefetches(const ir::Tile& tile, const Slab& slab) {
  const std::int64_t turns = slab.reduce->axis.extent;
  const auto [threads, thread] = threads_of(tile);
  const ir::Expr turn = thread * turns + ir::var(slab.reduce->axis.name);
  const std::int64_t share = std::max<std::int64_t>(1, threads * turns / slab.lines());
  const std::int64_t each = ceil_div(slab.lines(), threads * turns);
  ir::Body result;
  for (std::int64_t i = 0; i < each; ++i)
    result.emplace_back(ir::Prefetch{
        .buffer = slab.stage->source, .index = index_of(tile, slab, turn * each / share + i), .level2 = true});
  return result;
}

ir::Program apply_prefetch_chunks(ir::Program program, const Target&, const Pins& pins) {
  const ir::Loop* reduce = nullptr;
  ir::Body ahead;
  for (const Slab& slab : slabs(program)) {
    if (!*pins.on_off(slab.knob)) continue;
    reduce = slab.reduce;
    std::ranges::move(prefetches(tile_of(program), slab), std::back_inserter(ahead));
  }
  if (reduce == nullptr) return program;
  ir::Body& body = to_edit(program, *reduce).body;
  body.insert(body.begin(), ahead.begin(), ahead.end());
  return program;
}

}  // namespace

extern const Rule prefetch_chunks = {
    .name = "prefetch_chunks",
    .summary = "the next chunk, prefetched during the products",
    .knobs = {{"*", KnobType::on_off, Value{std::int64_t{0}}}},
    .decide = decide_prefetch_chunks,
    .apply = apply_prefetch_chunks,
};

}  // namespace deplo::rules
