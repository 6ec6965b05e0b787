// What a warp knows about the accesses of others, and what it makes known to them (PTX ISA, "Memory Consistency
// Model").
#pragma once
#include <cstdint>

#include "measure/ptx/program.h"
#include "measure/ptx/races/global_order.h"
#include "measure/ptx/races/order.h"

namespace deplo::measure::ptx {

class WarpOrder {
 public:
  WarpOrder(Actor warp, std::int64_t block, std::int64_t cluster) : actor_(warp), block_(block), cluster_(cluster) {
    knowledge_.seen.see(actor_, epoch_);
  }

  Actor actor() const { return actor_; }
  const Knowledge& knowledge() const { return knowledge_; }
  const LaneOrder& lanes() const { return lanes_; }
  /// Describes an access by the warp itself in instruction `at`.
  Access access(std::uint32_t at) const { return {actor_, epoch_, at, false, false, &knowledge_}; }
  void acquire(const Knowledge& other) {
    knowledge_.join(other);
    lanes_.meet(all_lanes);
  }
  /// The lanes execute bar.warp.sync (PTX ISA, "bar.warp.sync").
  void meet(Lanes lanes) { lanes_.meet(lanes); }
  /// The lane waits for its cp.async copies up to a group.
  void wait_for_copies(std::size_t lane, Epoch group) { lanes_.wait_for_copies(lane, group); }
  void see(Actor actor, Epoch epoch) { knowledge_.seen.see(actor, epoch); }
  /// Starts a new epoch. Later accesses are not part of what the warp has made known before.
  void begin_epoch() { knowledge_.seen.see(actor_, ++epoch_); }
  /// Executes fence.proxy.async (PTX ISA, "fence.proxy.async").
  void show_to_proxy(FencedMemory);
  /// Executes a fence (PTX ISA, "membar/fence").
  void fence(Scope);
  /// What a relaxed arrival at an mbarrier releases: what a fence before it has released.
  Knowledge fenced() const;
  /// Updates the warp's knowledge after a relaxed wait for an mbarrier: only a later fence acquires what was released.
  void observe(const Knowledge& released);
  /// Updates the warp's knowledge after a read of global memory: a strong read observes what was released at the
  /// address.
  void observe(const GlobalOrder&, std::uint64_t address, const MemoryOrder&);
  /// Updates what a write to global memory makes known at the address, as its order says. `updates`: the write is by an
  /// atomic operation.
  void release(GlobalOrder&, std::uint64_t address, const MemoryOrder&, bool updates);

 private:
  void acquire(const ClusterClocks&);
  ClusterClocks known() const;

  Actor actor_;
  std::int64_t block_, cluster_;
  Epoch epoch_ = 1;
  Knowledge knowledge_;
  LaneOrder lanes_;
  /// What strong reads have observed and no fence has acquired yet, and what fences have released.
  ClusterClocks observed_in_device_, observed_in_block_, fenced_for_device_, fenced_for_block_;
};

}  // namespace deplo::measure::ptx
