#include "ir/interpret/block/async_copies.h"

#include <algorithm>

#include "core/error.h"

namespace deplo::ir::exec {

void AsyncCopies::start_block() {
  for (Barrier& b : barriers) {
    std::fill(b.slots.begin(), b.slots.end(), Barrier::Slot{});
    b.epoch = Barrier::never;
  }
  flights.clear();
  groups.assign(static_cast<std::size_t>(lanes_.threads), 0);
}

void AsyncCopies::check_completed() const {
  for (const Barrier& b : barriers)
    for (const Barrier::Slot& s : b.slots)
      if (s.arrivals > 0 || s.expected != s.delivered || !s.flights.empty())
        throw Error("phase " + std::to_string(s.phase) + " of " + b.name + "[" + std::to_string(&s - b.slots.data()) +
                    "] is not complete at the end of block " + std::to_string(lanes_.block) + ", at `" +
                    text_of(*b.source) + "`");
      else if (s.afar > s.waited)
        throw Error("block " + std::to_string(lanes_.block) + " may end before another one arrives at its " + b.name +
                    "[" + std::to_string(&s - b.slots.data()) + "]: it does not wait for phase " +
                    std::to_string(s.afar));
}

void AsyncCopies::start(int buffer, std::int64_t first, std::int64_t count, int thread) {
  flights.push_back({buffer, first, count, thread, groups[static_cast<std::size_t>(thread)]});
}

void AsyncCopies::commit(Mask mask) {
  for (std::size_t t = 0; t < groups.size(); ++t) groups[t] += mask == nullptr || mask[t] != 0 ? 1 : 0;
}

void AsyncCopies::wait_groups(std::int64_t keep, Mask mask) {
  std::erase_if(flights, [&](const Flight& flight) {
    const auto t = static_cast<std::size_t>(flight.thread);
    const bool landed = (mask == nullptr || mask[t] != 0) && flight.group < groups[t] - keep;
    if (landed) land(flight, flight.thread);
    return landed;
  });
}

void AsyncCopies::init(int barrier) {
  Barrier& b = barriers[static_cast<std::size_t>(barrier)];
  std::fill(b.slots.begin(), b.slots.end(), Barrier::Slot{});
  b.epoch = shared_.epoch;
}

Barrier::Slot& AsyncCopies::slot(int barrier, std::int64_t slot, int lane, int rank) {
  Barrier& b = barriers[static_cast<std::size_t>(barrier)];
  if (slot < 0 || slot >= std::ssize(b.slots))
    lanes_.fail("index out of range: " + std::to_string(slot) + " of " + b.name + ", which has " +
                    std::to_string(std::ssize(b.slots)),
                lane);
  if (rank != lanes_.rank) {
    if (b.epoch >= shared_.cluster_epoch)
      lanes_.fail(
          "race: the barrier " + b.name + " is used by another block with no ClusterSync after its initialisation",
          lane);
  } else if (b.epoch == shared_.epoch && lanes_.thread(lane) != 0) {
    lanes_.fail("race: the barrier " + b.name + " is used with no Sync after its initialisation", lane);
  }
  return b.slots[static_cast<std::size_t>(slot)];
}

void AsyncCopies::arrive(int barrier, std::int64_t slot, std::int64_t bytes, int lane, const Arrival& arrival) {
  Barrier::Slot& s = this->slot(barrier, slot, lane, arrival.rank);
  const Barrier& b = barriers[static_cast<std::size_t>(barrier)];
  if (++s.arrivals > b.count)
    lanes_.fail("one arrival too many: phase " + std::to_string(s.phase) + " of " + b.name + " counts " +
                    std::to_string(b.count),
                lane);
  s.expected += bytes;
  if (arrival.rank != lanes_.rank) s.afar = s.phase;
  s.arriving[arrival.rank] = arrival.clock;
  if (s.arrivals == b.count && s.expected == 0 && s.delivered == 0) complete(s, Cell::several);
}

bool AsyncCopies::completes(int barrier, std::int64_t slot, std::int64_t parity) const {
  const Barrier& b = barriers[static_cast<std::size_t>(barrier)];
  if (slot < 0 || slot >= std::ssize(b.slots)) return true;  // the wait itself reports the error
  const Barrier::Slot& s = b.slots[static_cast<std::size_t>(slot)];
  return s.phase % 2 != parity || (s.arrivals == b.count && s.expected == s.delivered);
}

void AsyncCopies::wait(int barrier, std::int64_t slot, std::int64_t parity, int lane, int writer) {
  Barrier::Slot& s = this->slot(barrier, slot, lane, lanes_.rank);
  if (s.phase % 2 != parity) {  // the phase is already complete
    s.waited = s.phase - 1;
    if (!shared_.producing) return;
    for (const auto& [rank, clock] : s.complete) shared_.seen[rank] = std::max(shared_.seen[rank], clock);
    return;
  }
  const Barrier& b = barriers[static_cast<std::size_t>(barrier)];
  if (s.arrivals != b.count || s.expected != s.delivered)
    lanes_.fail("would hang: phase " + std::to_string(s.phase) + " of " + b.name + " never completes with " +
                    std::to_string(s.arrivals) + " of " + std::to_string(b.count) + " arrivals, " +
                    std::to_string(s.expected) + " bytes expected and " + std::to_string(s.delivered) + " copied",
                lane);
  complete(s, writer);
  s.waited = s.phase - 1;
}

void AsyncCopies::complete(Barrier::Slot& s, int writer) {
  for (const Flight& flight : s.flights) land(flight, writer);
  s = {0, 0, 0, s.phase + 1, s.afar, s.waited, {}, {}, std::move(s.arriving)};
}

void AsyncCopies::start_stage(int buffer, std::int64_t first, std::int64_t count, bool opens_group) {
  if (opens_group) ++groups[0];
  flights.push_back({buffer, first, count, Cell::several, groups[0]});
}

void AsyncCopies::start_stage(int buffer, std::int64_t first, std::int64_t count, int barrier, std::int64_t slot) {
  Barrier::Slot& s = barriers[static_cast<std::size_t>(barrier)].slots[static_cast<std::size_t>(slot)];
  s.arrivals = 1;
  s.flights.push_back({buffer, first, count, Cell::several});
}

void AsyncCopies::wait_stages(std::int64_t keep) {
  const std::int64_t last = groups[0] - keep;
  std::erase_if(flights, [&](const Flight& flight) {
    if (flight.group <= last) land(flight, Cell::several);
    return flight.group <= last;
  });
}

// Completes the stages that fill the slot. Throws Error if a stage fills it in the other phase, or if none fills it.
void AsyncCopies::wait_stages(std::int64_t slot, std::int64_t phase) {
  const auto where = [&] { return ", in block " + std::to_string(lanes_.block) + " at `" + lanes_.text() + "`"; };
  bool filled = false;
  for (Barrier& b : barriers) {
    if (slot < 0 || slot >= std::ssize(b.slots)) continue;
    Barrier::Slot& s = b.slots[static_cast<std::size_t>(slot)];
    if (s.phase % 2 == phase && s.arrivals > 0)
      complete(s, Cell::several);
    else if (s.arrivals > 0)
      throw Error("wrong phase: slot " + std::to_string(slot) + " of " + b.name + " is under way in phase " +
                  std::to_string(s.phase % 2) + where());
    filled = filled || s.phase % 2 != phase;
  }
  if (!filled)
    throw Error("would hang: nothing fills slot " + std::to_string(slot) + " in phase " + std::to_string(phase) +
                where());
}

}  // namespace deplo::ir::exec
