// What the threads of a warp index staged buffers by: index expressions evaluated for 32 threads at once.
#include <algorithm>
#include <numeric>

#include "ir/hardware/gpu.h"
#include "ir/hardware/mma.h"
#include "ir/simplify/simplify_impl.h"
#include "ir/walk.h"
#include "rules/cost/banks.h"
#include "rules/cost/fragments.h"
#include "rules/cost/resources.h"

namespace deplo::rules {
namespace {

// An expression's value in every thread of a warp; where it is the same in all of them, only the first counts.
struct LaneValue {
  WarpValues v{};
  bool threads = false;    // differs between threads
  bool plain = true;       // an affine function of the thread axes plus something the same in all threads
  std::uint64_t regs = 0;  // REG axes that it depends on
  bool known = true;       // no gathered value in it

  std::int64_t at(std::size_t t) const { return v[threads ? t : 0]; }
};
using Environment = std::vector<std::pair<const std::string*, LaneValue>>;

LaneValue uniform(std::int64_t value, std::uint64_t regs = 0) {
  LaneValue result;
  result.v[0] = value;
  result.regs = regs;
  return result;
}

LaneValue evaluate(const ir::Expr& e, const Environment& environment) {
  if (e.kind() == ir::Expr::Kind::constant) return uniform(e.value());
  if (e.kind() == ir::Expr::Kind::variable) {
    const auto found = std::find_if(environment.rbegin(), environment.rend(),
                                    [&](const auto& entry) { return ir::same_name(*entry.first, e.name()); });
    if (found != environment.rend()) return found->second;
    LaneValue unknown;
    unknown.known = false;
    return unknown;
  }
  const LaneValue l = evaluate(e.lhs(), environment), r = evaluate(e.rhs(), environment);
  LaneValue result;
  result.threads = l.threads || r.threads;
  result.regs = l.regs | r.regs;
  result.known = l.known && r.known;
  const bool sums = e.op() == ir::ExprOp::add || e.op() == ir::ExprOp::sub;
  const bool scales = e.op() == ir::ExprOp::mul &&
                      (e.lhs().kind() == ir::Expr::Kind::constant || e.rhs().kind() == ir::Expr::Kind::constant);
  result.plain = !result.threads || ((sums || scales) && l.plain && r.plain);
  for (std::size_t t = 0; t < (result.threads ? ir::gpu::warp : 1U); ++t) result.v[t] = fold(e.op(), l.at(t), r.at(t));
  return result;
}

// Do 32 neighbours from a multiple of 32 on in a row-major box of these extents always have the same shape, so that all
// of them are the first ones shifted?
bool blocks_are_shifts(const std::vector<std::int64_t>& extents) {
  std::int64_t inner = 1;
  for (std::size_t i = extents.size(); i-- > 0; inner *= extents[i])
    if (ir::gpu::warp % inner == 0 && inner * extents[i] % ir::gpu::warp == 0) return true;
  return inner <= ir::gpu::warp;
}

struct Site {
  const ir::Stmt* stmt = nullptr;
  std::vector<const ir::Loop*> loops;  // around it, in the tile
  bool always = true;                  // no guard between the innermost loop and it
};

void collect(const ir::Body& body, bool always, std::vector<const ir::Loop*>& loops, std::vector<Site>& sites) {
  for (const ir::Stmt& stmt : body) {
    const auto* loop = stmt.as<ir::Loop>();
    const bool products = loop != nullptr && !loop->atom.empty();
    if (stmt.as<ir::Load>() != nullptr || stmt.as<ir::Stage>() != nullptr || products)
      sites.push_back({&stmt, loops, always});
    if (products) continue;  // its loads are those of fragments
    if (loop != nullptr) loops.push_back(loop);
    if (const ir::Body* inner = inner_body(stmt))
      collect(*inner, loop != nullptr || (always && stmt.as<ir::If>() == nullptr), loops, sites);
    if (loop != nullptr) loops.pop_back();
  }
}

// Where an access is looked at: what stands for all others.
struct Where {
  std::int64_t warp = 0, copy = 0, round = 0;
  std::uint64_t regs = 0;  // the axes that the copies are counted over
};
constexpr std::int64_t most_rounds = 8;   // a swizzle repeats after 8 rows
constexpr std::int64_t most_copies = 64;  // register copies
constexpr std::int64_t some_warps = 4;    // where not one warp stands for all

class Accesses {
 public:
  Accesses(const ir::Program& program, const ir::Tile& tile, Unrolled unrolled)
      : program_(program), tile_(tile), unrolled_(unrolled) {
    for (const ir::Axis& axis : tile.axes) {
      if (axis.bind == ir::Bind::thread) extents_.push_back(axis.extent);
      if (axis.bind == ir::Bind::reg) regs_.push_back(axis.extent);
      if (axis.bind == ir::Bind::vector) lanes_ = &axis;
    }
    for (const std::int64_t extent : extents_) threads_ *= extent;
    std::vector<const ir::Loop*> loops;
    collect(tile.body, true, loops, sites_);
  }

  std::vector<WarpAccess> all() {
    std::vector<WarpAccess> result;
    for (const Site& site : sites_)
      if (const auto* stage = site.stmt->as<ir::Stage>(); stage != nullptr && !find(stage->buffer))
        stages_.push_back(stage);
    for (const Site& site : sites_) {
      const auto* stage = site.stmt->as<ir::Stage>();
      const auto* load = site.stmt->as<ir::Load>();
      if (stage != nullptr && stage->transport != ir::Transport::tma && words(*stage))
        result.push_back(fill(site, *stage));
      if (const auto* loop = site.stmt->as<ir::Loop>()) look_at_fragments(site, *loop, result);
      if (load == nullptr) continue;
      const ir::Stage* of = find(load->buffer);
      if (of == nullptr || !words(*of)) continue;
      if (auto access = look(site, *load, *of)) result.push_back(std::move(*access));
    }
    return result;
  }

 private:
  const ir::Stage* find(const std::string& buffer) const {
    for (const ir::Stage* stage : stages_)
      if (stage->buffer == buffer) return stage;
    return nullptr;
  }
  static bool words(const ir::Stage& stage) { return bytes(stage.dtype) > 1; }
  int warp_size() const { return static_cast<int>(std::min<std::int64_t>(threads_, ir::gpu::warp)); }
  std::int64_t warps() const { return std::max<std::int64_t>(1, threads_ / ir::gpu::warp); }

  Environment environment(const Site& site, const Where& where) const;
  double times(const Site& site, std::uint64_t regs) const;
  std::int64_t turns_in_text(const ir::Loop&) const;
  static int run_along(const ir::Load&, const std::string& axis, std::int64_t extent, const ir::Stage&);
  int run(const Site& site, const ir::Load& load, const ir::Stage&) const;
  std::optional<WarpAccess> look(const Site& site, const ir::Load& load, const ir::Stage& stage) const;
  WarpAccess fill(const Site& site, const ir::Stage& stage) const;
  void look_at_fragments(const Site& site, const ir::Loop&, std::vector<WarpAccess>& result) const;
  std::optional<WarpAccess> look_at(const Site& site, const Fragment&) const;

  const ir::Program& program_;
  const ir::Tile& tile_;
  Unrolled unrolled_;
  const ir::Axis* lanes_ = nullptr;
  std::vector<std::int64_t> extents_, regs_;  // of the THREAD and the REG axes
  std::int64_t threads_ = 1;
  std::vector<Site> sites_;
  std::vector<const ir::Stage*> stages_;
};

// Block axes and the vector's lane at 0, a loop at its round-th turn.
Environment Accesses::environment(const Site& site, const Where& where) const {
  Environment result;
  result.reserve(tile_.axes.size() + site.loops.size());
  std::int64_t stride = threads_, copy = where.copy;
  std::uint64_t reg = 1;
  for (const ir::Axis& axis : tile_.axes) {
    LaneValue value;
    if (axis.bind == ir::Bind::thread) {
      stride /= axis.extent;
      value.threads = true;
      for (std::size_t t = 0; t < ir::gpu::warp; ++t)
        value.v[t] = (where.warp * ir::gpu::warp + static_cast<std::int64_t>(t)) / stride % axis.extent;
    } else if (axis.bind == ir::Bind::reg) {
      const bool counted = (where.regs & reg) != 0;
      value = uniform(counted ? copy % axis.extent : 0, reg);
      if (counted) copy /= axis.extent;
      reg <<= 1;
    }
    result.emplace_back(&axis.name, value);
  }
  for (const ir::Loop* loop : site.loops) {
    LaneValue value = evaluate(loop->start, result);
    const std::int64_t turns = std::max<std::int64_t>(1, loop->axis.extent / loop->step);
    for (std::int64_t& v : value.v) v += loop->step * (where.round % turns);
    result.emplace_back(&loop->axis.name, value);
  }
  return result;
}

// Turns of the loops around it and the copies over REG axes.
double Accesses::times(const Site& site, std::uint64_t regs) const {
  double result = 1;
  std::size_t reg = 0;
  for (const ir::Loop* loop : site.loops)
    result *= static_cast<double>(std::max<std::int64_t>(1, loop->axis.extent / loop->step));
  for (const ir::Axis& axis : tile_.axes) {
    if (axis.bind != ir::Bind::reg) continue;
    const bool replicated =
        std::any_of(site.loops.begin(), site.loops.end(), [&](const ir::Loop* loop) { return loop->per == axis.name; });
    if (replicated || (regs >> reg & 1) != 0) result *= static_cast<double>(axis.extent);
    ++reg;
  }
  return result;
}

std::int64_t Accesses::turns_in_text(const ir::Loop& loop) const {
  if (!loop.start.is_constant(0) || loop.step != 1) return 1;
  return unrolled_ == Unrolled::all || loop.unroll == 0 ? loop.axis.extent : loop.unroll;
}

// Elements that lie side by side along the axis, from a multiple of their number on.
int Accesses::run_along(const ir::Load& load, const std::string& axis, std::int64_t extent, const ir::Stage& stage) {
  const std::int64_t widest = 16 / bytes(stage.dtype);
  const auto on_axis = [&](const ir::Expr& e) { return ir::depends_on(e, axis); };
  if (std::any_of(load.index.begin(), load.index.end() - 1, on_axis) || ir::coefficient(load.index.back(), axis) != 1)
    return 1;
  const ir::Expr first = ir::simplify(ir::substitute(load.index.back(), {{axis, ir::Expr(0)}}));
  return static_cast<int>(std::gcd(std::gcd(extent, widest), ir::known_divisor(first)));
}

int Accesses::run(const Site& site, const ir::Load& load, const ir::Stage& stage) const {
  int longest = 1;
  if (!site.loops.empty() && site.always) {
    const ir::Loop& loop = *site.loops.back();
    longest = run_along(load, loop.axis.name, turns_in_text(loop), stage);
  }
  for (const ir::Axis& axis : tile_.axes)
    if (axis.bind == ir::Bind::reg) longest = std::max(longest, run_along(load, axis.name, axis.extent, stage));
  return longest;
}

// Of a warp's threads, dimension by dimension.
std::vector<WarpValues> values_of(std::vector<LaneValue> index) {
  std::vector<WarpValues> values;
  for (LaneValue& value : index) {
    if (!value.threads) value.v.fill(value.v[0]);
    values.push_back(value.v);
  }
  return values;
}

std::optional<WarpAccess> Accesses::look(const Site& site, const ir::Load& load, const ir::Stage& stage) const {
  const std::size_t slot = stage.slots > 1 ? 1 : 0;
  const auto index_at = [&](const Where& where) {
    const Environment all = environment(site, where);
    std::vector<LaneValue> index;
    for (std::size_t d = slot; d < load.index.size(); ++d) index.push_back(evaluate(load.index[d], all));
    return index;
  };
  std::vector<LaneValue> first = index_at({});
  WarpAccess access = {&stage, &load, 1, 1, warp_size(), 1, {}};
  if (lanes_ != nullptr && depends_on(load.index.back(), lanes_->name))
    access.lanes = static_cast<int>(lanes_->extent);
  else
    access.run = run(site, load, stage);
  std::uint64_t regs = 0;
  bool plain = stage.panel == 0 && stage.swizzle == 0;
  for (const LaneValue& value : first) {
    if (!value.known) return std::nullopt;
    regs |= value.regs;
    plain &= value.plain;
  }
  access.times = times(site, regs);
  std::int64_t copies = 1;
  for (std::size_t i = 0; i < regs_.size(); ++i) copies *= (regs >> i & 1) != 0 ? regs_[i] : 1;
  const bool one_warp = plain && blocks_are_shifts(extents_);
  const std::int64_t warps = plain ? this->warps() : std::min(this->warps(), some_warps);
  if (one_warp) {
    access.samples.push_back(values_of(std::move(first)));
    return access;
  }
  Where where = {0, 0, 0, regs};
  for (where.warp = 0; where.warp < warps; ++where.warp)
    for (where.copy = 0; where.copy < (plain ? 1 : std::min(copies, most_copies)); ++where.copy)
      for (where.round = 0; where.round < (plain ? 1 : most_rounds); ++where.round)
        access.samples.push_back(values_of(index_at(where)));
  return access;
}

void Accesses::look_at_fragments(const Site& site, const ir::Loop& loop, std::vector<WarpAccess>& result) const {
  ir::mma::Product product;
  if (!ir::mma::find_product(tile_, loop, product).empty()) return;
  for (const Fragment& fragment : fragments(product, loop.axis.name))
    if (auto access = look_at(site, fragment)) {
      access->times *= static_cast<double>(ir::mma::trips(loop) * fragment.loads());
      result.push_back(std::move(*access));
    }
}

// A row of a matrix is 16 bytes; all 32 threads name one, also of two matrices only. Elements that each thread loads
// itself are looked at for the first matrix. The turn of the loop and the registers shift all rows alike, but where a
// swizzle folds them: two turns, and some registers, are looked at.
std::optional<WarpAccess> Accesses::look_at(const Site& site, const Fragment& fragment) const {
  const ir::Stage* stage = find(fragment.load->buffer);
  if (stage == nullptr) return std::nullopt;
  const bool rows = fragment.fetch != Fetch::elements;
  const int lanes = rows ? static_cast<int>(16 / ir::bytes(stage->dtype)) : fragment.together;
  const std::size_t slot = stage->slots > 1 ? 1 : 0;
  WarpAccess access = {
      stage, fragment.load, lanes, 1, rows ? std::min(warp_size(), 8 * fragment.matrices) : warp_size(), 1, {}};
  std::uint64_t regs = 0;
  const auto index_at = [&](const Where& where, std::int64_t turn) {
    Environment all = environment(site, where);
    const std::string& axis = site.stmt->as<ir::Loop>()->axis.name;
    all.emplace_back(&axis, uniform(turn));
    static const std::string lane = ir::lane_variable;
    all.emplace_back(&lane, uniform(0));
    std::vector<LaneValue> index;
    for (std::size_t d = slot; d < fragment.index.size(); ++d) {
      index.push_back(evaluate(fragment.index[d], all));
      regs |= index.back().regs;
    }
    return index;
  };
  index_at({}, 0);
  std::int64_t copies = 1;
  for (std::size_t i = 0; i < regs_.size(); ++i) copies *= (regs >> i & 1) != 0 ? regs_[i] : 1;
  access.times = times(site, regs);
  Where where = {0, 0, 0, regs};
  for (where.warp = 0; where.warp < std::min(warps(), some_warps); ++where.warp)
    for (where.copy = 0; where.copy < std::min(copies, most_copies / 8); ++where.copy)
      for (const std::int64_t turn : {0, 1})
        if (turn < ir::mma::trips(*site.stmt->as<ir::Loop>()))
          access.samples.push_back(values_of(index_at(where, turn)));
  return access;
}

// Thread `id` makes copies id, id + threads, … of the slab's, counted along the rows of the source.
WarpAccess Accesses::fill(const Site& site, const ir::Stage& stage) const {
  WarpAccess access = {&stage, nullptr, std::max(1, stage.lanes), 1, warp_size(), 1, {}};
  const ir::Buffer& source = *program_.find(stage.source);
  std::vector<std::size_t> order(stage.slab.size());
  std::iota(order.begin(), order.end(), 0);
  const auto stride = [&](std::size_t s) { return source.strides[static_cast<std::size_t>(stage.slab[s].dim)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return stride(a) > stride(b); });
  std::vector<std::int64_t> steps;  // in that order
  std::int64_t copies = 1;
  for (const std::size_t s : order) {
    steps.push_back(stage.slab[s].extent / (s + 1 == stage.slab.size() ? access.lanes : 1));
    copies *= steps.back();
  }
  ir::Ranges turns;
  for (const ir::Loop* loop : site.loops) turns.emplace_back(loop->axis.name, ir::range_of(*loop));
  access.times = times(site, 0) * share_that_holds(stage.when, turns) * static_cast<double>(copies) /
                 static_cast<double>(threads_);
  const bool shifts = stage.panel == 0 && blocks_are_shifts(steps) && threads_ % ir::gpu::warp == 0;
  const std::int64_t rounds = shifts ? 1 : std::min((copies + threads_ - 1) / threads_, most_rounds);
  for (std::int64_t warp = 0; warp < (shifts ? 1 : std::min(warps(), some_warps)); ++warp)
    for (std::int64_t round = 0; round < rounds; ++round) {
      std::vector<WarpValues> sample(order.size());
      for (std::size_t t = 0; t < ir::gpu::warp; ++t) {
        std::int64_t rest =
            std::min(warp * ir::gpu::warp + static_cast<std::int64_t>(t) + threads_ * round, copies - 1);
        for (std::size_t i = order.size(); i-- > 0; rest /= steps[i])
          sample[order[i]][t] = rest % steps[i] * (order[i] + 1 == order.size() ? access.lanes : 1);
      }
      access.samples.push_back(std::move(sample));
    }
  return access;
}

}  // namespace

std::vector<WarpAccess> warp_accesses(const ir::Program& program, Unrolled unrolled) {
  for (const ir::Stmt& stmt : program.body)
    if (const auto* tile = stmt.as<ir::Tile>()) return Accesses(program, *tile, unrolled).all();
  return {};
}

}  // namespace deplo::rules
