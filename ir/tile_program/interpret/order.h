// Which accesses to memory have happened before which (specification, "Memory Model"). Private to the room.
//
// Events that are ordered make chains; what is known of the past is, of each chain, how many of its events: a vector clock
// (Lamport 1978, Mattern 1989) over chains in place of threads, because a block's own accesses are ordered by tokens and
// data alone, not by the order in which they stand.
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

/// A memory operation that was executed.
struct Event {
  const Operation* operation = nullptr;
  std::int64_t block = 0;
  std::uint32_t chain = 0, index = 0;
  bool is_strong = false;  // atomic, or of another ordering than weak
  Scope scope = Scope::tl_blk;
};
using EventId = std::uint32_t;  // 0: none

class Events {
 public:
  Events() : all_(1) {}
  /// Of an operation that comes behind `past`; appended to a chain of its past where it can be.
  EventId add(Event event, const PastPtr& past);
  const Event& operator[](EventId id) const { return all_[id]; }
  /// The past with the event itself.
  PastPtr after(EventId id, const PastPtr& past) const;
  /// Whether both may touch one place at once: neither knows the other, and they are not both atomic in reach.
  bool conflict(EventId before, EventId now, const PastPtr& past) const;

 private:
  std::vector<Event> all_;
  std::vector<std::uint32_t> chains_;  // events in each
};

}  // namespace deplo::ir::tile_program::exec
