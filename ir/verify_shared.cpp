// Shared memory and what the threads of a block do together.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/lexer.h"
#include "ir/verifier.h"

namespace deplo::ir {

bool Verifier::convergent() { return divergent_ == 0 || fail("some threads of the block may not reach this"); }

bool Verifier::check(const Stage& s) {
  const int source = names_.find(s.source);
  if (source == NameTable::none || names_[source].kind != Kind::buffer)
    return fail(fmt::format("`{}` is not a buffer of the program", s.source));
  const std::size_t rank = names_[source].rank;
  if (s.origin.size() != rank)
    return fail(fmt::format("`{}` has {} dimensions, found {} in the origin", s.source, rank, s.origin.size()));
  ++stamp_;
  for (const Expr& e : s.origin) {
    Value v;
    if (!evaluate(e, v)) return false;
    if (v.varies) return fail(fmt::format("the origin `{}` differs between the threads of a block", print(e)));
  }
  for (const int a : axes_)
    if (names_[a].stamp == stamp_ && (names_[a].bind == Bind::reg || names_[a].bind == Bind::vector))
      return fail(fmt::format("the origin depends on the {} axis `{}`", bind_name(names_[a].bind), names_[a].name));
  const Type stored = names_[source].type;
  const int number = define(s.buffer, Kind::shared, "a buffer");
  if (number == NameTable::none) return false;
  names_[number].type = stored;
  if (s.slab.empty()) return fail("the slab has no axes");
  for (const SlabAxis& a : s.slab) {
    const auto same = [&](const SlabAxis& b) { return &b != &a && (b.dim == a.dim || b.name == a.name); };
    if (!is_name(a.name)) return fail(fmt::format("`{}` cannot name a slab axis", a.name));
    if (a.extent < 1) return fail(fmt::format("slab axis `{}` has an extent of {}", a.name, a.extent));
    if (a.dim < 0 || static_cast<std::size_t>(a.dim) >= rank)
      return fail(fmt::format("`{}` has no dimension {}", s.source, a.dim));
    if (std::any_of(s.slab.begin(), s.slab.end(), same))
      return fail(fmt::format("slab axis `{}` repeats another", a.name));
    names_.push_extent(names_[number], a.extent);
  }
  return convergent();
}

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
  for (const std::int64_t extent : s.shape) {
    if (extent < 1) return fail(fmt::format("an extent of {}", extent));
    names_.push_extent(e, extent);
  }
  return true;
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

}  // namespace deplo::ir
