// Asynchronous copies of Kernel IR: cp.async and its groups, mbarriers and tensor copies.
#include <algorithm>

#include "core/error.h"
#include "ir/interpret/machine.h"
#include "ir/tma.h"

namespace deplo::ir::exec {
namespace {

std::string text(std::int64_t n) { return std::to_string(n); }

}  // namespace

void Machine::issue(const Instruction& at, const Shared& s, Cell& cell, int lane, double value) const {
  check_overwrite(at, s, cell, lane);
  cell.writer = thread(lane);
  cell.write_epoch = Cell::in_flight;
  cell.value = value;
}

void Machine::land(const Flight& flight, int writer) {
  std::vector<Cell>& cells = shared[static_cast<std::size_t>(flight.shared)].cells;
  for (std::int64_t i = flight.first; i < flight.first + flight.count; ++i) {
    Cell& cell = cells[static_cast<std::size_t>(i)];
    cell.writer = writer;
    cell.write_epoch = epoch_;
  }
}

void Machine::copy(const Instruction& at, CopyCode& c, Mask mask) {
  const Global& source = globals[static_cast<std::size_t>(c.from.buffer)];
  Shared& to = shared[static_cast<std::size_t>(c.to.buffer)];
  const Offsets from = locate(at, c.from, mask);
  for (int l = 0; l < lanes; ++l) from_[static_cast<std::size_t>(l)] = from[l];
  const Offsets offsets = locate(at, c.to, mask);
  const std::int64_t size = c.to.lanes * to.element_bytes;
  for (int l = 0; l < lanes; ++l) {
    if (mask != nullptr && mask[l] == 0) continue;
    const std::int64_t first = from_[static_cast<std::size_t>(l)];
    if (first % c.to.lanes != 0 || offsets[l] % c.to.lanes != 0 || to.align % size != 0)
      fault(at,
            "misaligned cp.async: " + text(size) + " bytes from byte " + text(first * to.element_bytes) + " of " +
                source.name + " to byte " + text(offsets[l] * to.element_bytes) + " of " + to.name,
            l);
    for (int w = 0; w < c.to.lanes; ++w)
      issue(at, to, to.cells[static_cast<std::size_t>(offsets[l] + w)], l,
            source.data[static_cast<std::size_t>(first + w)]);
    flights_.push_back({c.to.buffer, offsets[l], c.to.lanes, l, groups_[static_cast<std::size_t>(l)]});
  }
}

void Machine::commit(Mask mask) {
  for (std::size_t t = 0; t < groups_.size(); ++t) groups_[t] += mask == nullptr || mask[t] != 0 ? 1 : 0;
}

void Machine::wait(const CopyWaitCode& c, Mask mask) {
  std::erase_if(flights_, [&](const Flight& flight) {
    const auto t = static_cast<std::size_t>(flight.thread);
    const bool landed = (mask == nullptr || mask[t] != 0) && flight.group < groups_[t] - c.keep;
    if (landed) land(flight, flight.thread);
    return landed;
  });
}

void Machine::init(const Instruction& at, const BarrierInitCode& c, Mask mask) {
  converge(at, mask);
  Barrier& b = barriers[static_cast<std::size_t>(c.barrier)];
  std::fill(b.slots.begin(), b.slots.end(), Barrier::Slot{});
  b.epoch = epoch_;
}

Barrier::Slot& Machine::slot_of(const Instruction& at, int barrier, const Index& slot, int lane) {
  Barrier& b = barriers[static_cast<std::size_t>(barrier)];
  const std::int64_t i = at_lane(slot, lane);
  if (i < 0 || i >= static_cast<std::int64_t>(b.slots.size()))
    fault(at, "index out of range: " + text(i) + " of " + b.name + ", which has " + text(std::ssize(b.slots)), lane);
  if (b.epoch == epoch_ && thread(lane) != 0)
    fault(at, "race: the barrier " + b.name + " is used with no Sync after its initialisation", lane);
  return b.slots[static_cast<std::size_t>(i)];
}

void Machine::arrive(const Instruction& at, const ArriveCode& c, Mask mask) {
  for (int l = 0; l < lanes; ++l) {
    if (mask != nullptr && mask[l] == 0) continue;
    Barrier::Slot& s = slot_of(at, c.barrier, c.slot, l);
    const Barrier& b = barriers[static_cast<std::size_t>(c.barrier)];
    if (++s.arrivals > b.count)
      fault(at, "one arrival too many: phase " + text(s.phase) + " of " + b.name + " counts " + text(b.count), l);
    s.expected += c.bytes;
  }
}

// All threads or one that tells the others by a Sync.
void Machine::wait(const Instruction& at, const BarrierWaitCode& c, Mask mask) {
  const bool all = full(mask);
  const Barrier& b = barriers[static_cast<std::size_t>(c.barrier)];
  for (int l = 0; l < lanes; ++l) {
    if (mask != nullptr && mask[l] == 0) continue;
    Barrier::Slot& s = slot_of(at, c.barrier, c.slot, l);
    const std::int64_t parity = at_lane(c.phase, l);
    if (s.phase % 2 != parity) continue;  // complete already
    if (s.arrivals != b.count || s.expected != s.delivered)
      fault(at,
            "would hang: phase " + text(s.phase) + " of " + b.name + " never completes with " + text(s.arrivals) +
                " of " + text(b.count) + " arrivals, " + text(s.expected) + " bytes expected and " + text(s.delivered) +
                " copied",
            l);
    for (const Flight& flight : s.flights) land(flight, all ? Cell::several : thread(l));
    s = {0, 0, 0, s.phase + 1, {}};
  }
}

// A phase that nobody waits for outlives the block.
void Machine::check_completed() const {
  for (const Barrier& b : barriers)
    for (const Barrier::Slot& s : b.slots)
      if (s.arrivals > 0 || s.expected != s.delivered || !s.flights.empty())
        throw Error("phase " + text(s.phase) + " of " + b.name + "[" + text(&s - b.slots.data()) +
                    "] is not complete at the end of block " + text(block_) + ", at `" + text_of(*b.source) + "`");
}

// The destination is one run of memory that starts where the pattern does.
void Machine::load(const Instruction& at, TmaCode& c, Mask mask) {
  const Offsets offsets = locate(at, c.to, mask);
  const Descriptor& d = descriptors[static_cast<std::size_t>(c.descriptor)];
  const Shared& to = shared[static_cast<std::size_t>(c.to.buffer)];
  const std::int64_t align = d.swizzle > 0 ? 8 * d.swizzle : 128;
  std::int64_t count = 1;
  for (const std::int64_t extent : d.box) count *= extent;
  for (int l = 0; l < lanes; ++l) {
    if (mask != nullptr && mask[l] == 0) continue;
    if (offsets[l] * to.element_bytes % align != 0 || to.align % align != 0)
      fault(at,
            "misaligned TMA destination: byte " + text(offsets[l] * to.element_bytes) + " of " + to.name + " (align " +
                text(to.align) + "), expected a multiple of " + text(align),
            l);
    if (offsets[l] + count > std::ssize(to.cells))
      fault(at, "index out of range: a box of " + text(count) + " elements leaves " + to.name, l);
    Barrier::Slot& slot = slot_of(at, c.barrier, c.slot, l);
    load_box(at, c, offsets[l], l);
    slot.flights.push_back({c.to.buffer, offsets[l], count, l});
    slot.delivered += count * to.element_bytes;
  }
}

void Machine::load_box(const Instruction& at, const TmaCode& c, std::int64_t first, int lane) {
  const Descriptor& d = descriptors[static_cast<std::size_t>(c.descriptor)];
  const Global& from = globals[static_cast<std::size_t>(d.source)];
  Shared& to = shared[static_cast<std::size_t>(c.to.buffer)];
  std::vector<std::int64_t> origin, position(d.box.size(), 0);
  for (const Index& index : c.coordinates) origin.push_back(at_lane(index, lane));
  for (std::int64_t n = 0; position[0] < d.box[0]; ++n) {
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t i = 0; i < d.box.size(); ++i) {
      const std::int64_t x = origin[i] + position[i];
      inside = inside && x >= 0 && x < from.shape[i];
      if (inside) offset += x * from.strides[i];
    }
    const std::int64_t byte = tma::swizzled_address(n * to.element_bytes, d.swizzle);
    issue(at, to, to.cells[static_cast<std::size_t>(first + byte / to.element_bytes)], lane,
          inside ? from.data[static_cast<std::size_t>(offset)] : 0);
    for (std::size_t i = position.size(); i-- > 0;) {
      if (++position[i] < d.box[i] || i == 0) break;
      position[i] = 0;
    }
  }
}

}  // namespace deplo::ir::exec
