// The happens-before order of memory accesses (specification, "Memory Model"). Private to the room.
//
// Ordered events form chains. A past is, for each chain, the number of its events that have happened before: a vector
// clock (Lamport 1978, Mattern 1989) over chains instead of threads, because a block's own accesses are ordered only by
// tokens and data, not by their order in the program.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/tile_program/program.h"

namespace deplo::ir::tile_program::exec {

using Past = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // (chain, events), by chain
using PastPtr = std::shared_ptr<const Past>;                        // nullptr: nothing

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
using EventId = std::uint32_t;  // 0: none

class Events {
 public:
  Events() : all_(1) {}
  /// Adds an event that happens after `past`. Extends a chain of its past if possible, else starts a new chain.
  EventId add(Event event, const PastPtr& past);
  const Event& operator[](EventId id) const { return all_[id]; }
  /// The past plus the event itself.
  PastPtr after(EventId id, const PastPtr& past) const;
  /// Whether accesses of both to one place race: `before` is not in the past of `now`, and they are not both strong
  /// with scopes that include each other.
  bool conflict(EventId before, EventId now, const PastPtr& past) const;

 private:
  std::vector<Event> all_;
  std::vector<std::uint32_t> chains_;  // number of events in each
};

}  // namespace deplo::ir::tile_program::exec
