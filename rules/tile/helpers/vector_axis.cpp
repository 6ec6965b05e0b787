#include "rules/tile/helpers/vector_axis.h"

#include <algorithm>
#include <numeric>

#include "ir/hardware/stage_layout.h"
#include "ir/simplify/clamped.h"
#include "ir/simplify/repeats.h"
#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/tile/helpers/axes.h"

namespace deplo::rules {
namespace {

using Kind = VectorSite::Kind;
using Names = std::set<std::string, std::less<>>;

// Returns whether the threads of a shared sweep differ only in where they start and which of them writes.
bool shares_sweeps(const ir::Body& body, const std::string& thread) {
  bool only_starts = true;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    if (stmt.as<ir::Loop>() != nullptr || stmt.as<ir::If>() != nullptr) return;
    const std::vector<std::string> axes = ir::reads(stmt).axes;
    only_starts &= std::find(axes.begin(), axes.end(), thread) == axes.end();
  });
  return only_starts;
}

void find_sweeps(const ir::Body& body, const std::string& shared, VectorSite& site) {
  for (const ir::Stmt& stmt : body) {
    const auto* loop = stmt.as<ir::Loop>();
    if (loop == nullptr || loop->start != ir::var(shared)) continue;
    site.extent = site.loops.empty() ? loop->axis.extent : std::gcd(site.extent, loop->axis.extent);
    site.loops.push_back(loop->axis.name);
  }
}

// Returns whether the index has the same value in all lanes of a vector that begins at a multiple of its width. The
// channel of an element is such an index if each vector lies within one channel.
bool lanes_agree(const ir::Expr& e, const ir::Axis& axis, const std::string& lane, std::int64_t width) {
  if (!ir::depends_on(e, axis.name)) return true;
  const ir::Ranges ranges = {{axis.name, {0, ceil_div(axis.extent, width) - 1}}, {lane, {0, width - 1}}};
  const ir::Expr in_lane = ir::substitute(e, {{axis.name, ir::var(axis.name) * width + ir::var(lane)}});
  return !ir::depends_on(ir::simplify(in_lane, ranges), lane);
}

// Rewrites `for a = t; …; += s` as `for a = t * width; …; += s * width`, with a + lane in its body.
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
  // Loop bounds stay unchanged: only the bodies depend on the lane.
  for (ir::Stmt& stmt : tile.body)
    if (auto* loop = stmt.as<ir::Loop>()) {
      ir::Ranges scope = {{loop->axis.name, ir::range_of(*loop)}, {lane, {0, width - 1}}};
      ir::map_expressions(loop->body, scope, [&](const ir::Expr& e, const ir::Ranges& ranges) {
        return lanes_agree(e, loop->axis, lane, width) ? e : ir::simplify(ir::substitute(e, substitution), ranges);
      });
    }
}

// Removes the lane from a condition on which all lanes of a vector agree, such as `0 < difference` if the sign of the
// difference changes only between two vectors. Other conditions stay as they are.
ir::Expr without_lane(const ir::Expr& condition, const std::string& lane, std::int64_t width) {
  if (!ir::depends_on(condition, lane)) return condition;
  if (condition.op() == ir::ExprOp::land)
    return {ir::ExprOp::land, without_lane(condition.lhs(), lane, width), without_lane(condition.rhs(), lane, width)};
  if (condition.op() != ir::ExprOp::lt) return condition;
  const ir::Substitution first = {{lane, ir::Expr(0)}};
  const ir::Expr difference = ir::simplify(condition.rhs() - condition.lhs());
  const auto step = ir::coefficient(difference, lane);
  if (!step || (*step != 1 && *step != -1)) return condition;
  const ir::Expr before = ir::substitute(difference, first) - (*step == 1 ? 1 : 0);
  if (ir::known_divisor(ir::simplify(before)) % width != 0) return condition;
  return ir::simplify(ir::substitute(condition, first));
}

void drop_lane(ir::Body& body, const std::string& lane, std::int64_t width) {
  ir::for_each<ir::If>(body, [&](ir::If& guard) { guard.condition = without_lane(guard.condition, lane, width); });
}

void clear_per(ir::Body& body, const std::string& axis) {
  ir::for_each<ir::Loop>(body, [&](ir::Loop& loop) {
    if (loop.per == axis) loop.per.clear();
  });
}

// Removes a REG axis of one element.
void drop_axis(ir::Tile& tile, std::size_t axis) {
  clear_per(tile.body, tile.axes[axis].name);
  tile.axes.erase(tile.axes.begin() + static_cast<std::ptrdiff_t>(axis));
}

// Returns whether `width` elements from `base` on, along the last dimension, are contiguous and aligned.
bool straight(const ir::Program& program, const std::string& buffer, const std::vector<ir::Expr>& base, int width,
              const Target& target) {
  if (const ir::Buffer* global = program.find(buffer))
    return global->strides.back() == 1 && aligned(ir::flat_offset(base, global->strides), width, target);
  const ir::Stage* stage = ir::find_stage(program.body, buffer);
  if (stage == nullptr) return false;  // other shared memory, which is accessed one element at a time
  const bool starts_whole = ir::known_divisor(base.back()) % width == 0;
  // The vector would cross the end of its panel.
  if (stage->panel > 0 && (!starts_whole || stage->panel % width != 0)) return false;
  const std::int64_t row = ir::row_elements(*stage) + stage->pad;
  const bool one_row = stage->slab.size() == 1 && stage->slots == 1;
  return traits(target.dialect).unaligned_vectors || (starts_whole && (one_row || row % width == 0));
}

// Returns whether a loop in the body sums, in each lane, elements that are loaded for this lane.
bool sums_lanes(const ir::Body& body, const std::string& lane) {
  return std::ranges::any_of(body, [&](const ir::Stmt& stmt) {
    const auto* loop = stmt.as<ir::Loop>();
    if (loop == nullptr || loop->axis.bind != ir::Bind::reduce || loop->body.back().as<ir::Accum>() == nullptr)
      return false;
    return std::ranges::any_of(loop->body, [&](const ir::Stmt& inner) {
      const auto* load = inner.as<ir::Load>();
      return load != nullptr && ir::depends_on(load->index, lane);
    });
  });
}

// Decides whether a statement of the vectorized program is legal.
class Legality {
 public:
  Legality(const ir::Program& vector, const VectorSite& site, std::int64_t width, const Target& target)
      : program_(vector),
        site_(site),
        width_(width),
        target_(target),
        lane_(tile_of(vector).axes.back().name),
        apart_(target.cpu && site.kind == Kind::register_axis &&
               (site.is_square || find_matmul(vector) || sums_lanes(tile_of(vector).body, lane_))) {
    const ir::Body& body = tile_of(vector).body;
    ir::for_each<ir::Combine>(body, [&](const ir::Combine& s) {
      if (site.kind == Kind::sweeps) combined_.insert(s.acc);
    });
    on_lane_ = dependent_names(body, lane_, combined_);  // a combined accumulator has one value for all lanes
  }

  /// `once`: the statement is in no loop, so that a matmul's thread executes it once for each of its sums.
  bool operator()(const ir::Stmt& stmt, bool once) const {
    if (is_i64(stmt) && depends(stmt, on_lane_)) return false;
    if (const auto* s = stmt.as<ir::Accum>()) return combined_.count(s->dst) == 0 || depends(stmt, on_lane_);
    if (const auto* s = stmt.as<ir::Index>()) return !names_one(s->value, false);
    if (const auto* s = stmt.as<ir::If>()) return !names_one(s->condition, true);
    if (const auto* s = stmt.as<ir::Loop>()) return !names_one(s->start, true);
    if (const auto* s = stmt.as<ir::Load>()) {
      const auto by_lane = [&](const ir::Expr& e) { return names_one(e, false); };
      if (std::any_of(s->index.begin(), s->index.end(), by_lane)) return false;
      return (apart_ && once && reads_f32(s->buffer) && !stands_still(s->index)) ||
             contiguous(s->buffer, s->index, true) || takes_every_second(*s) || is_repeated(*s) ||
             (once && meets_edges(*s));
    }
    if (const auto* s = stmt.as<ir::Write>(); s != nullptr && apart_ && once && s->mode == ir::WriteMode::assign)
      return true;
    if (const auto* s = stmt.as<ir::Write>())  // `+=` adds the elements one by one
      return contiguous(s->buffer, s->index, s->mode == ir::WriteMode::assign);
    return true;
  }

 private:
  // Returns whether the expression contains a value that depends on the lane or, if `itself`, the lane itself.
  bool names_one(const ir::Expr& e, bool itself) const {
    const std::vector<std::string> names = ir::variables(e);
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& n) { return on_lane_.count(n) > 0 && (itself || n != lane_); });
  }

  // Returns whether a transposing kernel's index is clamped at the edges of a padded tensor. A transposed copy of a
  // padded tensor is faster without lanes.
  bool stands_still(const std::vector<ir::Expr>& index) const {
    return site_.is_square &&
           std::ranges::any_of(index, [&](const ir::Expr& e) { return !ir::coefficient(e, lane_).has_value(); });
  }

  bool reads_f32(const std::string& buffer) const {
    const ir::Buffer* global = program_.find(buffer);
    return global != nullptr && ir::value_type(global->dtype) == ir::DType::f32;
  }

  // Returns whether the lanes read every second element: the even or the odd ones of two vectors
  // (ir/emit/emit_memory.cpp).
  bool takes_every_second(const ir::Load& load) const {
    return target_.cpu && site_.kind != Kind::sweeps && reads_f32(load.buffer) &&
           program_.find(load.buffer)->dtype == ir::DType::f32 && program_.find(load.buffer)->strides.back() == 1 &&
           walks_last_only(load.index) && ir::coefficient(load.index.back(), lane_) == 2;
  }

  // Returns whether the lanes read the elements of one narrower vector, each several times.
  bool is_repeated(const ir::Load& load) const {
    const ir::Buffer* const source = program_.find(load.buffer);
    return target_.cpu && site_.kind != Kind::sweeps && source != nullptr && !ir::is_float16(source->dtype) &&
           (load.type.dtype == ir::DType::f32 || load.type.dtype == ir::DType::i32) && source->strides.back() == 1 &&
           ir::repeats_of(load.index, lane_, width_) > 0;
  }

  // Returns whether the load is from a padded tensor: one access if no lane is at its edge, else one per lane
  // (emit_memory.cpp).
  bool meets_edges(const ir::Load& load) const {
    return target_.cpu && site_.kind != Kind::sweeps && !site_.is_square && reads_f32(load.buffer) &&
           program_.find(load.buffer)->strides.back() == 1 && walks_last_only(load.index) &&
           ir::walks_or_stands(load.index.back(), lane_);
  }

  // Returns whether no dimension but the last depends on the lane.
  bool walks_last_only(const std::vector<ir::Expr>& index) const {
    return std::none_of(index.begin(), index.end() - 1, [&](const ir::Expr& e) { return ir::depends_on(e, lane_); });
  }

  // The sweeps in `site_` step by whole vectors, so their axes are multiples of the width.
  bool contiguous(const std::string& buffer, const std::vector<ir::Expr>& index, bool at_once) const {
    if (!ir::depends_on(index, lane_)) return true;
    if (const ir::Buffer* global = program_.find(buffer); global != nullptr && global->dtype == ir::DType::i64)
      return false;  // 64-bit integers have no vectors
    if (!walks_last_only(index) || ir::coefficient(index.back(), lane_) != 1) return false;
    if (!at_once) return program_.find(buffer)->strides.back() == 1;
    std::vector<ir::Expr> base = index;
    ir::Substitution at_vector = {{lane_, ir::Expr(0)}};
    for (const std::string& loop : site_.loops) at_vector.emplace_back(loop, ir::var(loop) * width_);
    base.back() = ir::substitute(base.back(), at_vector);
    return straight(program_, buffer, base, static_cast<int>(width_), target_);
  }

  const ir::Program& program_;
  const VectorSite& site_;
  std::int64_t width_;
  const Target& target_;
  std::string lane_;
  // True if lanes that are not consecutive may have one access each. This costs little compared with the sums of a
  // matmul or a window. A transposing kernel has such accesses for any choice of lanes.
  bool apart_;
  Names on_lane_;
  Names combined_;  // accumulators combined over the lanes; each lane must accumulate a different value
};

// Matrix instructions have their own lanes, so their loops are skipped.
bool all_legal(const ir::Body& body, const Legality& legal, bool once) {
  return std::ranges::all_of(body, [&](const ir::Stmt& stmt) {
    const auto* loop = stmt.as<ir::Loop>();
    if (loop != nullptr && !loop->atom.empty()) return true;
    const ir::Body* inner = ir::inner_body(stmt);
    return legal(stmt, once) && (inner == nullptr || all_legal(*inner, legal, once && loop == nullptr));
  });
}

}  // namespace

std::optional<VectorSite> find_vector_site(const ir::Program& program) {
  const ir::Tile& tile = tile_of(program);
  VectorSite site;
  const bool combines = ir::has<ir::Combine>(tile.body);  // over registers: online_softmax has chosen the lanes
  if (has_bind(tile, ir::Bind::vector) || (combines && has_online_softmax(tile.body))) return std::nullopt;
  if (!tile.axes.empty() && tile.axes.back().bind == ir::Bind::reg) {
    site.axis = tile.axes.size() - 1;
    // Neighbours in a register tile are adjacent in memory. The elements of a pointwise thread lie `threads` apart.
    const bool dealt = tile.axes[site.axis - 1].extent > 1 && !find_matmul(program) && !has_products(tile.body);
    const bool square = dealt && tile.axes[site.axis - 1].bind == ir::Bind::reg;
    site.kind = dealt && !square ? Kind::elements : Kind::register_axis;
    site.is_square = square;
    site.extent = tile.axes.back().extent;
    return site;
  }
  for (std::size_t i = 0; i < tile.axes.size(); ++i) {
    if (tile.axes[i].bind != ir::Bind::thread || !shares_sweeps(tile.body, tile.axes[i].name)) continue;
    find_sweeps(tile.body, tile.axes[i].name, site);
    if (site.loops.empty()) continue;
    site.kind = Kind::sweeps;
    site.axis = i;
    return site;
  }
  return std::nullopt;
}

ir::Program with_vectors(ir::Program program, const VectorSite& site, std::int64_t width) {
  const std::string lane = ir::fresh_axis(program);
  ir::Tile& tile = tile_of(program);
  const std::string name = tile.axes[site.axis].name;
  tile.axes.push_back({lane, width, ir::Bind::vector});
  if (site.kind == Kind::sweeps) {
    widen_sweeps(tile, name, lane, width);
  } else {
    const std::int64_t left = tile.axes[site.axis].extent /= width;
    const ir::Axis before = tile.axes[site.axis - 1];
    if (left == 1) drop_axis(tile, site.axis);
    const ir::Expr r = left == 1 ? ir::Expr(0) : ir::var(name), l = ir::var(lane);
    if (site.kind == Kind::elements)  // the lanes walk the same elements first
      renumber(program, name, before.name, before.extent, (r * before.extent + ir::var(before.name)) * width + l);
    else
      ir::substitute_axes(program, {{name, r * width + l}});
  }
  drop_lane(tile.body, lane, width);
  return program;
}

bool legal_vectors(const ir::Program& program, const VectorSite& site, std::int64_t width, const Target& target) {
  const ir::Program vector = with_vectors(program, site, width);
  const Legality legal(vector, site, width, target);
  return all_legal(tile_of(vector).body, legal, true);
}

}  // namespace deplo::rules
