#include "rules/materialize/stage_lowering.h"

#include <algorithm>
#include <set>

#include "ir/hardware/mma.h"
#include "ir/hardware/pairs.h"
#include "ir/hardware/stage_layout.h"
#include "ir/softmax.h"
#include "ir/walk.h"
#include "rules/cost/resources.h"

namespace deplo::rules::materializer {
namespace {

// Returns the distance between copies along a dimension of the slab.
std::int64_t copy_step(const ir::Stage& stage, const ir::Buffer& source, std::size_t dimension, int lanes) {
  if (stage.pairs && dimension == 0) return ir::pairs::depth;
  if (dimension + 2 == stage.slab.size() && ir::has_turned_blocks(stage, source, lanes)) return lanes;
  return dimension + 1 == stage.slab.size() ? lanes : 1;
}

// Returns the position in the slab of copy number `flat`. Copies go along the rows of the source, in any order of the
// slab.
std::vector<ir::Expr> slab_position(const ir::Stage& stage, const ir::Buffer& source, const ir::Expr& flat, int lanes) {
  const std::vector<std::size_t> order = ir::source_order(stage, source);
  std::vector<ir::Expr> position(stage.slab.size());
  ir::Expr rest = flat;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t s = order[i];
    const std::int64_t step = copy_step(stage, source, s, lanes), steps = stage.slab[s].extent / step;
    position[s] = (i == 0 ? rest : rest % steps) * step;
    rest = rest / steps;
  }
  return position;
}

// Returns the buffers that products of warpgroups read.
std::set<std::string, std::less<>> read_by_warpgroups(const ir::Body& body) {
  std::set<std::string, std::less<>> buffers;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    const auto* loop = stmt.as<ir::Loop>();
    const ir::mma::Atom* atom = loop == nullptr ? nullptr : ir::mma::find_atom(loop->atom);
    if (atom == nullptr || !atom->of_warpgroup()) return;
    for (const ir::Stmt& inner : loop->body)
      if (const auto* load = inner.as<ir::Load>()) buffers.insert(load->buffer);
  });
  return buffers;
}

// Returns the physical index of an element of the slab.
std::vector<ir::Expr> place_in_slot(const ir::Stage& stage, const ir::Expr& slot, std::vector<ir::Expr> in_slab,
                                    const ir::Ranges& scope) {
  if (stage.slots > 1) in_slab.insert(in_slab.begin(), slot);
  return ir::physical_index(stage, in_slab, scope);
}

// How the threads of a block share the copies of a slab. On GPUs, neighbouring threads copy neighbouring elements
// (strided). The threads of a CPU's block run one after the other, so each copies a contiguous run, and rows are read
// from their beginning to their end. If the threads do not divide the copies, the first thread makes all of them. With
// strided copies, matmuls of 77 and 197 rows took 1.06 to 1.27 times as long (docs/performance.md, "Copies by one
// thread").
enum class Sharing : std::uint8_t { strided, runs, first };

Sharing sharing_of(std::int64_t copies, const KernelBuilder& kernel) {
  if (!kernel.target.cpu || copies <= kernel.threads) return Sharing::strided;
  return copies % kernel.threads == 0 ? Sharing::runs : Sharing::first;
}

// Returns the loop of one thread over its copies.
ir::Loop copy_loop(std::int64_t copies, Sharing sharing, KernelBuilder& kernel) {
  const std::string axis = kernel.fresh_axis();
  if (sharing == Sharing::strided) return {{axis, copies, ir::Bind::free}, kernel.thread_id(), kernel.threads, 1, {}};
  const std::int64_t parts = sharing == Sharing::runs ? kernel.threads : 1;
  return {{axis, copies / parts, ir::Bind::free}, 0, 1, 1, {}};
}

}  // namespace

StagePlaces::StagePlaces(const KernelBuilder& kernel) : kernel_(kernel) {
  ir::for_each<ir::Stage>(kernel.tile.body, [&](const ir::Stage& stage) { stages_.emplace(stage.buffer, &stage); });
}

std::vector<ir::Expr> StagePlaces::place(const std::string& buffer, const std::vector<ir::Expr>& index) const {
  const auto stage = stages_.find(buffer);
  return stage == stages_.end() ? index : ir::physical_index(*stage->second, index, kernel_.scope);
}

std::vector<std::int64_t> StagePlaces::strides(const std::string& buffer) const {
  const auto stage = stages_.find(buffer);
  return stage == stages_.end() ? kernel_.tile_program.find(buffer)->strides
                                : ir::row_major_strides(ir::physical_shape(*stage->second));
}

ir::SharedMatrix StagePlaces::matrix(const std::string& buffer, const std::vector<ir::Expr>& index,
                                     bool transposed) const {
  const ir::Stage& stage = *stages_.at(buffer);
  CHECK(stage.swizzle > 0);
  std::int64_t panel = stage.panel > 0 && transposed ? stage.swizzle : 0;  // bytes
  for (std::size_t i = 0; i + 1 < stage.slab.size(); ++i) panel *= stage.slab[i].extent;
  return {buffer, place(buffer, index), transposed, stage.swizzle, panel};
}

StageLowering::StageLowering(KernelBuilder& kernel, const Replication& replication)
    : kernel_(kernel), replication_(replication), places_(kernel), produced_(producers(kernel.tile.body) > 0) {
  ir::for_each<ir::Stage>(kernel.tile.body, [&](const ir::Stage& stage) { declare(stage); });
  const auto by_warpgroups = read_by_warpgroups(kernel.tile.body);
  for (const auto& [buffer, stage] : places_.stages())
    fenced_ |= stage->transport != ir::Transport::tma && by_warpgroups.contains(buffer);
  while (barriers_ > 0 && !kernel.reserve(barrier_)) barrier_ += "_";
  while (produced_ && !kernel.reserve(empty_)) empty_ += "_";
}

void StageLowering::declare(const ir::Stage& stage) {
  kernel_.reserve(stage.buffer);
  async_ |= stage.transport == ir::Transport::async;
  if (places_.stages().at(stage.buffer) != &stage) return;
  kernel_.shared.emplace_back(ir::Smem{stage.buffer, stage.dtype, ir::physical_shape(stage), ir::alignment(stage)});
  if (stage.transport != ir::Transport::tma) return;
  barriers_ = std::max<std::int64_t>(barriers_, stage.slots);
  std::vector<std::int64_t> box(stage.origin.size(), 1);
  for (const ir::SlabAxis& axis : stage.slab) box[static_cast<std::size_t>(axis.dim)] = axis.extent;
  if (stage.panel > 0) box.back() = stage.panel;
  const std::int64_t parts = sharers(stage, kernel_.tile);
  sharers_ = std::max(sharers_, parts);
  box[static_cast<std::size_t>(stage.slab.front().dim)] /= parts;
  kernel_.descriptors.emplace_back(
      ir::TmaDescriptor{stage.buffer + "_desc", stage.source, std::move(box), stage.swizzle});
}

void StageLowering::initialise(ir::Body& to) const {
  if (barriers_ == 0) return;
  to.emplace_back(ir::MbarrierInit{barrier_, barriers_, 1});
  if (produced_) to.emplace_back(ir::MbarrierInit{empty_, barriers_, sharers_ * kernel_.threads / kernel_.target.warp});
  sharers_ > 1 ? to.emplace_back(ir::ClusterSync{}) : to.emplace_back(ir::Sync{});
}

// Waits for the parity of the phase before the first one, so that no thread waits for slots that were never filled.
void StageLowering::produce(const ir::Body& trip, ir::Body& to) const {
  const std::size_t stages = ir::stage_run(trip, 0);
  const auto& wait = *trip[stages].as<ir::AsyncWait>();
  const ir::Expr phase = ir::simplify(ir::Expr(1) - replication_.at(wait.phase), kernel_.scope);
  to.emplace_back(ir::MbarrierWait{empty_, replication_.at(wait.slot), phase});
  start_boxes(std::span(trip).subspan(0, stages), to);
}

void StageLowering::wait_until_full(const ir::AsyncWait& wait, ir::Body& to) const {
  to.emplace_back(ir::MbarrierWait{barrier_, replication_.at(wait.slot), replication_.at(wait.phase)});
}

// One thread of each warp arrives. If other blocks also fill the warp's slots, one thread arrives for each of these
// blocks.
void StageLowering::release(const ir::Expr& slot, const ir::Expr& when, ir::Body& to) const {
  const ir::Expr lane = ir::simplify(kernel_.thread_id() % kernel_.target.warp, kernel_.scope);
  const ir::Expr first = sharers_ > 1 ? ir::less(lane, sharers_) : ir::equal(lane, 0);
  ir::MbarrierArrive arrive = {empty_, ir::simplify(replication_.at(slot), kernel_.scope)};
  if (sharers_ > 1) arrive.block = lane;
  to.emplace_back(ir::If{ir::both(when, first), ir::single(std::move(arrive))});
}

// A block must not end before the other blocks' arrivals at its barriers, which may still be in flight after those
// blocks have passed a barrier of the cluster. So the thread that fills the slots waits until each slot is free again,
// like CUTLASS's producer_tail.
void StageLowering::wait_until_free(const ir::Expr& fills, ir::Body& to) const {
  if (!are_shared()) return;
  ir::Loop loop = {{kernel_.fresh_axis(), barriers_, ir::Bind::free}, 0, 1, 1, {}};
  kernel_.scope.emplace_back(loop.axis.name, ir::range_of(loop));
  const ir::Expr next = fills + ir::var(loop.axis.name);
  const auto simple = [&](const ir::Expr& e) { return ir::simplify(e, kernel_.scope); };
  loop.body.emplace_back(
      ir::MbarrierWait{empty_, simple(next % barriers_), simple(ir::Expr(1) - next / barriers_ % 2)});
  kernel_.scope.pop_back();
  to.emplace_back(std::move(loop));
}

// Before a slot is filled again, its readers must be done. If the surrounding loop walks several slots, the barrier of
// the next slot's fill ensures this. Between the last iteration of that loop and its first one in the next iteration of
// the outer loops, a barrier before the loop, in the outer loops, ensures it.
bool StageLowering::needs_barrier_before(std::span<const ir::Stmt> run) const {
  const std::vector<std::string>& loops = kernel_.loops;
  if (loops.empty()) return false;
  const bool ready = loops.size() == 1 || ready_in_ == std::vector(loops.begin(), loops.end() - 1);
  return std::any_of(run.begin(), run.end(), [&](const ir::Stmt& stmt) {
    const auto& stage = *stmt.as<ir::Stage>();
    return stage.slots == 1 || !ready || !ir::depends_on(stage.slot, loops.back());
  });
}

// Emits the copies that one thread starts, then those of all threads, both under the condition of the group.
void StageLowering::fill(std::span<const ir::Stmt> run, ir::Body& to) {
  if (needs_barrier_before(run)) {
    to.emplace_back(ir::Sync{});
    ready_in_ = kernel_.loops;
  }
  const auto travels = [&](ir::Transport transport) {
    return std::ranges::any_of(run, [&](const ir::Stmt& stmt) { return stmt.as<ir::Stage>()->transport == transport; });
  };
  ir::If copies = {replication_.at(run.front().as<ir::Stage>()->when), {}};
  const ir::Ranges around = kernel_.scope;
  kernel_.scope = ir::narrowed(around, copies.condition);
  if (travels(ir::Transport::tma)) load_boxes(run, copies.then);
  for (const ir::Stmt& stmt : run)
    if (stmt.as<ir::Stage>()->transport != ir::Transport::tma) copy(*stmt.as<ir::Stage>(), copies.then);
  kernel_.scope = around;
  if (copies.condition.is_constant(1))
    std::move(copies.then.begin(), copies.then.end(), std::back_inserter(to));
  else
    to.emplace_back(std::move(copies));
  if (async_ && (travels(ir::Transport::async) || travels(ir::Transport::ahead)))
    to.emplace_back(ir::CpAsyncCommit{});  // even if nothing in the group is async, because groups are counted
  if (!travels(ir::Transport::copy)) return;
  if (fenced_) to.emplace_back(ir::ProxyFence{});
  to.emplace_back(ir::Sync{});
}

void StageLowering::wait(const ir::AsyncWait& wait, ir::Body& to) const {
  if (async_) to.emplace_back(ir::CpAsyncWait{wait.keep});
  if (barriers_ > 0)
    to.emplace_back(ir::MbarrierWait{barrier_, replication_.at(wait.slot), replication_.at(wait.phase)});
  if (fenced_) to.emplace_back(ir::ProxyFence{});
  to.emplace_back(ir::Sync{});
}

// One thread of the block starts the loads.
void StageLowering::load_boxes(std::span<const ir::Stmt> run, ir::Body& to) const {
  ir::If one = {ir::equal(kernel_.thread_id(), 0), {}};
  start_boxes(run, one.then);
  to.emplace_back(std::move(one));
}

// Emits an arrival that expects the bytes of all boxes of the run, then the loads of the boxes.
void StageLowering::start_boxes(std::span<const ir::Stmt> run, ir::Body& to) const {
  std::int64_t bytes = 0;
  ir::Expr slot = 0;
  for (const ir::Stmt& stmt : run) {
    const auto& stage = *stmt.as<ir::Stage>();
    if (stage.transport != ir::Transport::tma) continue;
    bytes += ir::slot_count(stage) * ir::bytes(stage.dtype);
    slot = replication_.at(stage.slot);
  }
  to.emplace_back(ir::MbarrierArriveExpectTx{barrier_, slot, bytes});
  for (const ir::Stmt& stmt : run)
    if (stmt.as<ir::Stage>()->transport == ir::Transport::tma) load_box(*stmt.as<ir::Stage>(), to);
}

// Emits one load per panel. If the blocks of a cluster share the slab, each block loads its rows for all blocks.
void StageLowering::load_box(const ir::Stage& stage, ir::Body& to) const {
  const std::int64_t columns = stage.slab.back().extent, width = ir::row_elements(stage);
  const std::int64_t parts = sharers(stage, kernel_.tile);
  const ir::Expr first_row = parts == 1 ? 0 : kernel_.block_in_cluster() * (stage.slab.front().extent / parts);
  for (std::int64_t column = 0; column < columns; column += width) {
    std::vector<ir::Expr> in_slab(stage.slab.size(), 0), coordinates = replication_.at(stage.origin);
    const auto move = [&](std::size_t axis, const ir::Expr& by) {
      ir::Expr& along = coordinates[static_cast<std::size_t>(stage.slab[axis].dim)];
      in_slab[axis] = by;
      along = ir::simplify(along + by, kernel_.scope);
    };
    move(in_slab.size() - 1, column);
    if (parts > 1) move(0, first_row);
    // A swizzle does not move the first element of a panel, nor that of a part, which is a whole number of patterns.
    to.emplace_back(
        ir::TmaLoad{stage.buffer, place_in_slot(stage, replication_.at(stage.slot), std::move(in_slab), kernel_.scope),
                    stage.buffer + "_desc", std::move(coordinates), barrier_, replication_.at(stage.slot), parts > 1});
  }
}

// Emits a loop over `flat`, the number of a copy: stage[position] = source[origin + position], or 0 outside it.
void StageLowering::copy(const ir::Stage& stage, ir::Body& to) {
  const ir::Buffer& source = source_of(stage);
  ir::Ranges& scope = kernel_.scope;
  const int lanes = stage.lanes > 0 ? stage.lanes : copy_widths(stage, source, kernel_.target, scope).front();
  std::int64_t copies = 1;
  for (std::size_t s = 0; s < stage.slab.size(); ++s)
    copies *= stage.slab[s].extent / copy_step(stage, source, s, lanes);
  const Sharing sharing = sharing_of(copies, kernel_);
  ir::Loop loop = copy_loop(copies, sharing, kernel_);
  scope.emplace_back(loop.axis.name, ir::range_of(loop));
  const auto simple = [&](const ir::Expr& e) { return ir::simplify(e, scope); };
  const ir::Expr variable = ir::var(loop.axis.name);
  const ir::Expr flat = simple(sharing == Sharing::runs ? kernel_.thread_id() * loop.axis.extent + variable : variable);
  std::vector<ir::Expr> position = slab_position(stage, source, flat, lanes), index = replication_.at(stage.origin);
  std::transform(position.begin(), position.end(), position.begin(), simple);
  ir::Expr inside = 1;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const ir::Expr origin = index[d];
    for (std::size_t s = 0; s < stage.slab.size(); ++s) {
      const ir::SlabAxis& axis = stage.slab[s];
      if (!axis.walks_dimension()) index[d] = ir::substitute(index[d], {{axis.name, position[s]}});
      if (axis.dim == static_cast<int>(d)) index[d] = index[d] + position[s];
    }
    if (index[d] == origin) continue;
    index[d] = simple(index[d]);
    if (!reaches_over(stage, d, source, scope)) continue;
    inside = ir::both(inside, ir::less(index[d], source.shape[d]));
  }
  const std::vector<ir::Expr> to_index = place_in_slot(stage, replication_.at(stage.slot), position, kernel_.scope);
  ir::Body element = copy_element(stage, to_index, index, lanes);
  if (inside.is_constant(1)) {
    loop.body = std::move(element);
  } else {
    ir::Body zero = ir::single(ir::Write{stage.buffer, to_index, 0.0, ir::WriteMode::assign, lanes});
    loop.body.emplace_back(ir::If{inside, std::move(element)});
    loop.body.emplace_back(ir::If{ir::equal(inside, 0), std::move(zero)});
  }
  scope.pop_back();
  if (stage.prefetch > 0) {
    auto& row = index[static_cast<std::size_t>(stage.slab[0].dim)];
    row = row + stage.prefetch;
    loop.body.insert(loop.body.begin(), ir::Prefetch{stage.source, std::move(index)});
  }
  if (sharing == Sharing::first)
    to.emplace_back(ir::If{ir::equal(kernel_.thread_id(), 0), ir::single(std::move(loop))});
  else
    to.emplace_back(std::move(loop));
}

ir::Body StageLowering::copy_element(const ir::Stage& stage, const std::vector<ir::Expr>& to,
                                     const std::vector<ir::Expr>& from, int lanes) {
  if (stage.transport == ir::Transport::async)
    return ir::single(ir::CpAsyncCopy{stage.buffer, to, stage.source, from, lanes});
  if (stage.pairs && lanes > 1)
    return ir::single(ir::CopyPairs{stage.buffer, to, stage.source, from, stage.slab[0].dim});
  if (ir::has_turned_blocks(stage, source_of(stage), lanes))
    return ir::single(ir::CopyTransposed{stage.buffer, to, stage.source, from, stage.slab.back().dim, lanes});
  if (stage.pairs) lanes = ir::pairs::depth;  // these elements are adjacent in the source, too
  const std::string value = kernel_.fresh("in");
  ir::Body body = ir::single(ir::Load{value, {stage.dtype, lanes}, stage.source, from});
  body.emplace_back(ir::Write{stage.buffer, to, value, ir::WriteMode::assign, lanes});
  return body;
}

}  // namespace deplo::rules::materializer
