#include "measure/ptx/warp/warp_order.h"

namespace deplo::measure::ptx {

ClusterClocks WarpOrder::known() const {
  ClusterClocks all = knowledge_.others;
  all.join(cluster_, knowledge_);
  return all;
}

void WarpOrder::acquire(const ClusterClocks& released) {
  lanes_.meet(all_lanes);
  knowledge_.others.join(released);
  if (const ProxyClocks* const own = released.find(cluster_)) knowledge_.ProxyClocks::join(*own);
}

// An acquire pattern (PTX ISA, "Release and Acquire Patterns") is a strong read that acquires, or a strong read
// followed by a fence.
void WarpOrder::observe(const GlobalOrder& global, std::uint64_t address, const MemoryOrder& order) {
  const GlobalOrder::Released* const released = global.find(address);
  if (!order.strong || released == nullptr) return;
  if (order.scope != Scope::block) {
    if (order.acquires) acquire(released->to_device);
    observed_in_device_.join(released->to_device);
  }
  if (released->block == block_) {
    if (order.acquires) acquire(released->to_block);
    observed_in_block_.join(released->to_block);
  }
}

void WarpOrder::release(GlobalOrder& order, std::uint64_t address, const MemoryOrder& how, bool updates) {
  if (!how.strong) return order.forget(address);
  GlobalOrder::Released released{fenced_for_device_, fenced_for_block_, block_, actor_};
  if (how.releases) {
    released.to_block.join(known());
    released.to_device.join(known());
    begin_epoch();
  }
  if (how.scope == Scope::block) released.to_device = {};
  order.release(address, released, updates);
}

void WarpOrder::fence(Scope scope) {
  acquire(observed_in_block_);
  if (scope != Scope::block) acquire(observed_in_device_);
  fenced_for_block_ = known();
  if (scope != Scope::block) fenced_for_device_ = fenced_for_block_;
  begin_epoch();
}

Knowledge WarpOrder::fenced() const {
  Knowledge known;
  known.others = fenced_for_block_;
  if (const ProxyClocks* const own = fenced_for_block_.find(cluster_)) known.ProxyClocks::join(*own);
  return known;
}

void WarpOrder::observe(const Knowledge& released) {
  observed_in_block_.join(released.others);
  observed_in_block_.join(cluster_, released);
}

void WarpOrder::show_to_proxy(FencedMemory memory) {
  knowledge_.show_to_proxy(memory);
  begin_epoch();
}

}  // namespace deplo::measure::ptx
