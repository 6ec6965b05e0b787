#include "measure/ptx/warp/lane_groups.h"

#include <algorithm>

namespace deplo::measure::ptx {

void LaneGroups::wake() {
  for (Group& group : all_) group.waiting = false;
}

// Usually picks the group that is furthest behind, so that the lanes come together again. Sometimes picks another
// group, because threads may progress independently of each other.
std::size_t LaneGroups::pick(Rng& rng) const {
  const auto goes = [](const Group& g) { return !g.waiting; };
  std::size_t best = all_.size(), seen = 0;
  const bool any = all_.size() > 1 && rng.below(8) == 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!goes(all_[i])) continue;
    ++seen;
    if (best == all_.size() || (any ? rng.below(seen) == 0 : all_[i].at < all_[best].at)) best = i;
  }
  return best;
}

void LaneGroups::join(std::size_t current) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (i == current || all_[i].at != all_[current].at) continue;
    all_[current].lanes |= all_[i].lanes;
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
    return;  // no other two groups are at the same instruction
  }
}

void LaneGroups::add(const Group& group) {
  const auto there = std::ranges::find(all_, group.at, &Group::at);
  if (there == all_.end()) {
    all_.push_back(group);
    return;
  }
  there->lanes |= group.lanes;
  there->waiting = false;
}

void LaneGroups::split(std::size_t current, Lanes active) {
  Group others{all_[current].at + 1, all_[current].lanes & ~active, false};
  all_[current].lanes = active;
  add(others);
}

void LaneGroups::branch(std::size_t current, std::uint32_t target, Lanes active) {
  Group& group = all_[current];
  if (active == group.lanes) {
    group.at = target;
    return;
  }
  const Group taken{target, active, false};
  group.lanes &= ~active;
  ++group.at;
  add(taken);
}

void LaneGroups::end(std::size_t current, Lanes lanes) {
  all_[current].lanes &= ~lanes;
  ++all_[current].at;
  if (all_[current].lanes == 0)
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(current));
  else
    merge(current);
}

}  // namespace deplo::measure::ptx
