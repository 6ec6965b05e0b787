// vectorize: the contiguous dimension becomes vector values of `width` lanes.
//   Tile(…, a8:32=REG): … load b[k, ((a4 * 32) + a8)] …
//     →   Tile(…, a8:2=REG, a9:16=VECTOR): … load b[k, ((a4 * 32) + ((a8 * 16) + a9))] …
//   StridedLoop(a2 = a0; < 2048; += 256): … x[a1, a2] … Combine(acc0, op=add, over=(a0))
//     →   StridedLoop(a2 = (a0 * 4); < 2048; += 1024): … x[a1, (a2 + a9)] … Combine(acc0, op=add, over=(a0, a9))
// A register tile keeps its shape; the elements of a pointwise thread are dealt out anew, lanes first; the sweeps of a
// row all take the same width.
#include <algorithm>
#include <numeric>

#include "ir/walk.h"
#include "rules/resources.h"
#include "rules/tile/common.h"
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

// What would become the vector axis.
struct Site {
  enum class Kind { register_axis, elements, sweeps } kind = Kind::register_axis;
  std::size_t axis = 0;            // of the tile: the REG axis, or the shared THREAD axis of the sweeps
  std::int64_t extent = 1;         // the width must divide it
  std::vector<std::string> loops;  // sweeps: their axes
};

// The threads of a shared sweep differ in where they start and who writes, in nothing else.
bool shares_sweeps(const ir::Body& body, const std::string& thread) {
  bool only_starts = true;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    if (stmt.as<ir::Loop>() != nullptr || stmt.as<ir::If>() != nullptr) return;
    const std::vector<std::string> axes = ir::reads(stmt).axes;
    only_starts &= std::find(axes.begin(), axes.end(), thread) == axes.end();
  });
  return only_starts;
}

void find_sweeps(const ir::Body& body, const std::string& shared, Site& site) {
  for (const ir::Stmt& stmt : body) {
    const auto* loop = stmt.as<ir::Loop>();
    if (loop == nullptr || loop->start != ir::var(shared)) continue;
    site.loops.push_back(loop->axis.name);
    site.extent = site.extent == 1 ? loop->axis.extent : std::gcd(site.extent, loop->axis.extent);
  }
}

std::optional<Site> find_site(const ir::Program& program) {
  const ir::Tile& tile = tile_of(program);
  Site site;
  if (!tile.axes.empty() && tile.axes.back().bind == ir::Bind::reg) {
    site.axis = tile.axes.size() - 1;
    // A register tile's neighbours are neighbours in memory, the elements of a pointwise thread lie `threads` apart.
    const bool dealt = !find_matmul(program) && tile.axes[site.axis - 1].extent > 1;
    site.kind = dealt ? Site::Kind::elements : Site::Kind::register_axis;
    site.extent = tile.axes.back().extent;
    return site;
  }
  for (std::size_t i = 0; i < tile.axes.size(); ++i) {
    if (tile.axes[i].bind != ir::Bind::thread) continue;
    if (!shares_sweeps(tile.body, tile.axes[i].name)) continue;
    find_sweeps(tile.body, tile.axes[i].name, site);
    if (site.loops.empty()) continue;
    site.kind = Site::Kind::sweeps;
    site.axis = i;
    return site;
  }
  return std::nullopt;
}

// for a = t; …; += s becomes for a = t * width; …; += s * width, and a + lane in its body.
void widen_sweeps(ir::Tile& tile, const std::string& thread, const std::string& lane, std::int64_t width) {
  ir::Substitution substitution;
  for (ir::Stmt& stmt : tile.body) {
    auto* loop = stmt.as<ir::Loop>();
    auto* combine = stmt.as<ir::Combine>();
    if (combine != nullptr) combine->over.push_back(lane);
    if (loop == nullptr || loop->start != ir::var(thread)) continue;
    loop->start = ir::simplify(ir::var(thread) * width);
    loop->step *= width;
    substitution.emplace_back(loop->axis.name, ir::var(loop->axis.name) + ir::var(lane));
  }
  // The loop bounds stay: only the bodies see the lane.
  for (ir::Stmt& stmt : tile.body)
    if (auto* loop = stmt.as<ir::Loop>()) {
      ir::Ranges scope = {{loop->axis.name, ir::range_of(*loop)}, {lane, {0, width - 1}}};
      ir::map_expressions(loop->body, scope, [&](const ir::Expr& e, const ir::Ranges& ranges) {
        return ir::simplify(ir::substitute(e, substitution), ranges);
      });
    }
}

// e = r * threads + t walks the block's elements; e = (r * threads + t) * width + lane walks them too, lanes first.
void deal_anew(ir::Program& program, const ir::Axis& thread, const std::string& reg, std::int64_t registers,
               const std::string& lane, std::int64_t width) {
  const ir::Expr t = ir::var(thread.name), r = registers == 1 ? ir::Expr(0) : ir::var(reg);
  const std::string e = ir::lane_variable;  // no axis and no value is called so
  const ir::Expr element = (r * thread.extent + t) * width + ir::var(lane);
  const ir::Substitution apart = {{reg, element / thread.extent}, {thread.name, element % thread.extent}};
  ir::Ranges scope;
  ir::map_expressions(program.body, scope, [&](const ir::Expr& index, const ir::Ranges& ranges) {
    if (!ir::depends_on(index, reg) && !ir::depends_on(index, thread.name)) return index;
    // Most indices hold r and t as r * threads + t.
    const ir::Expr whole =
        ir::simplify(ir::substitute(index, {{thread.name, ir::var(e) - ir::var(reg) * thread.extent}}));
    const bool together = !ir::depends_on(whole, reg);
    return ir::simplify(together ? ir::substitute(whole, {{e, element}}) : ir::substitute(index, apart), ranges);
  });
}

ir::Program rewrite(ir::Program program, const Site& site, std::int64_t width) {
  const std::string lane = ir::fresh_axis(program);
  ir::Tile& tile = tile_of(program);
  const std::string name = tile.axes[site.axis].name;
  tile.axes.push_back({lane, width, ir::Bind::vector});
  if (site.kind == Site::Kind::sweeps) {
    widen_sweeps(tile, name, lane, width);
    return program;
  }
  const std::int64_t left = tile.axes[site.axis].extent /= width;
  const ir::Axis before = tile.axes[site.axis - 1];
  // A REG axis of one element is no axis.
  if (left == 1) tile.axes.erase(tile.axes.begin() + static_cast<std::ptrdiff_t>(site.axis));
  if (site.kind == Site::Kind::elements)
    deal_anew(program, before, name, left, lane, width);
  else
    ir::substitute_axes(program, {{name, (left == 1 ? ir::Expr(0) : ir::var(name)) * width + ir::var(lane)}});
  return program;
}

// Loads and writes that depend on the lane must be contiguous in it, and aligned where the target asks for it.
// `site` knows that its sweeps step by whole vectors.
bool contiguous(const std::vector<ir::Expr>& index, const std::vector<std::int64_t>& strides, const Site& site,
                const std::string& lane, int width, const Target& target) {
  const auto depends = [&](const ir::Expr& e) { return ir::depends_on(e, lane); };
  if (std::none_of(index.begin(), index.end(), depends)) return true;
  if (std::any_of(index.begin(), index.end() - 1, depends) || strides.back() != 1) return false;
  if (ir::coefficient(index.back(), lane) != 1) return false;
  std::vector<ir::Expr> base = index;
  ir::Substitution at_vector = {{lane, ir::Expr(0)}};
  for (const std::string& loop : site.loops) at_vector.emplace_back(loop, ir::var(loop) * width);
  base.back() = ir::substitute(base.back(), at_vector);
  return aligned(ir::flat_offset(base, strides), width, target);
}

std::vector<std::int64_t> strides_of(const ir::Program& program, const std::string& buffer) {
  if (const ir::Buffer* global = program.find(buffer)) return global->strides;
  std::vector<std::int64_t> shape;
  ir::for_each(program.body, [&](const ir::Stmt& stmt) {
    if (const auto* stage = stmt.as<ir::Stage>(); stage != nullptr && stage->buffer == buffer)
      for (const ir::SlabAxis& axis : stage->slab) shape.push_back(axis.extent);
  });
  return ir::row_major_strides(shape);
}

bool legal(const ir::Program& program, const Site& site, std::int64_t width, const Target& target) {
  const ir::Program vector = rewrite(program, site, width);
  const std::string lane = tile_of(vector).axes.back().name;
  const auto on_lane = dependent_names(tile_of(vector).body, lane);
  const auto names_one = [&](const ir::Expr& e, bool itself) {
    std::vector<std::string> names;
    ir::collect_variables(e, names);
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& n) { return on_lane.count(n) > 0 && (itself || n != lane); });
  };
  const auto depends_on_lane = [&](const ir::Expr& e) { return names_one(e, true); };
  const auto by_lane = [&](const ir::Expr& e) { return names_one(e, false); };  // by a value that each lane has
  std::set<std::string> combined;  // over the lanes: what is accumulated must be another value in each
  ir::for_each(tile_of(vector).body, [&](const ir::Stmt& stmt) {
    if (const auto* s = stmt.as<ir::Combine>(); s != nullptr && site.kind == Site::Kind::sweeps)
      combined.insert(s->acc);
  });
  bool good = true;
  ir::for_each(tile_of(vector).body, [&](const ir::Stmt& stmt) {
    if (const auto* s = stmt.as<ir::Accum>(); s != nullptr && combined.count(s->dst) > 0)
      good &= depends(stmt, on_lane);
    if (const auto* s = stmt.as<ir::Index>()) good &= !by_lane(s->value);
    if (const auto* s = stmt.as<ir::If>()) good &= !depends_on_lane(s->condition);
    if (const auto* s = stmt.as<ir::Loop>()) good &= !depends_on_lane(s->start);
    if (const auto* s = stmt.as<ir::Load>())
      good &= std::none_of(s->index.begin(), s->index.end(), by_lane) &&
              contiguous(s->index, strides_of(vector, s->buffer), site, lane, static_cast<int>(width), target);
    if (const auto* s = stmt.as<ir::Write>())
      good &= s->mode == ir::WriteMode::assign &&
              contiguous(s->index, strides_of(vector, s->buffer), site, lane, static_cast<int>(width), target);
  });
  return good;
}

// Narrower vectors take more registers; the widest legal one is always there.
std::vector<Value> widths(const ir::Program& program, const Site& site, const Target& target) {
  const std::int64_t values = ir::count_of(tile_of(program), ir::Bind::reg);
  std::vector<Value> result;
  for (std::int64_t width = target.vector_lanes; width > 1; width /= 2)
    if (site.extent % width == 0 && (result.empty() || registers(values, width, target) <= register_budget(target)) &&
        legal(program, site, width, target))
      add_option(result, width);
  if (result.empty() || registers(values, 1, target) <= register_budget(target)) add_option(result, 1);
  return result;
}

Verdict decide(const ir::Program& program, const Target& target, std::span<const Choice> pins) {
  const auto site = find_site(program);
  if (!site) return Skip{"no register axis and no shared sweep to make vectors of"};
  if (!pins.empty()) return Apply{};
  return Fork{"width", widths(program, *site, target)};
}

ir::Program apply(ir::Program program, const Target&, std::span<const Choice> pins) {
  const std::int64_t width = pin(pins, "width");
  if (width == 1) return program;
  const auto site = find_site(program);
  return rewrite(std::move(program), *site, width);
}

}  // namespace

const Rule vectorize = {"vectorize", decide, apply};

}  // namespace deplo::rules
