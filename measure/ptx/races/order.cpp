#include "measure/ptx/races/order.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace deplo::measure::ptx {

void Clock::join(const Clock& other) {
  if (epochs_.size() < other.epochs_.size()) epochs_.resize(other.epochs_.size());
  for (std::size_t i = 0; i < other.epochs_.size(); ++i) epochs_[i] = std::max(epochs_[i], other.epochs_[i]);
}

bool Clock::covers(const Clock& other) const {
  for (std::size_t i = 0; i < other.epochs_.size(); ++i)
    if (other.epochs_[i] > seen(static_cast<Actor>(i))) return false;
  return true;
}

const ProxyClocks* ClusterClocks::find(std::int64_t cluster) const {
  if (known_ == nullptr) return nullptr;
  const auto found = known_->find(cluster);
  return found == known_->end() ? nullptr : &found->second;
}

void ClusterClocks::join(const ClusterClocks& other) {
  if (other.known_ == nullptr || other.known_ == known_) return;
  const auto covers = [](const ClusterClocks& all, const ClusterClocks& part) {
    return std::ranges::all_of(*part.known_, [&](const Map::value_type& one) {
      const ProxyClocks* const known = all.find(one.first);
      return known != nullptr && known->covers(one.second);
    });
  };
  if (known_ != nullptr && covers(*this, other)) return;
  if (known_ == nullptr || covers(other, *this)) {
    known_ = other.known_;
    return;
  }
  Map all = *known_;
  for (const auto& [cluster, clocks] : *other.known_) all[cluster].join(clocks);
  known_ = std::make_shared<const Map>(std::move(all));
}

void ClusterClocks::join(std::int64_t cluster, const ProxyClocks& clocks) {
  Map all = known_ == nullptr ? Map() : *known_;
  all[cluster].join(clocks);
  known_ = std::make_shared<const Map>(std::move(all));
}

void ClusterClocks::show_to_proxy(FencedMemory memory) {
  if (known_ == nullptr) return;
  Map all = *known_;
  for (auto& [cluster, clocks] : all) clocks.show_to_proxy(memory);
  known_ = std::make_shared<const Map>(std::move(all));
}

void LaneOrder::meet(LaneSet lanes) {
  constexpr LaneSet all = ~LaneSet{0};
  if (lanes == all) {
    common_ = (parted_ == nullptr ? common_ : std::ranges::max(parted_->epochs)) + 1;
    parted_.reset();
    return;
  }
  if (parted_ == nullptr) {
    parted_ = std::make_shared<Parted>();
    parted_->epochs.fill(common_);
    for (auto& row : parted_->seen) row.fill(common_);
  }
  std::array<Epoch, lanes_> known{};
  for (std::size_t lane = 0; lane < lanes_; ++lane)
    if ((lanes >> lane & 1) != 0) {
      for (std::size_t other = 0; other < lanes_; ++other)
        known[other] = std::max(known[other], parted_->seen[lane][other]);
      known[lane] = std::max(known[lane], ++parted_->epochs[lane]);
    }
  for (std::size_t lane = 0; lane < lanes_; ++lane)
    if ((lanes >> lane & 1) != 0) parted_->seen[lane] = known;
}

void LaneOrder::wait_for_copies(std::size_t lane, Epoch group) {
  if (waited_[lane].size() < group) waited_[lane].resize(group, epoch(lane));
}

Shadow::Shadow(std::size_t bytes, std::size_t granule, std::size_t warps, Actor first_warp, Actor first_copy,
               Actor first_product)
    : granule_(granule),
      warps_(warps),
      first_warp_(first_warp),
      first_copy_(first_copy),
      first_product_(first_product),
      writes_((bytes + granule - 1) / granule),
      reads_(writes_.size() * 2 * warps) {}

// Lanes that write the same place in the same instruction are not a race: one of them wins (CUDA C++ Programming Guide,
// "SIMT Architecture").
inline bool Shadow::is_of_another_lane(const Write& last, const Access& access) {
  return last.actor == access.actor && last.lane_epoch > 0 && access.lanes != nullptr && last.at != access.at &&
         !access.lanes->covers(access.lane, last.lane, last.lane_epoch);
}

// A lane sees its own copies after its wait, and those of other lanes after a barrier that follows their wait.
inline bool Shadow::is_copy_of_another_lane(const Write& last, const Access& access) const {
  return access.lanes != nullptr && last.actor == copies_of(access.actor) &&
         !access.lanes->covers_copies(access.lane, last.lane, last.epoch);
}

inline void Shadow::note(Read& read, const Access& access) {
  const LaneSet lane = access.lanes == nullptr ? 0 : LaneSet{1} << access.lane;
  const Epoch epoch = access.lanes == nullptr ? 0 : access.lanes->epoch(access.lane);
  read = {access.epoch, access.at, epoch == read.lane_epoch ? read.lanes | lane : lane, epoch};
}

std::optional<int> Shadow::unordered_lane(const Read& read, const Access& access) {
  if (access.lanes == nullptr || read.at == access.at) return std::nullopt;
  for (LaneSet rest = read.lanes; rest != 0; rest &= rest - 1)
    if (const int lane = std::countr_zero(rest);
        !access.lanes->covers(access.lane, static_cast<std::size_t>(lane), read.lane_epoch))
      return lane;
  return std::nullopt;
}

inline bool Shadow::is_ordered(const Write& last, const Access& access) const {
  if (last.epoch == 0 || (last.is_atomic && access.is_atomic)) return true;
  if (is_of_another_lane(last, access) || is_copy_of_another_lane(last, access)) return false;
  if (access.before->seen.seen(last.actor) < last.epoch) return false;
  return !access.is_async || last.is_async || access.before->shared_proxy.seen(last.actor) >= last.epoch;
}

Conflict Shadow::conflict(const Write& last, const Access& access) const {
  const bool is_over = access.before->seen.seen(last.actor) >= last.epoch;
  if (is_of_another_lane(last, access) || (is_over && is_copy_of_another_lane(last, access)))
    return {last.actor, last.at, true, false, last.lane};
  return {last.actor, last.at, true, is_over};
}

Shadow::Read* Shadow::own_read(std::size_t granule, Actor actor) {
  Read* const first = reads_.data() + granule * 2 * warps_;
  if (actor - first_warp_ < warps_) return first + (actor - first_warp_);
  if (actor - first_product_ < warps_) return first + warps_ + (actor - first_product_);
  return nullptr;
}

Actor Shadow::actor_of(std::size_t slot) const {
  return static_cast<Actor>(slot < warps_ ? first_warp_ + slot : first_product_ + slot - warps_);
}

Shadow::Write Shadow::write_of(const Access& access) {
  return {access.epoch,
          access.actor,
          access.at,
          access.is_async,
          access.is_atomic,
          access.lane,
          access.lanes == nullptr ? 0 : access.lanes->epoch(access.lane)};
}

std::optional<Conflict> Shadow::read(std::size_t at, std::size_t size, const Access& access) {
  for (std::size_t g = at / granule_; g * granule_ < at + size; ++g) {
    if (!is_ordered(writes_[g], access)) {
      const auto same = same_.find(g);
      const auto is_before = [&](const Write& write) { return is_ordered(write, access); };
      if (same == same_.end() || std::ranges::none_of(same->second, is_before)) return conflict(writes_[g], access);
    }
    if (Read* const own = own_read(g, access.actor)) {
      note(*own, access);
      continue;
    }
    std::vector<ActorRead>& others = others_[g];
    const auto known = std::ranges::find(others, access.actor, &ActorRead::actor);
    if (known == others.end())
      others.push_back({access.actor, {access.epoch, access.at, 0, 0}});
    else
      known->read = {access.epoch, access.at, 0, 0};
  }
  return std::nullopt;
}

std::optional<Conflict> Shadow::conflict_of_write(std::size_t g, const Access& access) const {
  // A copy by the asynchronous proxy may overtake earlier reads by the generic proxy (PTX ISA, "Proxies").
  const auto needs_fence = [&](Actor actor, const Read& read) {
    const bool is_product = actor >= first_product_ && actor - first_product_ < warps_;
    return access.is_async && !is_product && access.before->shared_proxy.seen(actor) < read.epoch;
  };
  const auto unordered = [&](Actor actor, const Read& read) {
    return read.epoch != 0 && (access.before->seen.seen(actor) < read.epoch || needs_fence(actor, read));
  };
  const auto conflict_with = [&](Actor actor, const Read& read) {
    return Conflict{actor, read.at, false, access.before->seen.seen(actor) >= read.epoch};
  };
  if (!is_ordered(writes_[g], access)) return conflict(writes_[g], access);
  if (const auto same = same_.find(g); same != same_.end())
    for (const Write& write : same->second)
      if (!is_ordered(write, access)) return conflict(write, access);
  const Read* const reads = reads_.data() + g * 2 * warps_;
  for (std::size_t slot = 0; slot < 2 * warps_; ++slot) {
    if (unordered(actor_of(slot), reads[slot])) return conflict_with(actor_of(slot), reads[slot]);
    // A copy may overtake what other lanes of its warp read before it.
    if (const Actor actor = actor_of(slot); access.actor == actor || access.actor == copies_of(actor))
      if (const auto lane = unordered_lane(reads[slot], access))
        return Conflict{actor, reads[slot].at, false, false, lane};
  }
  if (const auto others = others_.find(g); others != others_.end())
    for (const ActorRead& other : others->second)
      if (unordered(other.actor, other.read)) return conflict_with(other.actor, other.read);
  return std::nullopt;
}

std::optional<Conflict> Shadow::write(std::size_t at, std::size_t size, const Access& access, bool changes) {
  for (std::size_t g = at / granule_; g * granule_ < at + size; ++g) {
    if (auto found = conflict_of_write(g, access)) {
      if (changes) return found;
      std::vector<Write>& same = same_[g];
      const auto known = std::ranges::find_if(
          same, [&](const Write& write) { return write.actor == access.actor && write.lane == access.lane; });
      if (known == same.end())
        same.push_back(write_of(access));
      else
        *known = write_of(access);
      continue;
    }
    std::fill_n(reads_.begin() + static_cast<std::ptrdiff_t>(g * 2 * warps_), 2 * warps_, Read{});
    if (!others_.empty()) others_.erase(g);
    if (!same_.empty()) same_.erase(g);
    writes_[g] = write_of(access);
  }
  return std::nullopt;
}

}  // namespace deplo::measure::ptx
