// The instructions of asynchronous copies, the barriers that they report to, and shuffles.
#include <algorithm>

#include "core/error.h"
#include "ir/interpret/compile.h"
#include "ir/stage_layout.h"
#include "ir/tma.h"

namespace deplo::ir::exec {
namespace {

template <class List>
int position(const List& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.name == name; });
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

}  // namespace

void Compiler::declare_shared(const std::string& name, DType dtype, std::vector<std::int64_t> shape, std::int64_t count,
                              std::int64_t align) {
  constexpr std::int64_t sensible = std::int64_t{1} << 28;
  std::int64_t cells = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 1 || cells > sensible / extent) fail("expected a shared buffer of sensible size");
    cells *= extent;
  }
  if (align < 1) fail("expected a positive alignment");
  reserve_shared(count * bytes(dtype), align);
  Shared s{{name, shape, row_major_strides(shape)}, {}, bytes(dtype), align};
  s.cells.resize(static_cast<std::size_t>(cells));
  machine_.shared.push_back(std::move(s));
}

// The widest alignment first, as it is laid out when it is emitted.
void Compiler::reserve_shared(std::int64_t size, std::int64_t align) {
  shared_pieces_.emplace(align, size);
  std::int64_t total = 0;
  for (const auto& [alignment, piece] : shared_pieces_) total = (total + alignment - 1) / alignment * alignment + piece;
  if (limits_.shared_bytes > 0 && total > limits_.shared_bytes)
    fail("shared memory over the limit: " + std::to_string(total) + " bytes of " +
         std::to_string(limits_.shared_bytes));
}

// In a loop, unless the loop walks several slots: then the barrier of the next one's fill stands between.
bool Compiler::behind_barrier(const Stage& s) const {
  return !loops_.empty() && (s.slots == 1 || loops_.size() > 1 || !depends_on(s.slot, loops_.back()));
}

StageCode Compiler::stage(const Stage& s) {
  const int source = position(machine_.globals, s.source);
  if (source < 0) fail("nothing defines the buffer " + s.source);
  const Global& from = machine_.globals[static_cast<std::size_t>(source)];
  if (s.slab.empty() || s.slots < 1) fail("expected slab axes and slots");
  if (position(machine_.shared, s.buffer) < 0) {
    declare_shared(s.buffer, program_.find(s.source)->dtype, logical_shape(s), physical_count(s), alignment(s));
    if (s.transport == Transport::tma)
      machine_.barriers.push_back({s.buffer, at_, 1, std::vector<Barrier::Slot>(static_cast<std::size_t>(s.slots))});
  }
  StageCode code{position(machine_.shared, s.buffer),
                 source,
                 {},
                 s.slab,
                 s.transport,
                 index(s.slot),
                 1,
                 opens_group_,
                 behind_barrier(s),
                 position(machine_.barriers, s.buffer)};
  if (s.transport == Transport::ahead || s.transport == Transport::async) opens_group_ = false;
  for (const SlabAxis& axis : s.slab) code.count *= axis.extent;
  if (machine_.shared[static_cast<std::size_t>(code.shared)].shape != logical_shape(s) ||
      (s.transport == Transport::tma) != (code.barrier >= 0))
    fail("expected stages of " + s.buffer + " that agree");
  for (const Expr& e : s.origin) code.origin.push_back(index(e));
  const auto varies = [](const Index& i) { return i.varies; };
  if (code.slot.varies || std::any_of(code.origin.begin(), code.origin.end(), varies))
    fail("expected an origin and a slot that all threads share");
  if (code.origin.size() != from.shape.size()) fail("expected one origin per dimension of " + s.source);
  for (const SlabAxis& axis : s.slab)
    if (axis.dim < 0 || axis.dim >= static_cast<int>(code.origin.size())) fail("a slab axis walks no dimension");
  return code;
}

AsyncWaitCode Compiler::wait(const AsyncWait& s) {
  AsyncWaitCode code{s.keep, index(s.phase), index(s.slot)};
  if (code.phase.varies || code.slot.varies) fail("expected a phase and a slot that all threads share");
  return code;
}

ShuffleCode Compiler::shuffle(const WarpShuffle& s) {
  const std::size_t value = operand(s.value, 1).value;
  if (s.length < 1 || (s.length & (s.length - 1)) != 0 || machine_.lanes % s.length != 0)
    fail("expected a length that is a power of two and divides the number of threads");
  if (!neutral(s.op)) fail("expected an operation that reduces");
  return {define(s.dst, 1), value, s.op, static_cast<int>(s.length)};
}

CopyCode Compiler::copy(const CpAsyncCopy& s) {
  CopyCode code{access(s.buffer, s.index, s.lanes), access(s.source, s.at, s.lanes)};
  if (!code.to.shared || code.from.shared) fail("expected a copy from global to shared memory");
  const Shared& to = machine_.shared[static_cast<std::size_t>(code.to.buffer)];
  const Global& from = machine_.globals[static_cast<std::size_t>(code.from.buffer)];
  const std::int64_t size = s.lanes * to.element_bytes;
  if (size != 4 && size != 8 && size != 16) fail("expected 4, 8 or 16 bytes, found " + std::to_string(size));
  if (s.lanes > 1 && from.strides.back() != 1) fail("expected a stride of 1 in the last dimension of " + s.source);
  return code;
}

void Compiler::declare(const MbarrierInit& s) {
  constexpr std::int64_t object = 8;  // bytes: PTX ISA, "mbarrier object"
  if (s.slots < 1 || s.slots > 1024 || s.count < 1) fail("expected 1 to 1024 barriers and a positive count");
  reserve_shared(s.slots * object, object);
  machine_.barriers.push_back({s.barrier, at_, s.count, std::vector<Barrier::Slot>(static_cast<std::size_t>(s.slots))});
}

int Compiler::barrier(const std::string& name) const {
  const int number = position(machine_.barriers, name);
  if (number < 0) fail("nothing defines the barrier " + name);
  return number;
}

void Compiler::declare(const TmaDescriptor& s) {
  const Buffer* source = program_.find(s.source);
  if (source == nullptr) fail("nothing defines the buffer " + s.source);
  if (const std::string fault = tma::fault(s, *source); !fault.empty()) fail("wrong TMA box: " + fault);
  machine_.descriptors.push_back({s.name, position(machine_.globals, s.source), s.box, s.swizzle});
}

TmaCode Compiler::load(const TmaLoad& s) {
  TmaCode code{access(s.buffer, s.index, 1),
               position(machine_.descriptors, s.descriptor),
               {},
               barrier(s.barrier),
               index(s.slot)};
  if (!code.to.shared) fail("expected a shared buffer, found " + s.buffer);
  if (code.descriptor < 0) fail("nothing defines the descriptor " + s.descriptor);
  const Descriptor& d = machine_.descriptors[static_cast<std::size_t>(code.descriptor)];
  if (s.coordinates.size() != d.box.size())
    fail("wrong TMA box: " + std::to_string(d.box.size()) + " dimensions, found " +
         std::to_string(s.coordinates.size()) + " coordinates");
  const Shared& to = machine_.shared[static_cast<std::size_t>(code.to.buffer)];
  if (to.element_bytes != bytes(program_.find(machine_.globals[static_cast<std::size_t>(d.source)].name)->dtype))
    fail("expected elements of one size in " + s.buffer + " and its source");
  for (const Expr& e : s.coordinates) code.coordinates.push_back(index(e));
  return code;
}

}  // namespace deplo::ir::exec
