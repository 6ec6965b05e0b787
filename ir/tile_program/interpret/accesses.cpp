#include "ir/tile_program/interpret/accesses.h"

#include <fmt/format.h>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/interpret/evaluators.h"

namespace deplo::ir::tile_program::exec {
namespace {

/// Returns the shape of the tile whose elements an operation reads or writes.
const Extents& accessed_shape(const Evaluation& now) {
  const std::string_view name = now.op.form->name;
  if (name == "load_ptr_tko" || name == "load_view_tko") return now.result_type().shape;
  if (name == "store_view_tko") return now.type(now.op.operand("tile")).shape;
  if (name == "atomic_red_view_tko") return now.type(now.op.operand("value")).shape;
  return now.operand_type(0).shape;
}

}  // namespace

Accesses::Accesses(Evaluation& now, AccessKind kind) : now_(now), kind_(kind), past_(now.past()) {
  const auto ordering = static_cast<Ordering>(now.op.number("memory_ordering_semantics"));
  strong_ = ordering != Ordering::weak;
  acquires_ = ordering == Ordering::acquire || ordering == Ordering::acq_rel;
  releases_ = ordering == Ordering::release || ordering == Ordering::acq_rel;
  Event event{.operation = &now.op, .block = now.block_number(), .is_strong = strong_};
  if (now.op.given("memory_scope")) event.scope = static_cast<Scope>(now.op.number("memory_scope"));
  event_ = now.machine.events.add(event, past_);
}

std::string Accesses::element(std::size_t index) const {
  const Extents& shape = accessed_shape(now_);
  return shape.empty() ? "its element" : "element " + element_index(shape, index);
}

void Accesses::fail_outside(std::uint64_t address, DType e, std::size_t index) const {
  now_.fail(fmt::format("expected memory of an array, found {} {} {}", element(index),
                        kind_ == AccessKind::read ? "that reads" : "that writes",
                        now_.machine.memory.outside(address, e)));
}

std::uint64_t Accesses::peek(std::uint64_t address, DType e, std::size_t index) {
  const auto bits = now_.machine.memory.read(address, e);
  if (!bits) fail_outside(address, e, index);
  return *bits;
}

void Accesses::put(std::uint64_t address, DType e, std::uint64_t bits, std::size_t index) {
  if (!now_.machine.memory.write(address, e, bits)) fail_outside(address, e, index);
}

void Accesses::note(std::uint64_t address, DType e, std::size_t index) {
  const Access access{event_, &past_, kind_ != AccessKind::read, kind_ == AccessKind::update};
  const EventId other = now_.machine.memory.note(access, now_.machine.events, address, bytes(e));
  if (other == 0) return;
  const std::string at = now_.machine.memory.describe(address);
  if (other == event_)
    now_.fail(fmt::format("expected a different address for each element, found {} and another one at {}",
                          element(index), at));
  const Event& event = now_.machine.events[other];
  const bool same = event.block == now_.block_number();
  now_.fail(fmt::format("expected {} between accesses to the same address, found none before {} at {}, after {}",
                        same ? "an order by tokens" : "an order by release and acquire", element(index), at,
                        now_.machine.describe(event)));
}

void Accesses::acquire(std::uint64_t address) {
  if (acquires_) acquired_ = join(acquired_, now_.machine.memory.released(address));
}

/// Updates what an acquire at this address learns. A write without release semantics ends the release sequence; an
/// atomic update continues it.
void Accesses::release(std::uint64_t address) {
  PastPtr& released = now_.machine.memory.released(address);
  if (releases_)
    released = join(kind_ == AccessKind::update ? released : nullptr, now_.machine.events.after(event_, past_));
  else if (kind_ != AccessKind::update)
    released = nullptr;
}

std::uint64_t Accesses::read(std::uint64_t address, DType e, std::size_t index) {
  const std::uint64_t bits = peek(address, e, index);
  note(address, e, index);
  acquire(address);
  return bits;
}

void Accesses::write(std::uint64_t address, DType e, std::uint64_t bits, std::size_t index) {
  put(address, e, bits, index);
  note(address, e, index);
  if (strong_) release(address);
}

PastPtr Accesses::after() const { return now_.machine.events.after(event_, join(past_, acquired_)); }

}  // namespace deplo::ir::tile_program::exec
