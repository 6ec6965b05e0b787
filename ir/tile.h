// The statements that Tile IR adds: the launch, and what the threads of a block do together, but not yet how.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/axis.h"
#include "ir/expr.h"
#include "ir/loop.h"
#include "ir/op.h"
#include "ir/parts.h"
#include "ir/types/types.h"

namespace deplo::ir {

/// The launch, also in Kernel IR. Block and thread axes are linearised, with the last axis of each kind fastest. The
/// blocks along the cluster axis are neighbours.
struct Tile {
  std::vector<Axis> axes;
  Body body;
  // blocks that a multiprocessor must be able to hold at a time, which limits registers; 0: any
  std::int64_t resident = 0;
  static constexpr Levels levels = Levels::tile_and_kernel;
  static void parts(auto& s, auto& see) { see(s.axes), see(s.body); }
  bool operator==(const Tile&) const = default;
};

/// Prefetches the memory around buffer[index…] before a read, or before a write (`write`). Also in Kernel IR. No value
/// depends on it, and the index may lie outside the buffer.
struct Prefetch {
  std::string buffer;
  std::vector<Expr> index;
  bool write = false;
  bool level2 = false;  // into the level 2 cache only
  static constexpr Levels levels = Levels::tile_and_kernel;
  static void parts(auto& s, auto& see) { see(Use::reads, s.buffer), see(s.index); }
  bool operator==(const Prefetch&) const = default;
};

/// How a slab is copied to shared memory. `copy`: loads and stores, complete at an implied barrier after the Stage. The
/// other transports are complete at an AsyncWait. `ahead`: loads and stores. `async`: cp.async (PTX ISA, "cp.async").
/// `tma`: tensor copies by one thread (PTX ISA, "cp.async.bulk.tensor").
enum class Transport : std::uint8_t { copy, ahead, async, tma };

/// All threads of the block together copy a slab of `source` to slot `slot` of `buffer` in shared memory. Elements
/// outside the source become 0. With more than one slot, the buffer's first index is the slot. `panel`, `pad` and
/// `swizzle` determine the physical place of an element (stage_layout.h), but not its index.
struct Stage {
  std::string buffer, source;
  DType dtype = DType::f32;    // type of the elements: the source's, or f32 if the copy converts from 16 bits
  std::vector<Expr> origin;    // one per dimension of the source; may name slab axes that walk no dimension
  std::vector<SlabAxis> slab;  // the dimensions of a slot, in order
  Transport transport = Transport::copy;
  int lanes = 0;  // elements of one copy; 0: undecided, the widest copy that source and buffer allow
  int slots = 1;
  Expr slot = 0;
  Expr when = 1;           // 0: nothing is copied, but the group is counted
  std::int64_t panel = 0;  // columns of a panel: the last dimension is stored panel after panel; 0: whole rows
  std::int64_t pad = 0;    // unused elements after each row (of a panel)
  int swizzle = 0;         // bytes of TMA's pattern: 0, 32, 64, 128; cp.async of 16 bytes can use it too
  bool pairs = false;      // for two dimensions: neighbours along the first are adjacent in memory (hardware/pairs.h)
  int prefetch = 0;        // how many rows ahead of a copy its source is prefetched
  static constexpr Levels levels = Levels::tile;
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.source), see(s.origin), see(s.slot), see(s.when), see(Use::declares, s.buffer);
  }
  bool operator==(const Stage&) const = default;
};

/// A barrier after which all but the last `keep` groups of `ahead` and `async` stages are complete. A group is a run of
/// neighbouring Stages with the same condition that are not `copy`. The `tma` stages that filled slot `slot` are
/// complete, too: the even (phase 0) or odd (phase 1) fill of this slot, counted from 0.
struct AsyncWait {
  std::int64_t keep = 0;
  Expr phase = 0, slot = 0;
  static constexpr Levels levels = Levels::tile;
  static void parts(auto& s, auto& see) { see(s.phase), see(s.slot); }
  bool operator==(const AsyncWait&) const = default;
};

/// Merges the partials of `acc` over the named thread and vector axes; afterwards all their threads and lanes hold the
/// total. If `to` is given, `over` is one thread or cluster axis: only the thread or block at position `to` along it
/// then holds the total.
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

/// Multiplies an accumulator of `add` by a factor, and so all terms that it has summed so far. Also in Kernel IR.
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
