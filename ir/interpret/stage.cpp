// Stages of Tile IR, and what waits for those that are not complete at once.
#include <algorithm>

#include "core/error.h"
#include "ir/interpret/machine.h"

namespace deplo::ir::exec {

// A barrier follows a copy; the others are under way until an AsyncWait.
void Machine::stage(const Instruction& at, StageCode& c, Mask mask) {
  const bool deferred = c.transport != Transport::copy;
  converge(at, mask);
  if (c.behind_barrier) barrier(at, mask);
  const std::int64_t slot = scalar(c.slot);
  Shared& to = shared[static_cast<std::size_t>(c.shared)];
  const std::int64_t slots = static_cast<std::int64_t>(to.cells.size()) / c.count;
  if (slot < 0 || slot >= slots)
    throw Error("index out of range: slot " + std::to_string(slot) + " of " + to.name + ", which has " +
                std::to_string(slots) + ", at `" + text_of(*at.source) + "`");
  fill(at, c, slot * c.count);
  if (!deferred) return barrier(at, mask);
  const Flight flight{c.shared, slot * c.count, c.count, Cell::several, 0};
  if (c.transport == Transport::tma) {
    Barrier::Slot& phase = barriers[static_cast<std::size_t>(c.barrier)].slots[static_cast<std::size_t>(slot)];
    phase.arrivals = 1;
    phase.flights.push_back(flight);
    return;
  }
  if (c.opens_group) ++groups_[0];
  flights_.push_back(flight);
  flights_.back().group = groups_[0];
}

// What is outside the source is 0.
void Machine::fill(const Instruction& at, const StageCode& c, std::int64_t first) {
  Shared& to = shared[static_cast<std::size_t>(c.shared)];
  const Global& from = globals[static_cast<std::size_t>(c.source)];
  const bool deferred = c.transport != Transport::copy;
  std::vector<std::int64_t> origin, position(c.slab.size(), 0);
  for (const Index& index : c.origin) origin.push_back(scalar(index));
  std::vector<std::int64_t> at_source;
  for (std::int64_t n = first; n < first + c.count; ++n) {
    std::int64_t offset = 0;
    bool inside = true;
    at_source = origin;
    for (std::size_t i = 0; i < position.size(); ++i) at_source[static_cast<std::size_t>(c.slab[i].dim)] += position[i];
    for (std::size_t d = 0; d < origin.size(); ++d) {
      inside = inside && at_source[d] >= 0 && at_source[d] < from.shape[d];
      if (inside) offset += at_source[d] * from.strides[d];
    }
    Cell& cell = to.cells[static_cast<std::size_t>(n)];
    check_refill(at, to, cell);
    cell = Cell{.value = inside ? from.data[static_cast<std::size_t>(offset)] : 0, .writer = Cell::several};
    if (deferred) cell.write_epoch = Cell::in_flight;
    for (std::size_t i = position.size(); i-- > 0;) {
      if (++position[i] < c.slab[i].extent) break;
      position[i] = 0;
    }
  }
}

// Any thread of the block may be the one that copies the element.
void Machine::check_refill(const Instruction& at, const Shared& s, const Cell& cell) const {
  const std::string where = " of " + s.name + " in block " + std::to_string(block_) + " at `";
  if (cell.write_epoch == Cell::in_flight)
    throw Error("overwrite of an asynchronous copy that was not waited for: an element" + where + text_of(*at.source) +
                "`");
  if (cell.reader != Cell::nobody && cell.read_epoch == epoch_)
    throw Error("race: a slot that is read with no barrier between is filled: an element" + where +
                text_of(*at.source) + "`");
}

void Machine::wait(const Instruction& at, const AsyncWaitCode& c, Mask mask) {
  converge(at, mask);
  const std::int64_t last = groups_[0] - c.keep;
  std::erase_if(flights_, [&](const Flight& flight) {
    if (flight.group <= last) land(flight, Cell::several);
    return flight.group <= last;
  });
  if (!barriers.empty()) wait_slot(at, scalar(c.slot), scalar(c.phase));
  ++epoch_;
}

// The stages that filled the slot: one whose phase is another one is read too early or never.
void Machine::wait_slot(const Instruction& at, std::int64_t slot, std::int64_t phase) {
  bool filled = false;
  for (Barrier& b : barriers) {
    if (slot < 0 || slot >= static_cast<std::int64_t>(b.slots.size())) continue;
    Barrier::Slot& s = b.slots[static_cast<std::size_t>(slot)];
    if (s.phase % 2 == phase && s.arrivals > 0) {
      for (const Flight& flight : s.flights) land(flight, Cell::several);
      s = {0, 0, 0, s.phase + 1, {}};
    } else if (s.arrivals > 0) {
      throw Error("wrong phase: slot " + std::to_string(slot) + " of " + b.name + " is under way in phase " +
                  std::to_string(s.phase % 2) + ", in block " + std::to_string(block_) + " at `" + text_of(*at.source) +
                  "`");
    }
    filled = filled || s.phase % 2 != phase;
  }
  if (!filled)
    throw Error("would hang: nothing fills slot " + std::to_string(slot) + " in phase " + std::to_string(phase) +
                ", in block " + std::to_string(block_) + " at `" + text_of(*at.source) + "`");
}

}  // namespace deplo::ir::exec
