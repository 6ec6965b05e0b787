// The statements that Kernel IR adds: shared memory, barriers, and asynchronous copies.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/expr.h"
#include "ir/loop.h"
#include "ir/op.h"
#include "ir/parts.h"
#include "ir/types.h"

namespace deplo::ir {

struct Smem {
  std::string buffer;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::int64_t align = 16;  // bytes; the widest access of a thread, more where TMA asks for it
  /// Tile IR: the threads of a warp keep its elements in registers, as operand a of matrix instructions (mma.h). A thread
  /// writes those that it has of each fragment, and the warp reads the rows that it wrote. No memory is taken.
  bool registers = false;
  static constexpr Levels levels = Levels::tile_and_kernel;
  static void parts(auto& s, auto& see) { see(Use::declares, s.buffer); }
  bool operator==(const Smem&) const = default;
};
struct Init {  // acc = neutral(op)
  std::string acc;
  Type type;
  Op op = Op::add;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::defines, s.acc); }
  bool operator==(const Init&) const = default;
};
struct Sync {
  static constexpr Levels levels = Levels::tile_and_kernel;
  static void parts(auto&, auto&) {}
  bool operator==(const Sync&) const = default;
};
/// for s = length/2 … 1: if (tid < s) buffer[…, tid] = op(buffer[…, tid], buffer[…, tid + s]); Sync after each step.
/// `length` is a power of two; `prefix` are the leading indices of the buffer.
struct TreeHalve {
  std::string buffer;
  Op op = Op::add;
  std::int64_t length = 1;
  std::vector<Expr> prefix;
  Expr tid;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::writes, s.buffer), see(s.prefix), see(s.tid); }
  bool operator==(const TreeHalve&) const = default;
};

/// dst = op over the values of the `length` neighbouring threads (a power of two up to the warp) whose numbers differ
/// in the low bits only; all of them get it.
struct WarpShuffle {
  std::string dst;
  Type type;
  std::string value;
  Op op = Op::add;
  std::int64_t length = 32;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::value, s.value), see(Use::defines, s.dst); }
  bool operator==(const WarpShuffle&) const = default;
};

// Matrix instructions of a warp (PTX ISA, "ldmatrix" and "mma"); fragments are bits of 16-bit elements, or f32 (mma.h).

/// dst = one, two or four matrices of 8 rows of 16 bytes in shared memory. Thread 8 j + i of the warp names where row i
/// of matrix j begins; thread 4 g + t gets word t of row g of each: elements 2 t and 2 t + 1 of 16 bits, of column g
/// where the matrices are transposed, or one f32. The type has two lanes for each matrix, or one.
struct LdMatrix {
  std::string dst;
  Type type;
  std::string buffer;
  std::vector<Expr> index;
  bool transposed = false;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::reads, s.buffer), see(s.index), see(Use::defines, s.dst); }
  bool operator==(const LdMatrix&) const = default;
};
/// dst = the lanes of the values in order, as a fragment has them: f32 are rounded to the type's 16 bits, to nearest even;
/// bits of the type, and f32 where the type is f32, stay what they are.
struct Pack {
  std::string dst;
  Type type;
  std::vector<std::string> values;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::value, s.values), see(Use::defines, s.dst); }
  bool operator==(const Pack&) const = default;
};
/// The warp adds a times b (of which the matrices begin at number `part`) to 16 x 8 sums: those of rows g and 8 + g are
/// in sums[0] and sums[1] of two lanes, or lane by lane in four. Factors of tf32 are f32 that tf32 holds (round_tf32).
struct Mma {
  std::vector<std::string> sums;
  std::string a, b;
  std::int64_t part = 0;
  std::string atom;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::value, s.a), see(Use::value, s.b), see(Use::defines, s.sums); }
  bool operator==(const Mma&) const = default;
};

// Dot products of pairs on CPUs (hardware/pairs.h).

/// buffer[index… + 2 l + i] = source[at…] of bf16, i further along dimension `dim` and l along the last, for l < 16, i < 2.
struct CopyPairs {
  std::string buffer;
  std::vector<Expr> index;
  std::string source;
  std::vector<Expr> at;
  int dim = 0;
  std::vector<Expr> next() const;  // where the second row begins, in the source
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.source), see(s.at), see(Use::writes, s.buffer), see(s.index);
  }
  bool operator==(const CopyPairs&) const = default;
};
/// A block of f32 that is turned, on CPUs: buffer[index… + (i, j)] of the last two dimensions = source[at…], i further
/// along the last dimension and j along `dim`, for i, j < 16.
struct CopyTransposed {
  static constexpr int size = 16;  // a vector of 512 bits in each row
  std::string buffer;
  std::vector<Expr> index;
  std::string source;
  std::vector<Expr> at;
  int dim = 0;
  std::vector<Expr> row(int j) const;  // of the source
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.source), see(s.at), see(Use::writes, s.buffer), see(s.index);
  }
  bool operator==(const CopyTransposed&) const = default;
};
/// acc, of 16 lanes: lane l gains a[at_a…] b[at_b… + 2 l] + a[at_a… + 1] b[at_b… + 2 l + 1], both of bf16.
struct DotPairs {
  std::string acc;
  std::string a;
  std::vector<Expr> at_a;
  std::string b;
  std::vector<Expr> at_b;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.a), see(s.at_a), see(Use::reads, s.b), see(s.at_b), see(Use::defines, s.acc);
  }
  bool operator==(const DotPairs&) const = default;
};

// Matrix instructions of a warpgroup, four warps, which run beside the other instructions (PTX ISA, "Asynchronous
// Warpgroup Level Matrix Multiply-Accumulate Instructions").

/// A matrix of 16-bit elements in shared memory, as a descriptor of wgmma says (PTX ISA, "Shared Memory Matrix Layout"):
/// it begins at buffer[index…], and 8 rows of `swizzle` bytes are a pattern, which the next one follows. Rows run along
/// k; transposed, along the rows of a or the columns of b, with `leading` bytes from one panel of them to the next.
struct SharedMatrix {
  std::string buffer;
  std::vector<Expr> index;
  bool transposed = false;
  int swizzle = 128;         // 32, 64, 128
  std::int64_t leading = 0;  // 0: one panel holds all
  bool operator==(const SharedMatrix&) const = default;
};
/// Each warpgroup starts to add a (64 x 16) times b (16 x N) to 64 x N sums; warp w of it has rows 16 w and on, as Mma has
/// them: for each 8 columns two vectors of two lanes, or four scalars. Where `a` is a value, each warp has its rows as
/// fragments of m16n8k16, in registers that stay as they are until a WgmmaWait.
struct Wgmma {
  std::vector<std::string> sums;
  std::variant<SharedMatrix, std::string> a;
  SharedMatrix b;
  std::string atom;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) {
    if (auto* fragment = std::get_if<std::string>(&s.a)) see(Use::value, *fragment);
    if (auto* matrix = std::get_if<SharedMatrix>(&s.a)) see(Use::reads, matrix->buffer), see(matrix->index);
    see(Use::reads, s.b.buffer), see(s.b.index), see(Use::defines, s.sums);
  }
  bool operator==(const Wgmma&) const = default;
};
/// What the threads did with these sums before, and with these fragments, is done when the next Wgmma begins.
struct WgmmaFence {
  std::vector<std::string> sums, fragments;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::value, s.fragments), see(Use::defines, s.sums); }
  bool operator==(const WgmmaFence&) const = default;
};
struct WgmmaCommit {  // the products since the last one are a group
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto&, auto&) {}
  bool operator==(const WgmmaCommit&) const = default;
};
/// All but the last `keep` groups are done: their operands may be overwritten, and these sums are there.
struct WgmmaWait {
  std::int64_t keep = 0;
  std::vector<std::string> sums;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::defines, s.sums); }
  bool operator==(const WgmmaWait&) const = default;
};

// Blocks of a cluster (PTX ISA, "barrier.cluster", "mapa" and "ld").

/// All threads of all blocks of the cluster reach it, and see what these wrote to shared memory before.
struct ClusterSync {
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto&, auto&) {}
  bool operator==(const ClusterSync&) const = default;
};
/// dst = buffer[index…] of shared memory, f32, as block number `block` of the cluster has it.
struct ClusterLoad {
  std::string dst;
  Type type;
  std::string buffer;
  std::vector<Expr> index;
  Expr block;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.buffer), see(s.index), see(s.block), see(Use::defines, s.dst);
  }
  bool operator==(const ClusterLoad&) const = default;
};

// Asynchronous copies: cp.async, mbarriers and TMA (PTX ISA, "Data Movement and Conversion Instructions").

/// The thread starts to copy `lanes` elements of global `source` to shared `buffer`: 4, 8 or 16 bytes, aligned to that.
struct CpAsyncCopy {
  std::string buffer;
  std::vector<Expr> index;
  std::string source;
  std::vector<Expr> at;
  int lanes = 1;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.source), see(s.at), see(Use::writes, s.buffer), see(s.index);
  }
  bool operator==(const CpAsyncCopy&) const = default;
};
struct CpAsyncCommit {  // the thread's copies since the last one are a group
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto&, auto&) {}
  bool operator==(const CpAsyncCommit&) const = default;
};
/// All but the thread's last `keep` groups have landed; the others of the block see that after a Sync.
struct CpAsyncWait {
  std::int64_t keep = 0;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto&, auto&) {}
  bool operator==(const CpAsyncWait&) const = default;
};

/// Declares `slots` barriers in shared memory, each complete after `count` arrivals and the bytes they expect; thread 0
/// initialises them, the others may use them after a Sync.
struct MbarrierInit {
  std::string barrier;
  std::int64_t slots = 1, count = 1;
  static constexpr std::int64_t object_bytes = 8;  // of each, and what it is aligned to (PTX ISA, "mbarrier object")
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::declares, s.barrier); }
  bool operator==(const MbarrierInit&) const = default;
};
struct MbarrierArriveExpectTx {
  std::string barrier;
  Expr slot;
  std::int64_t bytes = 0;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::refers, s.barrier), see(s.slot); }
  bool operator==(const MbarrierArriveExpectTx&) const = default;
};
/// The thread arrives: who waits for the phase sees what it did before. Given a `block` of the cluster, it arrives at the
/// barrier of that block (PTX ISA, "mapa").
struct MbarrierArrive {
  std::string barrier;
  Expr slot;
  std::optional<Expr> block = std::nullopt;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) {
    see(Use::refers, s.barrier), see(s.slot);
    if (s.block) see(*s.block);
  }
  bool operator==(const MbarrierArrive&) const = default;
};
/// Waits until the phase of this parity (0 or 1) is complete.
struct MbarrierWait {
  std::string barrier;
  Expr slot, phase;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::refers, s.barrier), see(s.slot), see(s.phase); }
  bool operator==(const MbarrierWait&) const = default;
};

/// A launch parameter: how the hardware walks `source` (CUDA driver API, cuTensorMapEncodeTiled). `box`: elements of
/// one load, one per dimension of the source.
struct TmaDescriptor {
  std::string name, source;
  std::vector<std::int64_t> box;
  int swizzle = 0;  // bytes
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(Use::reads, s.source), see(Use::declares, s.name); }
  bool operator==(const TmaDescriptor&) const = default;
};
/// The thread starts to copy the box at `coordinates` to `buffer` from `index` on, in the box's order; what lies
/// outside the source is 0. The bytes of the whole box are reported to the barrier. By `multicast` the box
/// arrives at this place of every block of the cluster, and is reported to the barrier of each.
struct TmaLoad {
  std::string buffer;
  std::vector<Expr> index;
  std::string descriptor;
  std::vector<Expr> coordinates;  // one per dimension of the source
  std::string barrier;
  Expr slot;
  bool multicast = false;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) {
    see(Use::refers, s.descriptor), see(s.coordinates), see(Use::refers, s.barrier), see(s.slot);
    see(Use::writes, s.buffer), see(s.index);
  }
  bool operator==(const TmaLoad&) const = default;
};

/// Warp specialisation, directly in the Tile: a block has `threads` threads more, one of which executes the body beside
/// what follows, which the others execute: a Sync there is theirs alone. Of the registers those keep `own` each, and each of
/// the others has `others` then (PTX ISA, "setmaxnreg"); 0: as the launch deals them out.
struct Produce {
  std::int64_t threads = 32;
  std::int64_t own = 0, others = 0;
  Body body;
  static constexpr Levels levels = Levels::kernel;
  static void parts(auto& s, auto& see) { see(s.body); }
  bool operator==(const Produce&) const = default;
};

using KernelStatements =
    Statements<Smem, Init, Sync, TreeHalve, WarpShuffle, LdMatrix, Pack, Mma, CopyPairs, CopyTransposed, DotPairs,
               Wgmma, WgmmaFence, WgmmaCommit, WgmmaWait, ClusterSync, ClusterLoad, CpAsyncCopy, CpAsyncCommit,
               CpAsyncWait, MbarrierInit, MbarrierArriveExpectTx, MbarrierArrive, MbarrierWait, TmaDescriptor, TmaLoad,
               Produce>;

}  // namespace deplo::ir
