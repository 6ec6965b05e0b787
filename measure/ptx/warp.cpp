#include "measure/ptx/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "measure/ptx/machine.h"

namespace deplo::measure::ptx {
namespace {

Lanes first_lanes(std::int64_t count) { return count >= warp_lanes ? all_lanes : (Lanes{1} << count) - 1; }

}  // namespace

Warp::Warp(Block& block, std::int64_t index)
    : block_(block),
      index_(index),
      actor_(block.cluster().actors().warp(block.rank(), index)),
      program_(block.machine().program()),
      registers_(program_.register_bytes / sizeof(std::uint64_t)),
      local_(program_.local_bytes * warp_lanes),
      alive_(first_lanes(block.machine().threads() - index * warp_lanes)) {
  groups_.push_back({0, alive_, false});
  knowledge_.seen.see(actor_, epoch_);
  for (const Preset& preset : program_.presets) {
    if (preset.bits == 1)
      predicate(preset.place) = preset.value != 0 ? all_lanes : 0;
    else if (preset.bits == 16)
      lanes<std::uint16_t>(preset.place).fill(static_cast<std::uint16_t>(preset.value));
    else if (preset.bits == 32)
      lanes<std::uint32_t>(preset.place).fill(static_cast<std::uint32_t>(preset.value));
    else
      lanes<std::uint64_t>(preset.place).fill(preset.value);
  }
  for (const SpecialPlace& special : program_.specials) set_special(special);
  if (program_.has_wgmma) {
    written_.resize(program_.register_bytes / slot_bytes + 1, -1);
    in_flight_.resize(program_.register_bytes / slot_bytes + 1, 0);
  }
}

namespace {

/// A number as x, y and z of a grid or block of `all`.
struct Dimensions {
  Dimensions(std::int64_t all, std::int64_t x, std::int64_t y)
      : size{x == 0 ? all : x, y, x == 0 ? 1 : all / (x * y)} {}
  std::int64_t part(std::int64_t number, int axis) const {
    return axis == 0 ? number % size[0] : axis == 1 ? number / size[0] % size[1] : number / (size[0] * size[1]);
  }
  std::array<std::int64_t, 3> size;
};

}  // namespace

// The same for all lanes but for those that are the lane's own.
void Warp::set_special(const SpecialPlace& special) {
  const LaunchOptions& o = machine().options();
  const Dimensions grid(o.blocks, o.grid_x, o.grid_y), block(o.threads, o.block_x, o.block_y);
  PerLane<std::uint32_t>& values = lanes<std::uint32_t>(special.place);
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t one = std::uint32_t{1} << lane;
    const std::int64_t thread = index_ * warp_lanes + lane;
    const auto axis = [&](Special first) { return static_cast<int>(special.which) - static_cast<int>(first); };
    const auto value = [&]() -> std::int64_t {
      using enum Special;
      switch (special.which) {
        case tid_x:
        case tid_y:
        case tid_z:
          return block.part(thread, axis(tid_x));
        case ntid_x:
        case ntid_y:
        case ntid_z:
          return block.size.at(static_cast<std::size_t>(axis(ntid_x)));
        case ctaid_x:
        case ctaid_y:
        case ctaid_z:
          return grid.part(block_.index(), axis(ctaid_x));
        case nctaid_x:
        case nctaid_y:
        case nctaid_z:
          return grid.size.at(static_cast<std::size_t>(axis(nctaid_x)));
        case laneid:
          return lane;
        case warpid:
          return index_;
        case nwarpid:
          return machine().warps();
        case cluster_ctarank:
        case cluster_ctaid_x:
          return block_.rank();
        case cluster_nctarank:
        case cluster_nctaid_x:
          return program_.cluster;
        case clusterid_x:
          return block_.index() / program_.cluster;
        case nclusterid_x:
          return o.blocks / program_.cluster;
        case lanemask_eq:
          return one;
        case lanemask_lt:
          return one - 1;
        case lanemask_le:
          return (one - 1) | one;
        case lanemask_gt:
          return ~((one - 1) | one);
        case lanemask_ge:
          return ~(one - 1);
        case dynamic_smem_size:
          return o.dynamic_shared_bytes;
        case total_smem_size:
          return static_cast<std::int64_t>(machine().shared_bytes());
        case zero:
          return 0;
      }
      return 0;
    };
    values[lane] = static_cast<std::uint32_t>(value());
  }
}

std::int64_t Warp::take_thread_instructions() { return std::exchange(thread_instructions_, 0); }

// Mostly the group that is furthest behind, so that the lanes come together again; sometimes another, because threads
// may proceed independently of each other.
std::size_t Warp::pick() {
  const auto goes = [](const Group& g) { return !g.waiting; };
  std::size_t best = groups_.size(), seen = 0;
  const bool any = groups_.size() > 1 && machine().rng().below(8) == 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (!goes(groups_[i])) continue;
    ++seen;
    if (best == groups_.size() || (any ? machine().rng().below(seen) == 0 : groups_[i].at < groups_[best].at)) best = i;
  }
  return best;
}

std::int64_t Warp::run(std::int64_t budget) {
  returns_early_ = machine().waits_time_out() || machine().draw_early_return();
  if (!returns_early_ && idle_since_ == machine().events()) return 0;
  for (Group& group : groups_) group.waiting = false;
  idle_since_.reset();
  std::int64_t executed = 0;
  while (executed < budget && !groups_.empty()) {
    const std::size_t current = pick();
    if (current == groups_.size()) {
      idle_since_ = machine().events();
      break;
    }
    if (groups_.size() == 1) {
      while (executed < budget && groups_.size() == 1 && step(0)) ++executed;
      if (!groups_.empty() && groups_.size() == 1 && groups_[0].waiting) continue;
      if (executed < budget) ++executed;  // the branch or the end that left the loop
      continue;
    }
    // Some instructions of one group, then look again who is behind.
    for (int i = 0; i < 4 && executed < budget && current < groups_.size() && step(current); ++i) ++executed;
  }
  return executed;
}

void Warp::merge(std::size_t current) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (i == current || groups_[i].at != groups_[current].at) continue;
    groups_[current].lanes |= groups_[i].lanes;
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(i));
    return;  // two others never are at one place
  }
}

// No two groups are at one place.
void Warp::add(const Group& group) {
  const auto there = std::ranges::find(groups_, group.at, &Group::at);
  if (there == groups_.end()) {
    groups_.push_back(group);
    return;
  }
  there->lanes |= group.lanes;
  there->waiting = false;
}

// Lanes that do not execute an instruction for which the others may wait go ahead.
void Warp::split(std::size_t current, Lanes active) {
  Group others{groups_[current].at + 1, groups_[current].lanes & ~active, false};
  groups_[current].lanes = active;
  add(others);
}

bool Warp::are_together(Group& group, const Instruction& i, Lanes active) {
  Lanes needed = alive_;
  if (i.together == Together::members) {
    needed = uniform<std::uint32_t>(i.e, active, "the membermask");
    if ((active & ~needed) != 0)
      throw Finding("a lane executes this and is not in its membermask", std::countr_zero(active & ~needed));
    needed &= alive_;  // PTX ISA, "shfl.sync", "vote.sync": all non-exited threads of the membermask
  }
  group.waiting = (needed & ~active) != 0;
  return !group.waiting;
}

void Warp::branch(std::size_t current, const Instruction& i, Lanes active) {
  Group& group = groups_[current];
  if (active == group.lanes) {
    group.at = i.target;
    return;
  }
  const Group taken{i.target, active, false};
  group.lanes &= ~active;
  ++group.at;
  add(taken);
}

void Warp::end(Lanes lanes) {
  alive_ &= ~lanes;
  block_.end_threads(std::popcount(lanes));
  if (alive_ == 0) block_.end_warp();
  if (alive_ == 0 && (!copies.empty() || !products.empty())) {
    // Nothing waits for them: they are done whenever.
    while (!copies.empty()) {
      copies.front().work();
      copies.pop_front();
    }
    run_products(committed_products + 1);
  }
  block_.cluster().turn_if_complete();
  machine().note_progress();
}

bool Warp::step(std::size_t current) {
  Group& group = groups_[current];
  const Instruction& i = program_.code[group.at];
  const Lanes active = group.lanes & (predicate(i.guard) ^ i.guard_flip);
  at_ = group.at;
  if (active == 0) {
    ++group.at;
    if (groups_.size() > 1) merge(current);
    return groups_.size() == 1;
  }
  try {
    if ((i.together != Together::no || i.waits) && active != group.lanes) split(current, active);
    if (i.together != Together::no && !are_together(groups_[current], i, active)) return false;
    if (program_.has_wgmma) check_registers(i);
    const Flow flow = i.run(*this, i, active);
    if (flow == Flow::wait) {
      groups_[current].waiting = true;
      return false;
    }
    thread_instructions_ += std::popcount(active);
    if (flow == Flow::next) {
      ++groups_[current].at;
    } else if (flow == Flow::branch) {
      branch(current, i, active);
    } else {
      end(active);
      groups_[current].lanes &= ~active;
      ++groups_[current].at;
      if (groups_[current].lanes == 0)
        groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(current));
      else
        merge(current);
      return false;
    }
  } catch (const Finding& finding) {
    throw machine().placed(finding, *this, at_);
  }
  if (groups_.size() > 1) merge(current);
  return true;
}

// PTX ISA, "wgmma.mma_async": registers of an operand may not be touched before the wait.
void Warp::check_registers(const Instruction& i) {
  ++clock_;
  if (i.detail == nullptr) return;
  for (const std::uint32_t place : i.detail->reads)
    if (in_flight_[place / slot_bytes] > waited_products_) throw Finding("reads a sum of wgmma before the wait for it");
  for (const std::uint32_t place : i.detail->writes) {
    if (in_flight_[place / slot_bytes] > waited_products_)
      throw Finding("writes a register that a wgmma still uses, before the wait for it");
    written_[place / slot_bytes] = clock_;
  }
}

void Warp::check_fenced(std::uint32_t place) const {
  if (written_[place / slot_bytes] > fence_)
    throw Finding("a register of this wgmma was written after the last wgmma.fence");
}

void Warp::run_products(std::int64_t up_to_group) {
  while (!products.empty() && products.front().group <= up_to_group) {
    const Product product = std::move(products.front());
    products.pop_front();
    try {
      product.work();
    } catch (const Finding& finding) {
      throw machine().placed(finding, *this, product.at);
    }
  }
}

void Warp::note_product_sums(const Detail& detail) {
  for (const RegisterPlace place : detail.d) in_flight_[place / slot_bytes] = committed_products + 1;
  for (const RegisterPlace place : detail.a) in_flight_[place / slot_bytes] = committed_products + 1;
}

void Warp::note_products_waited(std::int64_t group) { waited_products_ = std::max(waited_products_, group); }

std::pair<Block*, std::uint64_t> Warp::shared_place(std::uint64_t address, bool own, std::size_t lane) const {
  const std::uint64_t rank = address >> rank_shift, offset = address & shared_offset_mask;
  if (rank == 0) return {&block_, offset};
  auto& blocks = block_.cluster().blocks();
  if (rank - 1 >= blocks.size())
    throw Finding(fmt::format("{:#x} is no address in shared memory", address), static_cast<int>(lane));
  Block* const block = blocks[rank - 1].get();
  if (own && block != &block_)
    throw Finding(
        fmt::format("{:#x} is an address of block {}'s shared memory, not of the own", address, block->index()),
        static_cast<int>(lane));
  if (block->live_threads() == 0)
    throw Finding(fmt::format("accesses the shared memory of block {}, which has ended", block->index()),
                  static_cast<int>(lane));
  return {block, offset};
}

std::byte* Warp::shared_at(std::uint64_t address, std::uint32_t size, std::size_t lane, const Operation& operation,
                           bool own) {
  const Use use = operation.use;
  const auto [block, offset] = shared_place(address, own, lane);
  std::byte* const found = block->shared().find(offset, size);
  const auto here = static_cast<int>(lane);
  if (found == nullptr)
    throw Finding(fmt::format("out of bounds: {} bytes at byte {} of shared memory, which has {} bytes", size,
                              static_cast<std::int64_t>(offset - shared_start), block->shared().size()),
                  here);
  if (operation.used > 0) size = operation.used;
  if (block->has_mbarriers()) block->check_plain(offset, size);
  const std::uint64_t position = offset - shared_start;
  Access made = access();
  made.is_atomic = use == Use::update;
  if (!operation.order.strong) {
    made.lanes = &lane_order_;
    made.lane = static_cast<std::uint8_t>(lane);
  }
  const bool changes = operation.written == nullptr || !block->shared().is_written(offset, size) ||
                       std::memcmp(found, operation.written, size) != 0;
  const auto conflict = use == Use::read ? block->shadow().read(position, size, made)
                                         : block->shadow().write(position, size, made, changes);
  if (conflict) report(*conflict, use == Use::read ? "reads" : "writes", size, position);
  if (use == Use::write)
    block->shared().mark_written(offset, size);
  else if (!block->shared().is_written(offset, size))
    machine().note_uninitialized(
        Finding(fmt::format("reads uninitialized shared memory: {} bytes at byte {}", size, offset - shared_start),
                here),
        *this);
  return found;
}

void Warp::report(const Conflict& conflict, const char* does, std::uint64_t size, std::uint64_t at) const {
  const std::string other = fmt::format("{} {} at {}", block_.cluster().actors().describe(conflict.actor),
                                        conflict.was_write ? "wrote" : "read", machine().place_of(conflict.at));
  if (conflict.lane)
    throw Finding(fmt::format(
        "race: {} {} bytes at byte {} of shared memory, which lane {} of the same warp {} at {}, and "
        "no __syncwarp() (bar.warp.sync) or other barrier stands between",
        does, size, at, *conflict.lane, conflict.was_write ? "wrote" : "read", machine().place_of(conflict.at)));
  if (conflict.needs_proxy_fence)
    throw Finding(
        fmt::format("race: {} {} bytes at byte {} of shared memory through the asynchronous proxy, which {} "
                    "through the generic one, without fence.proxy.async",
                    does, size, at, other));
  throw Finding(fmt::format("race: {} {} bytes at byte {} of shared memory, which {}, and nothing orders the two", does,
                            size, at, other));
}

void Warp::report(const GlobalConflict& conflict, const char* does, std::uint64_t size, std::uint64_t address) const {
  const std::string other = fmt::format("which block {}, {} {} at {}", conflict.block,
                                        block_.cluster().actors().describe_in_block(conflict.actor),
                                        conflict.was_write ? "wrote" : "read", machine().place_of(conflict.at));
  const char* why = ", and nothing orders the two";
  if (conflict.why == GlobalConflict::Why::narrow_scope)
    why = ", both atomically, but in a scope that does not include the other's block";
  else if (conflict.why == GlobalConflict::Why::needs_proxy_fence)
    why = " through the generic proxy, without fence.proxy.async";
  else if (conflict.why == GlobalConflict::Why::non_coherent)
    why = " in this launch: ld.global.nc is for memory that nothing writes";
  throw Finding(fmt::format("race: {} {}, {}{}", does, machine().memory().describe(address, size), other, why));
}

void Warp::check_global_read(std::uint64_t address, std::uint64_t size, const Access& made) const {
  if (const auto conflict = machine().order().read(address, size, {made, block_.index(), {}}))
    report(*conflict, "reads", size, address);
}

ClusterClocks Warp::known() const {
  ClusterClocks all = knowledge_.others;
  all.join(block_.cluster().number(), knowledge_);
  return all;
}

void Warp::acquire(const ClusterClocks& released) {
  lane_order_.meet(all_lanes);
  knowledge_.others.join(released);
  if (const ProxyClocks* const own = released.find(block_.cluster().number())) knowledge_.ProxyClocks::join(*own);
}

// PTX ISA, "Release and Acquire Patterns": a strong read, and a fence behind it if the read itself does not acquire.
void Warp::observe(std::uint64_t address, const MemoryOrder& order) {
  const GlobalOrder::Released* const released = machine().order().find(address);
  if (!order.strong || released == nullptr) return;
  if (order.scope != Scope::block) {
    if (order.acquires) acquire(released->to_device);
    observed_in_device_.join(released->to_device);
  }
  if (released->block == block_.index()) {
    if (order.acquires) acquire(released->to_block);
    observed_in_block_.join(released->to_block);
  }
}

void Warp::release(const Instruction& i, std::size_t lane, bool updates) {
  const std::uint64_t address = this->address(i, lane);
  const bool is_global = i.space == Space::global || (i.space == Space::generic && (address & window_mask) == 0);
  if (!is_global) return;
  if (!i.order.strong) return machine().order().forget(address);
  GlobalOrder::Released released{fenced_for_device_, fenced_for_block_, block_.index(), actor_};
  if (i.order.releases) {
    released.to_block.join(known());
    released.to_device.join(known());
    begin_epoch();
  }
  if (i.order.scope == Scope::block) released.to_device = {};
  machine().order().release(address, released, updates);
}

void Warp::fence(Scope scope) {
  acquire(observed_in_block_);
  if (scope != Scope::block) acquire(observed_in_device_);
  fenced_for_block_ = known();
  if (scope != Scope::block) fenced_for_device_ = fenced_for_block_;
  begin_epoch();
}

void Warp::show_to_proxy() {
  knowledge_.show_to_proxy();
  begin_epoch();
}

std::byte* Warp::global_at(std::uint64_t address, std::uint32_t size, std::size_t lane, const Operation& operation) {
  std::byte* const found = machine().memory().find(address, size);
  if (found == nullptr)
    throw Finding("out of bounds: " + machine().memory().describe_with_size(address, size), static_cast<int>(lane));
  const GlobalAccess made{access(), block_.index(), operation.order};
  if (operation.use == Use::read) {
    const std::uint32_t used = operation.used > 0 ? operation.used : size;
    if (const auto conflict = machine().order().read(address, used, made)) report(*conflict, "reads", used, address);
  } else {
    const bool changes = operation.written == nullptr || std::memcmp(found, operation.written, size) != 0;
    if (const auto conflict = machine().order().write(address, size, made, changes))
      report(*conflict, operation.use == Use::write ? "writes" : "updates", size, address);
    machine().note_progress();
  }
  if (operation.use != Use::write) observe(address, operation.order);
  return found;
}

std::byte* Warp::local_at(std::uint64_t offset, std::uint32_t size, std::size_t lane) {
  const std::uint64_t at = offset - local_start, all = program_.local_bytes;
  if (at > all || size > all - at)
    throw Finding(fmt::format("out of bounds: {} bytes at byte {} of local memory, which has {} bytes", size,
                              static_cast<std::int64_t>(at), all),
                  static_cast<int>(lane));
  return local_.data() + lane * all + at;
}

std::byte* Warp::at(Space space, std::uint64_t address, std::uint32_t size, std::size_t lane,
                    const Operation& operation) {
  const auto here = static_cast<int>(lane);
  const Use use = operation.use;
  if (address % size != 0)
    throw Finding(fmt::format("misaligned: {} bytes at {:#x}, which is not a multiple of {}", size, address, size),
                  here);
  if (space == Space::generic) {
    const std::uint64_t window = address & window_mask;
    if (window == shared_window) return shared_at(address & ~window_mask, size, lane, operation, false);
    if (window == local_window) return local_at(address & ~window_mask, size, lane);
    if (window == param_window) return at(Space::param, address & ~window_mask, size, lane, operation);
    space = Space::global;
  }
  switch (space) {
    case Space::shared:
      return shared_at(address, size, lane, operation, true);
    case Space::shared_cluster:
      return shared_at(address, size, lane, operation, false);
    case Space::local:
      return local_at(address, size, lane);
    case Space::param: {
      const auto& bytes = machine().parameters();
      const std::uint64_t offset = address - param_start;
      if (use != Use::read) throw Finding("writes a parameter of the kernel", here);
      if (offset > bytes.size() || size > bytes.size() - offset)
        throw Finding(fmt::format("out of bounds: {} bytes at byte {} of the parameters, which have {} bytes", size,
                                  static_cast<std::int64_t>(offset), bytes.size()),
                      here);
      return const_cast<std::byte*>(bytes.data()) + offset;  // NOLINT: read only, as checked above
    }
    default:
      return global_at(address, size, lane, operation);
  }
}

std::string Warp::parted_lanes() const {
  if (groups_.size() < 2) return "";
  for (const Group& group : groups_)
    if (program_.code[group.at].together == Together::no) return "";
  const Statement& s = program_.statements[groups_[0].at];
  return fmt::format("{}: {}: executed by lanes {:#x} of warp {} only, and expected by all: {}",
                     machine().place_of(groups_[0].at), s.opcode, groups_[0].lanes, index_, whereabouts());
}

std::string Warp::whereabouts() const {
  std::string text;
  for (const Group& group : groups_) {
    const Statement& s = program_.statements[group.at];
    text += fmt::format("{}warp {}", text.empty() ? "" : ", ", index_);
    if (group.lanes != all_lanes) text += fmt::format(" (lanes {:#x})", group.lanes);
    text += fmt::format(" at {} of PTX line {}", s.opcode, s.line);
    if (s.place.line > 0)
      text += fmt::format(" (CUDA line {})", s.place.inlined_at > 0 ? s.place.inlined_at : s.place.line);
  }
  return text;
}

}  // namespace deplo::measure::ptx
