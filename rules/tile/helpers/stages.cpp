#include "rules/tile/helpers/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "ir/hardware/tma.h"
#include "ir/walk.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"

namespace deplo::rules {
namespace {

using Names = std::set<std::string, std::less<>>;

std::size_t stages_in(const ir::Body& body) {
  std::size_t count = 0;
  ir::for_each(body, [&](const ir::Stmt& stmt) { count += stmt.as<ir::Stage>() != nullptr; });
  return count;
}

bool is_chunk_loop(const ir::Stmt& stmt) {
  const auto* loop = stmt.as<ir::Loop>();
  if (loop == nullptr || loop->axis.bind != ir::Bind::free || !loop->start.is_constant(0) || loop->step != 1)
    return false;
  const std::size_t leading = leading_stages(loop->body);
  return leading > 0 && stages_in(loop->body) == leading;
}

bool holds(const ir::Body& outer, const ir::Body* inner) {
  if (&outer == inner) return true;
  return std::any_of(outer.begin(), outer.end(), [&](const ir::Stmt& stmt) {
    const ir::Body* body = ir::inner_body(stmt);
    return body != nullptr && holds(*body, inner);
  });
}

void drop_true_guards(ir::Body& body) {
  ir::Body kept;
  for (ir::Stmt& stmt : body) {
    if (ir::Body* inner = ir::inner_body(stmt)) drop_true_guards(*inner);
    auto* guard = stmt.as<ir::If>();
    if (guard != nullptr && guard->condition.is_constant(1))
      std::move(guard->then.begin(), guard->then.end(), std::back_inserter(kept));
    else
      kept.push_back(std::move(stmt));
  }
  body = std::move(kept);
}

}  // namespace

std::vector<std::size_t> chunk_loops(const ir::Tile& tile) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < tile.body.size(); ++i)
    if (is_chunk_loop(tile.body[i])) places.push_back(i);
  return places;
}

const ir::Loop& loop_at(const ir::Tile& tile, std::size_t place) {
  const auto* loop = tile.body[place].as<ir::Loop>();
  CHECK(loop != nullptr);
  return *loop;
}

ir::Loop& loop_at(ir::Tile& tile, std::size_t place) {
  auto* loop = tile.body[place].as<ir::Loop>();
  CHECK(loop != nullptr);
  return *loop;
}

std::size_t leading_stages(const ir::Body& body) {
  const auto other = [](const ir::Stmt& stmt) { return stmt.as<ir::Stage>() == nullptr; };
  return static_cast<std::size_t>(std::find_if(body.begin(), body.end(), other) - body.begin());
}

std::vector<ChunkStage> chunk_stages(const ir::Tile& tile) {
  std::vector<ChunkStage> result;
  Names sources;
  for (const std::size_t place : chunk_loops(tile)) {
    const ir::Body& body = loop_at(tile, place).body;
    for (std::size_t i = 0; i < leading_stages(body); ++i) {
      const auto& stage = *body[i].as<ir::Stage>();
      result.push_back({place, i, sources.insert(stage.source).second ? stage.source : stage.buffer});
    }
  }
  return result;
}

const ir::Stage& stage_at(const ir::Tile& tile, const ChunkStage& at) {
  return *loop_at(tile, at.loop).body[at.at].as<ir::Stage>();
}

ir::Stage& stage_at(ir::Tile& tile, const ChunkStage& at) {
  return *loop_at(tile, at.loop).body[at.at].as<ir::Stage>();
}

std::int64_t tma_panel(std::int64_t columns, std::int64_t element) {
  if (columns <= ir::tma::max_extent) return 0;
  const std::vector<std::int64_t> widths = divisors(columns, 1, ir::tma::max_extent);
  const auto good = [&](std::int64_t width) { return width * element % ir::tma::granule == 0; };
  const auto widest = std::find_if(widths.rbegin(), widths.rend(), good);
  return widest == widths.rend() ? 0 : *widest;
}

bool has_rows_in_lines(const ir::Stage& stage) {
  return std::ranges::any_of(stage.slab, [](const ir::SlabAxis& axis) { return !axis.walks_dimension(); });
}

std::string tma_refusal(const ir::Stage& stage, const ir::Buffer& source) {
  const std::int64_t element = ir::bytes(source.dtype);
  if (element == 1) return fmt::format("`{}` has elements of {} bytes", source.name, element);
  if (has_rows_in_lines(stage)) return fmt::format("the rows of `{}` are split into lines", source.name);
  const auto descends = [](const ir::SlabAxis& a, const ir::SlabAxis& b) { return a.dim >= b.dim; };
  const bool in_order = std::adjacent_find(stage.slab.begin(), stage.slab.end(), descends) == stage.slab.end();
  if (!in_order || static_cast<std::size_t>(stage.slab.back().dim) + 1 != source.shape.size())
    return fmt::format("the slab of `{}` has its dimensions in a different order", source.name);
  for (std::size_t d = 0; d < source.shape.size(); ++d)
    if (source.shape[d] > 1 && source.strides[d] < 1) return fmt::format("`{}` repeats elements", source.name);
  ir::TmaDescriptor box = {"", source.name, std::vector<std::int64_t>(source.shape.size(), 1), 0};
  for (const ir::SlabAxis& axis : stage.slab) box.box[static_cast<std::size_t>(axis.dim)] = axis.extent;
  if (const std::int64_t panel = tma_panel(box.box.back(), element); panel > 0) box.box.back() = panel;
  if (std::string fault = ir::tma::fault(box, source); !fault.empty()) return fault;
  const std::int64_t bytes = element * ir::element_count(box.box);
  return bytes % ir::tma::alignment == 0
             ? ""
             : fmt::format("a box of {} bytes, not a multiple of {}", bytes, ir::tma::alignment);
}

std::vector<ir::Stage> tma_layouts(const ir::Stage& stage) {
  const std::int64_t element = ir::bytes(stage.dtype);
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < stage.slab.size(); ++i) rows *= stage.slab[i].extent;
  std::vector<ir::Stage> result = {stage};
  for (const int swizzle : {32, 64, 128}) {
    const std::int64_t panel = swizzle / element, columns = stage.slab.back().extent;
    if (columns % panel != 0 || rows % ir::tma::pattern_rows != 0) continue;
    result.push_back(stage);
    result.back().panel = columns == panel ? 0 : panel;
    result.back().swizzle = swizzle;
  }
  return result;
}

namespace {

std::optional<ir::Stage> widest_pattern(const ir::Stage& stage, bool transposed, std::int64_t rows) {
  std::optional<ir::Stage> widest;
  for (ir::Stage& layout : tma_layouts(stage))
    if (layout.swizzle > 0 && (!transposed || rows % (layout.swizzle / ir::bytes(stage.dtype)) == 0))
      widest = std::move(layout);
  return widest;
}

}  // namespace

std::optional<ir::Stage> warpgroup_layout(const ir::Program& program, const ir::Stage& stage, bool transposed,
                                          std::int64_t rows) {
  if (!tma_refusal(stage, *program.find(stage.source)).empty()) return std::nullopt;
  std::optional<ir::Stage> layout = widest_pattern(stage, transposed, rows);
  if (layout) layout->transport = ir::Transport::tma;
  return layout;
}

std::optional<ir::Stage> warpgroup_layout_in_lines(const ir::Program& program, const ir::Stage& stage, bool transposed,
                                                   std::int64_t rows, const ir::Ranges& scope, const Target& target) {
  constexpr std::int64_t copied = 16;  // bytes per copy, which a swizzle pattern keeps together
  const auto lanes = static_cast<int>(copied / ir::bytes(stage.dtype));
  const std::vector<int> widths = copy_widths(stage, *program.find(stage.source), target, scope);
  if (std::ranges::find(widths, lanes) == widths.end()) return std::nullopt;
  std::optional<ir::Stage> layout = widest_pattern(stage, transposed, rows);
  if (!layout) return std::nullopt;
  layout->transport = ir::Transport::async;
  layout->lanes = lanes;
  return layout;
}

bool walks_rows(const ir::Program& program, const ir::Stage& stage) {
  const ir::Tile& tile = tile_of(program);
  bool found = false;
  ir::for_each<ir::Load>(tile.body, [&](const ir::Load& load) {
    if (load.buffer != stage.buffer) return;
    for (const ir::Axis& axis : tile.axes)
      for (std::size_t d = 0; axis.bind == ir::Bind::thread && d + 1 < load.index.size(); ++d)
        found |= ir::depends_on(load.index[d], axis.name);
  });
  return found;
}

std::string loop_knob(const std::string& name, std::size_t i) { return i == 0 ? name : name + std::to_string(i); }

ir::Ranges scope_in(const ir::Tile& tile, const ir::Loop* loop) {
  ir::Ranges scope;
  for (const ir::Axis& axis : tile.axes) scope.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
  if (loop != nullptr) scope.emplace_back(loop->axis.name, ir::range_of(*loop));
  return scope;
}

ir::AsyncWait wait_for(const ir::Loop& loop, const ir::Expr& chunk, std::int64_t keep, const ir::Ranges& scope) {
  ir::AsyncWait wait = {keep, 0, 0};
  for (const ir::Stmt& stmt : loop.body)
    if (const auto* stage = stmt.as<ir::Stage>(); stage != nullptr && stage->transport == ir::Transport::tma) {
      wait.phase = ir::simplify(chunk / stage->slots % 2, scope);
      wait.slot = ir::simplify(chunk % stage->slots, scope);
    }
  return wait;
}

bool has_wait(const ir::Loop& loop) {
  return std::ranges::any_of(loop.body, [](const ir::Stmt& stmt) { return stmt.as<ir::AsyncWait>() != nullptr; });
}

void put_wait(ir::Tile& tile, std::size_t place) {
  ir::Loop& loop = loop_at(tile, place);
  const ir::AsyncWait wait = wait_for(loop, ir::var(loop.axis.name), 0, scope_in(tile, &loop));
  const std::size_t behind = leading_stages(loop.body);
  if (behind < loop.body.size() && loop.body[behind].as<ir::AsyncWait>() != nullptr)
    loop.body[behind] = wait;
  else
    loop.body.insert(loop.body.begin() + static_cast<std::ptrdiff_t>(behind), wait);
}

void replace_axis(ir::Body& body, const std::string& axis, const ir::Expr& by, const ir::Ranges& around) {
  ir::Ranges scope = around;
  const ir::Substitution substitution = {{axis, by}};
  ir::map_expressions(body, scope, [&](const ir::Expr& e, const ir::Ranges& ranges) {
    return ir::depends_on(e, axis) ? ir::simplify(ir::substitute(e, substitution), ranges) : e;
  });
  drop_true_guards(body);
}

Names carried(const ir::Tile& tile, const ir::Loop& loop) {
  Names names;
  for (const ir::AccumulatorStart& start : ir::accumulator_starts(tile.body))
    if (!holds(loop.body, start.body)) names.insert(start.acc);
  return names;
}

void rename_values(ir::Body& copy, const ir::Program& program, const Names& keep) {
  Names taken = names_of(program);
  NewNames names;
  std::map<std::string, int> next;
  ir::for_each(copy, [&](const ir::Stmt& stmt) {
    const std::string& name = ir::defined(stmt);
    if (name.empty() || keep.contains(name) || names.contains(name)) return;
    // The letters stay, followed by the next free number: v3 becomes v7.
    const std::string letters = name.substr(0, name.find_last_not_of("0123456789") + 1);
    std::string fresh;
    do fresh = letters + std::to_string(next[letters]++);
    while (!taken.insert(fresh).second);
    names.emplace(name, std::move(fresh));
  });
  rename(copy, names);
}

}  // namespace deplo::rules
