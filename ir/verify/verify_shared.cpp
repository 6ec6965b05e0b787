// Shared memory and what the threads of a block do together.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/text/lexer.h"
#include "ir/verify/verifier.h"

namespace deplo::ir {

bool Verifier::convergent() { return divergent_ == 0 || fail("some threads of the block may not reach this"); }

bool Verifier::check(const Combine& c) {
  const int found = names_.find(c.acc);
  if (found == NameTable::none || names_[found].kind != Kind::accumulator)
    return fail(fmt::format("`{}` is not an accumulator before this", c.acc));
  int number = NameTable::none;
  if (!accumulate(c.acc, names_[found].type, c.op, number)) return false;
  for (const std::string& name : c.over) {
    const int axis = names_.find(name);
    const bool exists = axis != NameTable::none && names_[axis].kind == Kind::axis && names_[axis].active;
    const Bind bind = exists ? names_[axis].bind : Bind::free;
    if (bind != Bind::thread && bind != Bind::reg && bind != Bind::vector)
      return fail(fmt::format("`{}` is not a THREAD, REG or VECTOR axis", name));
    if (std::count(c.over.begin(), c.over.end(), name) > 1) return fail(fmt::format("axis `{}` is named twice", name));
  }
  return convergent();
}

bool Verifier::check(const Smem& s) {
  const int number = define(s.buffer, Kind::shared, "a buffer");
  if (number == NameTable::none) return false;
  if (s.shape.empty()) return fail("shared memory has at least one dimension");
  NameEntry& e = names_[number];
  e.type = {s.dtype, 1};
  e.writable = true;
  if (s.align < 1 || !std::has_single_bit(static_cast<std::uint64_t>(s.align)))
    return fail(fmt::format("an alignment of {} bytes", s.align));
  for (const std::int64_t extent : s.shape) {
    if (extent < 1) return fail(fmt::format("an extent of {}", extent));
    names_.push_extent(e, extent);
  }
  return true;
}

// Shared memory that a copy fills.
bool Verifier::shared_access(const std::string& name, const std::vector<Expr>& index, int n, int& number) {
  if (!access(name, index, n, number)) return false;
  return names_[number].kind == Kind::shared || fail(fmt::format("`{}` is not shared memory", name));
}

bool Verifier::check(const Sync&) { return convergent(); }

bool Verifier::check(const TreeHalve& t) {
  const int number = names_.find(t.buffer);
  if (number == NameTable::none || names_[number].kind != Kind::shared ||
      !scopes_[static_cast<std::size_t>(names_[number].body)].open)
    return fail(fmt::format("`{}` is not shared memory in scope", t.buffer));
  const NameEntry& e = names_[number];
  if (!neutral(t.op)) return fail(fmt::format("{} has no neutral element", name(t.op)));
  if (t.prefix.size() + 1 != e.rank)
    return fail(fmt::format("`{}` has {} dimensions, found {} and tid", t.buffer, e.rank, t.prefix.size()));
  const std::int64_t last = names_.extent(e, t.prefix.size());
  if (t.length < 1 || !std::has_single_bit(static_cast<std::uint64_t>(t.length)) || t.length > last)
    return fail(fmt::format("length {} is not a power of two up to {}", t.length, last));
  for (std::size_t i = 0; i < t.prefix.size(); ++i)
    if (!in_range(t.prefix[i], names_.extent(e, i), 1, i)) return false;
  Value tid;
  if (!evaluate(t.tid, tid)) return false;
  if (tid.range.low < 0) return fail("tid may be negative");
  return convergent();
}

// CUDA C++ Programming Guide, "Warp Shuffle Functions": within a warp of 32 threads.
bool Verifier::check(const WarpShuffle& s) {
  constexpr std::int64_t warp = 32;
  if (!neutral(s.op)) return fail(fmt::format("{} has no neutral element", name(s.op)));
  if (s.length < 1 || s.length > warp || !std::has_single_bit(static_cast<std::uint64_t>(s.length)))
    return fail(fmt::format("length {} is not a power of two up to {}", s.length, warp));
  if (threads_ % s.length != 0) return fail(fmt::format("{} threads are not groups of {}", threads_, s.length));
  if (s.type.lanes != 1 || s.type.dtype == DType::boolean) return fail("a shuffle moves scalars, no bool");
  if (!arg(s.value, s.type, false)) return false;
  const int number = define(s.dst, Kind::value, "a value");
  if (number == NameTable::none) return false;
  names_[number].type = s.type;
  return convergent();
}

}  // namespace deplo::ir
