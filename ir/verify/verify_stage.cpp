// Tile IR: stages, their layouts and slots, and what waits for them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/text/lexer.h"
#include "ir/tma.h"
#include "ir/verify/verifier.h"

namespace deplo::ir {
namespace {

// Stages of one buffer agree in all but where they copy from and to.
bool agree(const Stage& a, const Stage& b) {
  return a.source == b.source && a.slab == b.slab && a.transport == b.transport && a.lanes == b.lanes &&
         a.slots == b.slots && a.panel == b.panel && a.pad == b.pad && a.swizzle == b.swizzle &&
         a.prefetch == b.prefetch;
}

// Elements of a row in memory, without the pad.
std::int64_t columns(const Stage& s) { return s.panel > 0 ? s.panel : s.slab.back().extent; }

// What is wrong with where the elements lie and how they are copied; "" when nothing is.
std::string layout_fault(const Stage& s, DType stored) {
  if (s.panel < 0 || (s.panel > 0 && s.slab.back().extent % s.panel != 0))
    return fmt::format("a panel of {} does not divide {}", s.panel, s.slab.back().extent);
  if (s.pad < 0) return fmt::format("a pad of {}", s.pad);
  if (s.swizzle != 0 && s.swizzle != 32 && s.swizzle != 64 && s.swizzle != 128)
    return fmt::format("a swizzle of {}, not 0, 32, 64 or 128 bytes", s.swizzle);
  if (s.swizzle != 0 && (s.transport != Transport::tma || bytes(stored) != 4))
    return "a swizzle is of tma copies of 4-byte elements";
  if (s.swizzle != 0 && columns(s) * bytes(stored) != s.swizzle)
    return fmt::format("rows of {} bytes under a swizzle of {}", columns(s) * bytes(stored), s.swizzle);
  if (s.transport == Transport::tma && s.pad != 0) return "tma copies leave no pad";
  if (s.lanes < 0 || s.lanes > 16 || (s.lanes > 0 && !std::has_single_bit(static_cast<unsigned>(s.lanes))))
    return fmt::format("copies of {} lanes, not a power of two up to 16", s.lanes);
  if (s.lanes > 1 && columns(s) % s.lanes != 0)
    return fmt::format("copies of {} lanes do not divide a row of {}", s.lanes, columns(s));
  if (s.prefetch < 0 || (s.prefetch > 0 && (s.transport == Transport::async || s.transport == Transport::tma)))
    return fmt::format("prefetch={}: copies by loads and stores are asked for ahead", s.prefetch);
  if (s.transport != Transport::async || s.lanes == 0) return "";
  const std::int64_t size = s.lanes * bytes(stored);
  if (size != 4 && size != 8 && size != 16) return fmt::format("async copies of {} bytes, not 4, 8 or 16", size);
  return s.pad % s.lanes == 0 ? "" : fmt::format("a pad of {} leaves copies of {} lanes misaligned", s.pad, s.lanes);
}

// The box of a tma copy has the dimensions of the source, in its order.
std::string box_fault(const Stage& s, const Buffer& source) {
  TmaDescriptor d{"", s.source, std::vector<std::int64_t>(source.shape.size(), 1), s.swizzle};
  for (std::size_t i = 0; i < s.slab.size(); ++i) {
    if (i > 0 && s.slab[i].dim < s.slab[i - 1].dim) return "a tma copy keeps the order of the source's dimensions";
    d.box[static_cast<std::size_t>(s.slab[i].dim)] = s.slab[i].extent;
  }
  if (static_cast<std::size_t>(s.slab.back().dim) + 1 != source.shape.size())
    return "the rows of a tma copy walk the last dimension of the source";
  d.box.back() = columns(s);
  return tma::fault(d, source);
}

}  // namespace

// The same for all threads of the block, registers and lanes of a value.
bool Verifier::uniform(const Expr& e, const char* what, Value& v) {
  ++stamp_;
  if (!evaluate(e, v)) return false;
  if (v.varies) return fail(fmt::format("the {} `{}` differs between the threads of a block", what, print(e)));
  for (const int a : axes_)
    if (names_[a].stamp == stamp_ && (names_[a].bind == Bind::reg || names_[a].bind == Bind::vector))
      return fail(fmt::format("the {} depends on the {} axis `{}`", what, bind_name(names_[a].bind), names_[a].name));
  return true;
}

bool Verifier::check(const Stage& s) {
  const int source = names_.find(s.source);
  if (source == NameTable::none || names_[source].kind != Kind::buffer)
    return fail(fmt::format("`{}` is not a buffer of the program", s.source));
  const std::size_t rank = names_[source].rank;
  if (s.origin.size() != rank)
    return fail(fmt::format("`{}` has {} dimensions, found {} in the origin", s.source, rank, s.origin.size()));
  Value v;
  for (const Expr& e : s.origin)
    if (!uniform(e, "origin", v)) return false;
  if (s.slots < 1) return fail(fmt::format("{} slots", s.slots));
  if (!uniform(s.slot, "slot", v) || !in_range(s.slot, s.slots, 1, 0)) return false;
  const int first = names_.find(s.buffer);
  const Stmt* declared = first == NameTable::none ? nullptr : names_[first].declared;
  if (declared == nullptr || declared->as<Stage>() == nullptr)
    return slab(s, rank) && declare(s, names_[source].type) && convergent();
  if (!agree(s, *declared->as<Stage>()))
    return fail(fmt::format("the stages of `{}` agree in all but origin and slot", s.buffer));
  if (!scopes_[static_cast<std::size_t>(names_[first].body)].open)
    return fail(fmt::format("`{}` is out of scope", s.buffer));
  return convergent();
}

bool Verifier::slab(const Stage& s, std::size_t rank) {
  if (s.slab.empty()) return fail("the slab has no axes");
  for (const SlabAxis& a : s.slab) {
    const auto same = [&](const SlabAxis& b) { return &b != &a && (b.dim == a.dim || b.name == a.name); };
    if (!is_name(a.name)) return fail(fmt::format("`{}` cannot name a slab axis", a.name));
    if (a.extent < 1) return fail(fmt::format("slab axis `{}` has an extent of {}", a.name, a.extent));
    if (a.dim < 0 || static_cast<std::size_t>(a.dim) >= rank)
      return fail(fmt::format("`{}` has no dimension {}", s.source, a.dim));
    if (std::any_of(s.slab.begin(), s.slab.end(), same))
      return fail(fmt::format("slab axis `{}` repeats another", a.name));
  }
  return true;
}

bool Verifier::declare(const Stage& s, const Type& stored) {
  std::string fault = layout_fault(s, stored.dtype);
  if (fault.empty() && s.transport == Transport::tma) fault = box_fault(s, *program_.find(s.source));
  if (!fault.empty()) return fail(fault);
  const int number = define(s.buffer, Kind::shared, "a buffer");
  if (number == NameTable::none) return false;
  names_[number].type = stored;
  if (s.slots > 1) names_.push_extent(names_[number], s.slots);
  for (const SlabAxis& a : s.slab) names_.push_extent(names_[number], a.extent);
  return true;
}

bool Verifier::check(const AsyncWait& w) {
  Value slot, phase;
  if (w.keep < 0) return fail(fmt::format("keep={}", w.keep));
  if (!uniform(w.slot, "slot", slot) || !uniform(w.phase, "phase", phase)) return false;
  if (slot.range.low < 0) return fail("the slot may be negative");
  return in_range(w.phase, 2, 1, 0) && convergent();
}

}  // namespace deplo::ir
