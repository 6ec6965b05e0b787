// Kernel IR: asynchronous copies, the barriers that they report to, and tensor copies.
#include <fmt/format.h>

#include <numeric>

#include "ir/tma.h"
#include "ir/verify/verifier.h"

namespace deplo::ir {
namespace {

// PTX ISA, "Contents of the mbarrier object": bytes in flight are counted in 20 bits.
constexpr std::int64_t max_transaction = (std::int64_t{1} << 20) - 1;

}  // namespace

// PTX ISA, "cp.async": 4, 8 or 16 bytes from global to shared memory.
bool Verifier::check(const CpAsyncCopy& c) {
  int to = NameTable::none, from = NameTable::none;
  if (!shared_access(c.buffer, c.index, c.lanes, to)) return false;
  gathers_ = true;
  const bool good = access(c.source, c.at, c.lanes, from);
  gathers_ = false;
  if (!good) return false;
  if (names_[from].kind != Kind::buffer) return fail(fmt::format("`{}` is not in global memory", c.source));
  const DType stored = names_[from].type.dtype;
  if (stored != names_[to].type.dtype) return fail(fmt::format("`{}` holds {}", c.source, name(stored)));
  const std::int64_t size = c.lanes * bytes(stored);
  return size == 4 || size == 8 || size == 16 || fail(fmt::format("a copy of {} bytes, not 4, 8 or 16", size));
}

bool Verifier::check(const CpAsyncCommit&) { return true; }

bool Verifier::check(const CpAsyncWait& w) { return w.keep >= 0 || fail(fmt::format("keep={}", w.keep)); }

bool Verifier::check(const MbarrierInit& m) {
  if (m.slots < 1 || m.count < 1) return fail(fmt::format("{} slots and a count of {}", m.slots, m.count));
  if (scopes_[static_cast<std::size_t>(scope_)].parent != 0) return fail("it stands directly in the Tile");
  const int number = define(m.barrier, Kind::barrier, "a barrier");
  if (number == NameTable::none) return false;
  names_.push_extent(names_[number], m.slots);
  return true;
}

bool Verifier::barrier(const std::string& name, const Expr& slot) {
  const int number = names_.find(name);
  if (number == NameTable::none || names_[number].kind != Kind::barrier)
    return fail(fmt::format("`{}` is not a barrier before this", name));
  return in_range(slot, names_.extent(names_[number], 0), 1, 0);
}

bool Verifier::check(const MbarrierArriveExpectTx& m) {
  if (!barrier(m.barrier, m.slot)) return false;
  return (m.bytes >= 0 && m.bytes <= max_transaction) ||
         fail(fmt::format("{} bytes, not 0 to {}", m.bytes, max_transaction));
}

bool Verifier::check(const MbarrierWait& m) { return barrier(m.barrier, m.slot) && in_range(m.phase, 2, 1, 0); }

bool Verifier::check(const TmaDescriptor& d) {
  if (scope_ != 0) return fail("a descriptor stands before the Tile");
  const Buffer* source = program_.find(d.source);
  if (source == nullptr) return fail(fmt::format("`{}` is not a buffer of the program", d.source));
  if (const std::string fault = tma::fault(d, *source); !fault.empty()) return fail(fault);
  return define(d.name, Kind::descriptor, "a descriptor") != NameTable::none;
}

bool Verifier::check(const TmaLoad& t) {
  int to = NameTable::none;
  if (!shared_access(t.buffer, t.index, 1, to)) return false;
  const int number = names_.find(t.descriptor);
  if (number == NameTable::none || names_[number].kind != Kind::descriptor)
    return fail(fmt::format("`{}` is not a descriptor before this", t.descriptor));
  const auto& d = *names_[number].declared->as<TmaDescriptor>();
  if (t.coordinates.size() != d.box.size())
    return fail(
        fmt::format("`{}` has {} dimensions, found {} coordinates", d.name, d.box.size(), t.coordinates.size()));
  Value v;
  for (const Expr& e : t.coordinates)
    if (!evaluate(e, v)) return false;
  const DType stored = program_.find(d.source)->dtype;
  if (stored != names_[to].type.dtype) return fail(fmt::format("`{}` holds {}", d.source, name(stored)));
  std::int64_t room = 1, box = 1;
  for (std::size_t i = 0; i < names_[to].rank; ++i) room *= names_.extent(names_[to], i);
  for (const std::int64_t extent : d.box) box *= extent;
  if (box > room) return fail(fmt::format("a box of {} elements, `{}` has {}", box, t.buffer, room));
  return barrier(t.barrier, t.slot);
}

}  // namespace deplo::ir
