// Evaluates the index expressions by which a warp's threads access staged buffers, for 32 threads at once.
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "ir/hardware/gpu.h"
#include "ir/hardware/mma.h"
#include "ir/hardware/stage_layout.h"
#include "ir/simplify/simplify_impl.h"
#include "ir/walk.h"
#include "rules/cost/banks.h"
#include "rules/cost/fragments.h"
#include "rules/cost/resources.h"

namespace deplo::rules {
namespace {

// The value of an expression in every thread of a warp. If it is the same in all of them, only the first one counts.
struct LaneValue {
  WarpValues v{};
  bool threads = false;  // the value differs between threads
  bool plain = true;  // the value is an affine function of the thread axes plus a part that is the same in all threads
  std::uint64_t regs = 0;  // REG axes that the value depends on
  bool known = true;       // the value contains no gathered value

  std::int64_t at(std::size_t t) const { return v[threads ? t : 0]; }
};
LaneValue uniform(std::int64_t value, std::uint64_t regs = 0) {
  LaneValue result;
  result.v[0] = value;
  result.regs = regs;
  return result;
}

/// The values of variables. If several variables have one name, the last one counts.
struct Environment {
  std::vector<const std::string*> names;
  std::vector<LaneValue> values;

  void add(const std::string& name, const LaneValue& value = {}) {
    names.push_back(&name);
    values.push_back(value);
  }
};

/// An index expression that is evaluated many times. Its variables are looked up once.
class CompiledIndex {
 public:
  /// The environment's values may change later, its names may not.
  CompiledIndex(const ir::Expr& e, const Environment& environment) { add(e, environment); }

  /// The result is valid until the next evaluation of this index, or until the environment changes.
  const LaneValue& evaluate(const Environment& environment) {
    for (Node& node : nodes_) {
      if (!node.is_operation) continue;
      combine(node, value_of(node.l, environment), value_of(node.r, environment));
    }
    return value_of(nodes_.size() - 1, environment);
  }

 private:
  static constexpr std::size_t no_slot = SIZE_MAX;
  struct Node {
    bool is_operation = false, scales = false;  // scales: one of the operands is a constant
    ir::ExprOp op = ir::ExprOp::add;
    std::size_t l = 0, r = 0;    // numbers of the operands, which precede this node
    std::size_t slot = no_slot;  // of a variable: its position in the environment
    LaneValue value = {};        // the value of a constant, of an unknown variable (0), or of the latest evaluation
  };

  const LaneValue& value_of(std::size_t number, const Environment& environment) const {
    const Node& node = nodes_[number];
    return node.slot != no_slot ? environment.values[node.slot] : node.value;
  }

  std::size_t add(const ir::Expr& e, const Environment& environment) {
    Node node;
    if (e.kind() == ir::Expr::Kind::constant) {
      node.value = uniform(e.value());
    } else if (e.kind() == ir::Expr::Kind::variable) {
      for (std::size_t i = environment.names.size(); i-- > 0 && node.slot == no_slot;)
        if (ir::same_name(*environment.names[i], e.name())) node.slot = i;
      node.value.known = node.slot != no_slot;
    } else {
      node.is_operation = true;
      node.op = e.op();
      node.scales = e.op() == ir::ExprOp::mul &&
                    (e.lhs().kind() == ir::Expr::Kind::constant || e.rhs().kind() == ir::Expr::Kind::constant);
      node.l = add(e.lhs(), environment);
      node.r = add(e.rhs(), environment);
    }
    nodes_.push_back(node);
    return nodes_.size() - 1;
  }

  static void combine(Node& node, const LaneValue& l, const LaneValue& r) {
    LaneValue& result = node.value;
    result.threads = l.threads || r.threads;
    result.regs = l.regs | r.regs;
    result.known = l.known && r.known;
    const bool sums = node.op == ir::ExprOp::add || node.op == ir::ExprOp::sub;
    result.plain = !result.threads || ((sums || node.scales) && l.plain && r.plain);
    if (!result.threads) {
      result.v[0] = ir::fold(node.op, l.v[0], r.v[0]);
      return;
    }
    const auto fold_all = [&](auto operation) {
      for (std::size_t t = 0; t < ir::gpu::warp; ++t) result.v[t] = operation(l.at(t), r.at(t));
    };
    const bool divides = !r.threads && r.v[0] > 0;
    if (node.op == ir::ExprOp::add)
      fold_all([](std::int64_t a, std::int64_t b) { return a + b; });
    else if (node.op == ir::ExprOp::mul)
      fold_all([](std::int64_t a, std::int64_t b) { return a * b; });
    else if (node.op == ir::ExprOp::div && divides)
      fold_all([](std::int64_t a, std::int64_t b) { return ir::floor_div(a, b); });
    else if (node.op == ir::ExprOp::mod && divides)
      fold_all([](std::int64_t a, std::int64_t b) { return ir::floor_mod(a, b); });
    else
      fold_all([&](std::int64_t a, std::int64_t b) { return ir::fold(node.op, a, b); });
  }

  std::vector<Node> nodes_;  // the last one is the whole expression
};

// Returns whether all groups of 32 neighbours, from multiples of 32 on, in a row-major box of these extents have the
// same shape, so that each group is the first one shifted.
bool blocks_are_shifts(const std::vector<std::int64_t>& extents) {
  std::int64_t inner = 1;
  for (std::size_t i = extents.size(); i-- > 0; inner *= extents[i])
    if (ir::gpu::warp % inner == 0 && inner * extents[i] % ir::gpu::warp == 0) return true;
  return inner <= ir::gpu::warp;
}

struct Site {
  const ir::Stmt* stmt = nullptr;
  std::vector<const ir::Loop*> loops;  // around the statement, in the tile
  bool always = true;                  // no guard between the innermost loop and the statement
};

void collect(const ir::Body& body, bool always, std::vector<const ir::Loop*>& loops, std::vector<Site>& sites) {
  for (const ir::Stmt& stmt : body) {
    const auto* loop = stmt.as<ir::Loop>();
    const bool products = loop != nullptr && !loop->atom.empty();
    if (stmt.as<ir::Load>() != nullptr || stmt.as<ir::Stage>() != nullptr || products)
      sites.push_back({&stmt, loops, always});
    if (products) continue;  // its loads are counted as loads of fragments
    if (loop != nullptr) loops.push_back(loop);
    if (const ir::Body* inner = inner_body(stmt))
      collect(*inner, loop != nullptr || (always && stmt.as<ir::If>() == nullptr), loops, sites);
    if (loop != nullptr) loops.pop_back();
  }
}

// The place at which an access is evaluated. A few places represent all others.
struct Where {
  std::int64_t warp = 0, copy = 0, round = 0;
  std::uint64_t regs = 0;  // the REG axes that `copy` counts
};
constexpr std::int64_t max_rounds = 8;   // a swizzle repeats after 8 rows
constexpr std::int64_t max_copies = 64;  // register copies
constexpr std::int64_t some_warps = 4;   // if a single warp does not represent all warps

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

  /// Returns the accesses to the buffer; "": to all buffers.
  std::vector<WarpAccess> of(const std::string& buffer) {
    std::vector<WarpAccess> result;
    const auto is_wanted = [&](const ir::Stage& stage) { return buffer.empty() || stage.buffer == buffer; };
    for (const Site& site : sites_)
      if (const auto* stage = site.stmt->as<ir::Stage>(); stage != nullptr && is_wanted(*stage) && !find(stage->buffer))
        stages_.push_back(stage);
    for (const Site& site : sites_) {
      const auto* stage = site.stmt->as<ir::Stage>();
      const auto* load = site.stmt->as<ir::Load>();
      if (stage != nullptr && is_wanted(*stage) && stage->transport != ir::Transport::tma && words(*stage))
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

  class Surroundings;
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
  std::vector<std::int64_t> extents_, regs_;  // extents of the THREAD and the REG axes
  std::int64_t threads_ = 1;
  std::vector<Site> sites_;
  std::vector<const ir::Stage*> stages_;
};

// The axes and the loops around a site, at one place after another. Block axes and the vector's lane are 0.
class Accesses::Surroundings {
 public:
  Surroundings(const Accesses& accesses, const Site& site) : accesses_(accesses), site_(site) {
    for (const ir::Axis& axis : accesses.tile_.axes) environment_.add(axis.name);
    for (const ir::Loop* loop : site.loops) {
      starts_.emplace_back(loop->start, environment_);
      environment_.add(loop->axis.name);
    }
    enter_warp(0);
    move_to({});
  }

  Environment& environment() { return environment_; }

  void move_to(const Where& where) {
    if (where.warp != warp_) enter_warp(where.warp);
    std::int64_t copy = where.copy;
    std::uint64_t reg = 1;
    std::size_t number = 0;
    for (const ir::Axis& axis : accesses_.tile_.axes) {
      LaneValue& value = environment_.values[number++];
      if (axis.bind != ir::Bind::reg) continue;
      const bool counted = (where.regs & reg) != 0;
      value.v[0] = counted ? copy % axis.extent : 0;
      value.regs = reg;
      if (counted) copy /= axis.extent;
      reg <<= 1;
    }
    for (std::size_t i = 0; i < site_.loops.size(); ++i) {
      const ir::Loop& loop = *site_.loops[i];
      LaneValue& value = environment_.values[number++];
      value = starts_[i].evaluate(environment_);
      const std::int64_t turns = std::max<std::int64_t>(1, loop.axis.extent / loop.step);
      for (std::int64_t& v : value.v) v += loop.step * (where.round % turns);
    }
  }

 private:
  void enter_warp(std::int64_t warp) {
    warp_ = warp;
    std::int64_t stride = accesses_.threads_;
    std::size_t number = 0;
    for (const ir::Axis& axis : accesses_.tile_.axes) {
      LaneValue& value = environment_.values[number++];
      if (axis.bind != ir::Bind::thread) continue;
      stride /= axis.extent;
      value.threads = true;
      for (std::size_t t = 0; t < ir::gpu::warp; ++t)
        value.v[t] = (warp * ir::gpu::warp + static_cast<std::int64_t>(t)) / stride % axis.extent;
    }
  }

  const Accesses& accesses_;
  const Site& site_;
  Environment environment_;
  std::vector<CompiledIndex> starts_;  // the loops' starts
  std::int64_t warp_ = 0;
};

// Returns the number of executions: the iterations of the loops around the site times the copies over REG axes.
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

// Returns how many elements are adjacent along the axis, from a multiple of their number on.
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

/// The index of a warp's threads in several dimensions.
class WarpIndex {
 public:
  WarpIndex(std::span<const ir::Expr> index, const Environment& environment) {
    for (const ir::Expr& e : index) index_.emplace_back(e, environment);
  }

  std::vector<WarpValues> evaluate(const Environment& environment) {
    std::vector<WarpValues> values(index_.size());
    regs = 0;
    plain = known = true;
    for (std::size_t d = 0; d < index_.size(); ++d) {
      const LaneValue& value = index_[d].evaluate(environment);
      if (value.threads)
        values[d] = value.v;
      else
        values[d].fill(value.v[0]);
      regs |= value.regs;
      plain &= value.plain;
      known &= value.known;
    }
    return values;
  }

  // Properties of all dimensions together, in the latest evaluation, as in LaneValue.
  std::uint64_t regs = 0;
  bool plain = true, known = true;

 private:
  std::vector<CompiledIndex> index_;
};

std::optional<WarpAccess> Accesses::look(const Site& site, const ir::Load& load, const ir::Stage& stage) const {
  const std::size_t slot = stage.slots > 1 ? 1 : 0;
  Surroundings surroundings(*this, site);
  WarpIndex index(std::span(load.index).subspan(slot), surroundings.environment());
  std::vector<WarpValues> first = index.evaluate(surroundings.environment());
  if (!index.known) return std::nullopt;
  const std::uint64_t regs = index.regs;
  WarpAccess access = {&stage, &load, 1, 1, warp_size(), 1, {}};
  if (lanes_ != nullptr && depends_on(load.index.back(), lanes_->name))
    access.lanes = static_cast<int>(lanes_->extent);
  else
    access.run = run(site, load, stage);
  const bool plain = stage.panel == 0 && stage.swizzle == 0 && index.plain;
  access.times = times(site, regs);
  std::int64_t copies = 1;
  for (std::size_t i = 0; i < regs_.size(); ++i) copies *= (regs >> i & 1) != 0 ? regs_[i] : 1;
  const bool one_warp = plain && blocks_are_shifts(extents_);
  const std::int64_t warps = plain ? this->warps() : std::min(this->warps(), some_warps);
  if (one_warp) {
    access.samples.push_back(std::move(first));
    return access;
  }
  Where where = {0, 0, 0, regs};
  for (where.warp = 0; where.warp < warps; ++where.warp)
    for (where.copy = 0; where.copy < (plain ? 1 : std::min(copies, max_copies)); ++where.copy)
      for (where.round = 0; where.round < (plain ? 1 : max_rounds); ++where.round) {
        surroundings.move_to(where);
        access.samples.push_back(index.evaluate(surroundings.environment()));
      }
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

// For ldmatrix, eight threads name the rows of a matrix, of 16 bytes each. If each thread loads its own elements, only
// the first matrix is evaluated. The loop's turn and the registers shift all rows alike, unless a swizzle folds the
// rows, so two turns and some registers are evaluated.
std::optional<WarpAccess> Accesses::look_at(const Site& site, const Fragment& fragment) const {
  const ir::Stage* stage = find(fragment.load->buffer);
  if (stage == nullptr) return std::nullopt;
  const bool rows = fragment.fetch != Fetch::elements;
  const int lanes = rows ? static_cast<int>(16 / ir::bytes(stage->dtype)) : fragment.together;
  const std::size_t slot = stage->slots > 1 ? 1 : 0;
  WarpAccess access = {
      stage, fragment.load, lanes, 1, rows ? std::min(warp_size(), 8 * fragment.matrices) : warp_size(), 1, {}};
  Surroundings surroundings(*this, site);
  Environment& environment = surroundings.environment();
  environment.add(site.stmt->as<ir::Loop>()->axis.name);
  const std::size_t turn_slot = environment.values.size() - 1;
  static const std::string lane = ir::lane_variable;
  environment.add(lane);
  WarpIndex index(std::span(fragment.index).subspan(slot), environment);
  index.evaluate(environment);
  const std::uint64_t regs = index.regs;
  std::int64_t copies = 1;
  for (std::size_t i = 0; i < regs_.size(); ++i) copies *= (regs >> i & 1) != 0 ? regs_[i] : 1;
  access.times = times(site, regs);
  const std::int64_t trips = ir::mma::trips(*site.stmt->as<ir::Loop>());
  Where where = {0, 0, 0, regs};
  for (where.warp = 0; where.warp < std::min(warps(), some_warps); ++where.warp)
    for (where.copy = 0; where.copy < std::min(copies, max_copies / 8); ++where.copy)
      for (const std::int64_t turn : {0, 1})
        if (turn < trips) {
          surroundings.move_to(where);
          environment.values[turn_slot].v[0] = turn;
          access.samples.push_back(index.evaluate(environment));
        }
  return access;
}

// Thread `id` makes copies id, id + threads, … of the slab. Copies are counted along the rows of the source.
WarpAccess Accesses::fill(const Site& site, const ir::Stage& stage) const {
  WarpAccess access = {&stage, nullptr, std::max(1, stage.lanes), 1, warp_size(), 1, {}};
  const ir::Buffer& source = *program_.find(stage.source);
  const std::vector<std::size_t> order = ir::source_order(stage, source);
  std::vector<std::int64_t> steps;  // number of copies along each axis, in that order
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
  const std::int64_t rounds = shifts ? 1 : std::min((copies + threads_ - 1) / threads_, max_rounds);
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
  return warp_accesses(program, unrolled, "");
}

std::vector<WarpAccess> warp_accesses(const ir::Program& program, Unrolled unrolled, const std::string& buffer) {
  for (const ir::Stmt& stmt : program.body)
    if (const auto* tile = stmt.as<ir::Tile>()) return Accesses(program, *tile, unrolled).of(buffer);
  return {};
}

std::vector<WarpAccess> without_repeats(std::vector<WarpAccess> accesses) {
  for (WarpAccess& access : accesses) {
    auto& samples = access.samples;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      // Repeats follow each other closely: they belong to warps or registers on which the index does not depend.
      constexpr std::size_t compared = 64;
      const auto end = samples.begin() + static_cast<std::ptrdiff_t>(kept);
      const auto begin = end - static_cast<std::ptrdiff_t>(std::min(kept, compared));
      if (std::find(begin, end, samples[i]) != end) continue;
      if (kept != i) samples[kept] = std::move(samples[i]);
      ++kept;
    }
    samples.resize(kept);
  }
  return accesses;
}

}  // namespace deplo::rules
