// The happens-before order of memory accesses (specification, "Memory Model"). Private to this folder.
//
// Events that are ordered form chains. For each chain, a past has the number of the chain's events that have happened
// before. It is a vector clock (Lamport 1978, Mattern 1989) over chains instead of threads, because the accesses of a
// block are ordered only by tokens and data, not by program order.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/tile_program/program.h"

namespace deplo::ir::tile_program::exec {

using Past = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // pairs (chain, number of events), sorted by chain
using PastPtr = std::shared_ptr<const Past>;                        // nullptr: an empty past

PastPtr join(const PastPtr&, const PastPtr&);
bool knows(const PastPtr&, std::uint32_t chain, std::uint32_t event);

/// An executed memory operation.
struct Event {
  const Operation* operation = nullptr;
  std::int64_t block = 0;
  std::uint32_t chain = 0, index = 0;
  bool is_strong = false;  // has an ordering other than weak, as all atomic operations do
  Scope scope = Scope::tl_blk;
};
using EventId = std::uint32_t;  // 0: no event

class Events {
 public:
  Events() : all_(1) {}
  /// Adds an event that happens after `past`. Extends a chain in its past if possible, else starts a new chain.
  EventId add(Event event, const PastPtr& past);
  const Event& operator[](EventId id) const { return all_[id]; }
  /// Returns the past, extended by the event itself.
  PastPtr after(EventId id, const PastPtr& past) const;
  /// True if accesses of both events to one place race: `before` is not in the past of `now`, and they are not both
  /// strong with scopes that include each other.
  bool conflict(EventId before, EventId now, const PastPtr& past) const;

 private:
  std::vector<Event> all_;
  std::vector<std::uint32_t> chains_;  // number of events in each chain
};

}  // namespace deplo::ir::tile_program::exec
