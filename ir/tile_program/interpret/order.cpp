#include "ir/tile_program/interpret/order.h"

#include <algorithm>

namespace deplo::ir::tile_program::exec {

PastPtr join(const PastPtr& a, const PastPtr& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  auto all = std::make_shared<Past>();
  all->reserve(a->size() + b->size());
  auto x = a->begin(), y = b->begin();
  while (x != a->end() || y != b->end()) {
    if (y == b->end() || (x != a->end() && x->first < y->first))
      all->push_back(*x++);
    else if (x == a->end() || y->first < x->first)
      all->push_back(*y++);
    else {
      all->emplace_back(x->first, std::max(x->second, y->second));
      ++x;
      ++y;
    }
  }
  return all;
}

bool knows(const PastPtr& past, std::uint32_t chain, std::uint32_t event) {
  if (past == nullptr) return false;
  const auto at =
      std::lower_bound(past->begin(), past->end(), chain, [](const auto& p, std::uint32_t c) { return p.first < c; });
  return at != past->end() && at->first == chain && at->second >= event;
}

EventId Events::add(Event event, const PastPtr& past) {
  event.chain = static_cast<std::uint32_t>(chains_.size());
  if (past != nullptr)
    for (const auto& [chain, events] : *past)
      if (chains_[chain] == events) {  // the past includes the chain's last event, so extend this chain
        event.chain = chain;
        break;
      }
  if (event.chain == chains_.size()) chains_.push_back(0);
  event.index = ++chains_[event.chain];
  all_.push_back(event);
  return static_cast<EventId>(all_.size() - 1);
}

PastPtr Events::after(EventId id, const PastPtr& past) const {
  return join(past, std::make_shared<Past>(Past{{all_[id].chain, all_[id].index}}));
}

bool Events::conflict(EventId before, EventId now, const PastPtr& past) const {
  const Event &a = all_[before], &b = all_[now];
  if (knows(past, a.chain, a.index)) return false;
  const bool reach = a.block == b.block || (a.scope != Scope::tl_blk && b.scope != Scope::tl_blk);
  return !(a.is_strong && b.is_strong && reach);
}

}  // namespace deplo::ir::tile_program::exec
