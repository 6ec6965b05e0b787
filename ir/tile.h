// The statements that Tile IR adds: the launch, and what the threads of a block do together, before it is decided how.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/axis.h"
#include "ir/expr.h"
#include "ir/loop.h"
#include "ir/op.h"
#include "ir/parts.h"
#include "ir/types.h"

namespace deplo::ir {

/// The launch, in Kernel IR too: block and thread axes, linearised with the last axis of each kind fastest. Of the
/// blocks, those along the cluster axis are neighbours.
struct Tile {
  std::vector<Axis> axes;
  Body body;
  std::int64_t resident = 0;  // blocks that a unit shall hold at a time: a limit of registers; 0: none
  static constexpr Levels levels = Levels::tile_and_kernel;
  static void parts(auto& s, auto& see) { see(s.axes), see(s.body); }
  bool operator==(const Tile&) const = default;
};

/// In Kernel IR too: asks for the memory around buffer[index…] before it is read, or written. No value depends on it,
/// and the index may lie outside the buffer.
struct Prefetch {
  std::string buffer;
  std::vector<Expr> index;
  bool write = false;
  static constexpr Levels levels = Levels::tile_and_kernel;
  static void parts(auto& s, auto& see) { see(Use::reads, s.buffer), see(s.index); }
  bool operator==(const Prefetch&) const = default;
};

/// How a slab travels to shared memory. `copy`: loads and stores, complete at an implied barrier behind the Stage. The
/// others are complete at an AsyncWait. `ahead`: loads and stores; `async`: cp.async (PTX ISA, "cp.async"); `tma`:
/// tensor copies by one thread (PTX ISA, "cp.async.bulk.tensor").
enum class Transport : std::uint8_t { copy, ahead, async, tma };

/// Slot `slot` of `buffer` becomes a copy in shared memory of a slab of `source`, made by all threads of the block
/// together; elements outside the source are 0. With more than one slot the buffer's first index is the slot. What
/// `panel`, `pad` and `swizzle` say is where an element lies (stage_layout.h), not what it is called.
struct Stage {
  std::string buffer, source;
  DType dtype = DType::f32;    // of its elements: the source's, or f32 where 16 bits are converted on the way
  std::vector<Expr> origin;    // one per dimension of the source
  std::vector<SlabAxis> slab;  // the dimensions of a slot, in order
  Transport transport = Transport::copy;
  int lanes = 0;  // elements of one copy; 0: not decided, the widest that both sides allow
  int slots = 1;
  Expr slot = 0;
  Expr when = 1;           // 0: nothing is copied, but the group is counted
  std::int64_t panel = 0;  // columns of a panel: the last dimension is stored panel after panel; 0: whole rows
  std::int64_t pad = 0;    // unused elements behind each row (of a panel)
  int swizzle = 0;         // bytes of TMA's pattern: 0, 32, 64, 128; cp.async of 16 bytes can follow it too
  bool pairs = false;      // two neighbours along the first dimension, of two, lie side by side (hardware/pairs.h)
  int prefetch = 0;        // rows: how far ahead of a copy its source is asked for
  static constexpr Levels levels = Levels::tile;
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.source), see(s.origin), see(s.slot), see(s.when), see(Use::declares, s.buffer);
  }
  bool operator==(const Stage&) const = default;
};

/// A barrier after which all but the last `keep` groups of `ahead` and `async` stages are complete; a group is a run of
/// neighbouring Stages that are not `copy`, of one condition. Of the `tma` stages, those are complete that filled slot `slot`, as the even
/// (phase 0) or odd (1) fill of this slot, counted from 0.
struct AsyncWait {
  std::int64_t keep = 0;
  Expr phase = 0, slot = 0;
  static constexpr Levels levels = Levels::tile;
  static void parts(auto& s, auto& see) { see(s.phase), see(s.slot); }
  bool operator==(const AsyncWait&) const = default;
};

/// Merges the partials of `acc` over the named thread and vector axes; afterwards all of them hold the total. Where `to`
/// is given, `over` is one thread or cluster axis: who is at this position along it holds the total, the others nothing.
struct Combine {
  std::string acc;
  Op op = Op::add;
  std::vector<std::string> over;
  std::optional<Expr> to = std::nullopt;
  static constexpr Levels levels = Levels::tile;
  static void parts(auto& s, auto& see) {
    see(Use::value, s.acc), see(Use::axis, s.over);
    if (s.to) see(*s.to);
  }
  bool operator==(const Combine&) const = default;
};

/// In Kernel IR too: multiplies what an accumulator by add has so far, and so each of its terms.
struct Scale {
  std::string acc;
  Type type;
  Arg factor;
  static constexpr Levels levels = Levels::tile_and_kernel;
  static void parts(auto& s, auto& see) { see(s.factor), see(Use::defines, s.acc); }
  bool operator==(const Scale&) const = default;
};

using TileStatements = Statements<Tile, Prefetch, Stage, AsyncWait, Combine, Scale>;

}  // namespace deplo::ir
