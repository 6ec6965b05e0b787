#include "measure/ptx/races/global_order.h"

#include <algorithm>
#include <utility>

namespace deplo::measure::ptx {

GlobalOrder::GlobalOrder(std::size_t granule, std::int64_t cluster_blocks, Tracked tracked)
    : granule_(granule), cluster_blocks_(cluster_blocks), tracked_(std::move(tracked)) {}

GlobalOrder::Allocation& GlobalOrder::allocation(std::uint64_t number) {
  for (std::uint64_t next = allocations_.size(); next <= number; ++next)
    allocations_.emplace_back().tracked = tracked_.contains(next);
  return allocations_[number];
}

GlobalOrder::Cell GlobalOrder::cell(const GlobalAccess& access) {
  const Access& a = access.made;
  return {.block = static_cast<std::uint32_t>(access.block),
          .actor = a.actor,
          .epoch = a.epoch,
          .at = a.at,
          .is_strong = access.order.strong,
          .is_async = a.is_async,
          .scope = static_cast<std::uint32_t>(access.order.scope)};
}

bool GlobalOrder::includes(Scope scope, std::int64_t block, std::int64_t other) const {
  if (scope == Scope::device) return true;
  return scope == Scope::block ? block == other : block / cluster_blocks_ == other / cluster_blocks_;
}

const ProxyClocks* GlobalOrder::known_of(const Cell& last, const GlobalAccess& access) const {
  const Knowledge& known = *access.made.before;
  const std::int64_t cluster = last.block / cluster_blocks_;
  return cluster == access.block / cluster_blocks_ ? &known : known.others.find(cluster);
}

std::optional<GlobalConflict> GlobalOrder::conflict(const Cell& last, const GlobalAccess& access,
                                                    bool was_write) const {
  using enum GlobalConflict::Why;
  if (last.epoch == 0) return std::nullopt;
  GlobalConflict conflict{last.block, last.actor, last.at, was_write, unordered};
  if (last.is_strong != 0 && access.order.strong) {
    const bool is_mutual = includes(static_cast<Scope>(last.scope), last.block, access.block) &&
                           includes(access.order.scope, access.block, last.block);
    if (is_mutual) return std::nullopt;
    conflict.why = narrow_scope;
  }
  const ProxyClocks* const clocks = known_of(last, access);
  if (clocks == nullptr || clocks->seen.seen(last.actor) < last.epoch) return conflict;
  if (was_write && access.made.is_async && last.is_async == 0 && clocks->global_proxy.seen(last.actor) < last.epoch) {
    conflict.why = needs_proxy_fence;
    return conflict;
  }
  return std::nullopt;
}

// Only two readers per granule are remembered. If readers are in two clusters, one reader per cluster is kept, because
// a later writer belongs to at most one of the clusters.
void GlobalOrder::remember_read(Allocation& to, std::size_t granule, const GlobalAccess& access) {
  const Cell now = cell(access);
  Cell* const first = to.reads.data() + granule * readers;
  Cell* const last = first + readers;
  const auto is_over = [&](const Cell& c) {
    const ProxyClocks* const clocks = known_of(c, access);
    return c.epoch == 0 || (clocks != nullptr && clocks->seen.seen(c.actor) >= c.epoch);
  };
  Cell* place = std::find_if(first, last, is_over);
  const auto has_own = [&](const Cell& c) { return c.block / cluster_blocks_ == now.block / cluster_blocks_; };
  if (place == last) place = std::find_if(first, last, has_own);
  if (place == last) place = first;
  *place = now;
}

std::optional<GlobalConflict> GlobalOrder::read(std::uint64_t address, std::uint64_t size, const GlobalAccess& access) {
  Allocation& from = allocation(allocation_of(address));
  from.was_read = true;
  if (from.weak.empty() && from.strong.empty() && !from.tracked) return std::nullopt;
  const std::uint64_t at = address - global_address(allocation_of(address));
  const std::size_t end = (at + size + granule_ - 1) / granule_;
  if (from.reads.size() < end * readers) from.reads.resize(end * readers);
  for (std::size_t g = at / granule_; g < end; ++g) {
    for (const std::vector<Cell>* writes : {&from.weak, &from.strong}) {
      if (g >= writes->size()) continue;
      if (auto found = conflict((*writes)[g], access, true)) return found;
      if (access.order.non_coherent && (*writes)[g].epoch != 0) {
        const Cell& last = (*writes)[g];
        return GlobalConflict{last.block, last.actor, last.at, true, GlobalConflict::Why::non_coherent};
      }
    }
    remember_read(from, g, access);
  }
  return std::nullopt;
}

std::optional<GlobalConflict> GlobalOrder::write(std::uint64_t address, std::uint64_t size, const GlobalAccess& access,
                                                 bool changes) {
  const std::uint64_t number = allocation_of(address);
  Allocation& to = allocation(number);
  if (to.was_read && !to.tracked && to.weak.empty() && to.strong.empty()) written_after_reads_.insert(number);
  const std::uint64_t at = address - global_address(number);
  const std::size_t end = (at + size + granule_ - 1) / granule_;
  std::vector<Cell>& own = access.order.strong ? to.strong : to.weak;
  if (own.size() < end) own.resize(end);
  for (std::size_t g = at / granule_; g < end; ++g) {
    bool is_known = false;  // unordered writes by others left the same bytes
    for (const std::vector<Cell>* writes : {&to.weak, &to.strong}) {
      if (g >= writes->size()) continue;
      const auto found = conflict((*writes)[g], access, true);
      if (found && changes) return found;
      is_known |= found.has_value();
    }
    for (std::size_t r = g * readers; r < std::min((g + 1) * readers, to.reads.size()); ++r) {
      if (auto found = conflict(to.reads[r], access, false)) return found;
      to.reads[r] = {};
    }
    if (!is_known) own[g] = cell(access);
  }
  return std::nullopt;
}

const GlobalOrder::Released* GlobalOrder::find(std::uint64_t address) const {
  if (released_.empty()) return nullptr;
  const auto found = released_.find(address);
  return found == released_.end() ? nullptr : &found->second;
}

void GlobalOrder::release(std::uint64_t address, const Released& released, bool updates) {
  const bool is_empty = released.to_device.empty() && released.to_block.empty();
  if (is_empty && released_.empty()) return;
  const auto found = released_.find(address);
  if (found == released_.end()) {
    if (!is_empty) released_.emplace(address, released);
    return;
  }
  Released& now = found->second;
  // Later strong writes of the same thread to the address also release what the thread has released there before.
  const bool continues = updates || (now.block == released.block && now.writer == released.writer);
  if (!continues) now = {};
  if (now.block != released.block) now.to_block = {};
  now.to_device.join(released.to_device);
  now.to_block.join(released.to_block);
  now.block = released.block, now.writer = released.writer;
}

void GlobalOrder::forget(std::uint64_t address) {
  if (!released_.empty()) released_.erase(address);
}

}  // namespace deplo::measure::ptx
