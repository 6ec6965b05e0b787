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
#include "ir/types/types.h"

namespace deplo::ir {

struct Smem {
  std::string buffer;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::int64_t align = 16;  // bytes: the widest access of a thread, or more if TMA requires it
  /// Tile IR: the threads of a warp keep the elements in registers, as operand a of matrix instructions (mma.h). A
  /// thread writes its own elements of each fragment, and a warp reads only rows that it wrote itself. Takes no memory.
  bool registers = false;
  static constexpr Levels levels = Levels::tile_and_kernel;
  static void parts(auto& s, auto& see) { see(Use::declares, s.buffer); }
  bool operator==(const Smem&) const = default;
};
struct Init {  // acc = neutral(op)
  std::string acc;
  Type type;
  Op op = Op::add;
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
  static void parts(auto& s, auto& see) { see(Use::writes, s.buffer), see(s.prefix), see(s.tid); }
  bool operator==(const TreeHalve&) const = default;
};

/// dst = op over the values of `length` neighbouring threads, whose numbers differ only in the low bits. All of these
/// threads get the result. `length` is a power of two, at most the number of threads in a warp.
struct WarpShuffle {
  std::string dst;
  Type type;
  std::string value;
  Op op = Op::add;
  std::int64_t length = 32;
  static void parts(auto& s, auto& see) { see(Use::value, s.value), see(Use::defines, s.dst); }
  bool operator==(const WarpShuffle&) const = default;
};

// Matrix instructions of a warp (PTX ISA, "ldmatrix" and "mma"). Fragments hold bits of 16-bit elements, or f32
// (mma.h).

/// dst = one, two or four matrices of 8 rows of 16 bytes in shared memory. The index of thread 8 j + i of the warp is
/// the beginning of row i of matrix j. Thread 4 g + t gets word t of row g of each matrix: the 16-bit elements 2 t and
/// 2 t + 1 (of column g if transposed), or one f32. The type has two lanes per matrix for 16-bit elements, one for f32.
struct LdMatrix {
  std::string dst;
  Type type;
  std::string buffer;
  std::vector<Expr> index;
  bool transposed = false;
  static void parts(auto& s, auto& see) { see(Use::reads, s.buffer), see(s.index), see(Use::defines, s.dst); }
  bool operator==(const LdMatrix&) const = default;
};
/// dst = a fragment that holds the lanes of the values, in order. An f32 is rounded to nearest even if the type has 16
/// bits. Values that already are bits of the type, and f32 values for type f32, stay unchanged.
struct Pack {
  std::string dst;
  Type type;
  std::vector<std::string> values;
  static void parts(auto& s, auto& see) { see(Use::value, s.values), see(Use::defines, s.dst); }
  bool operator==(const Pack&) const = default;
};
/// Four neighbouring threads, whose numbers differ only in the two low bits, transpose their values: the pair of lanes
/// t of thread r's `dst` is thread t's values[r]. Each thread then has eight neighbouring elements of one row of the 16
/// x 8 sums, which before were spread over the four threads. An f32 is rounded to nearest even to the type of `dst`,
/// f16 or bf16 with 8 lanes. Each of the four values has two lanes.
struct QuadTranspose {
  std::string dst;
  Type type;
  std::vector<std::string> values;
  static constexpr int threads = 4;  // also the number of values and of pairs of lanes
  static void parts(auto& s, auto& see) { see(Use::value, s.values), see(Use::defines, s.dst); }
  bool operator==(const QuadTranspose&) const = default;
};
/// The warp adds a times b to 16 x 8 sums. The matrices of b begin at number `part` of its fragment. The sums of rows g
/// and 8 + g are in sums[0] and sums[1] with two lanes each, or in four scalars lane by lane. Factors of tf32 are f32
/// values that tf32 can represent (round_tf32).
struct Mma {
  std::vector<std::string> sums;
  std::string a, b;
  std::int64_t part = 0;
  std::string atom;
  static void parts(auto& s, auto& see) { see(Use::value, s.a), see(Use::value, s.b), see(Use::defines, s.sums); }
  bool operator==(const Mma&) const = default;
};

// Dot products of pairs on CPUs (hardware/pairs.h).

/// Copies bf16, for l < 16 and i < 2: buffer[index… + 2 l + i] = source[at…], i elements further along dimension `dim`
/// and l elements further along the last dimension.
struct CopyPairs {
  std::string buffer;
  std::vector<Expr> index;
  std::string source;
  std::vector<Expr> at;
  int dim = 0;
  std::vector<Expr> next() const;  // index of the second row (i = 1) in the source
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.source), see(s.at), see(Use::writes, s.buffer), see(s.index);
  }
  bool operator==(const CopyPairs&) const = default;
};
/// Transposes a block of f32 on CPUs, for i, j < size: buffer[index… + (i, j)], in the last two dimensions, =
/// source[at…], i elements further along the last dimension and j elements further along `dim`.
struct CopyTransposed {
  static constexpr bool is_size(std::int64_t n) { return n == 8 || n == 16; }  // each row is a vector of AVX or AVX-512
  std::string buffer;
  std::vector<Expr> index;
  std::string source;
  std::vector<Expr> at;
  int dim = 0;
  int size = 16;
  std::vector<Expr> row(int j) const;  // index of row j in the source
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.source), see(s.at), see(Use::writes, s.buffer), see(s.index);
  }
  bool operator==(const CopyTransposed&) const = default;
};
/// Lane l of the 16 lanes of `acc` += a[at_a…] b[at_b… + 2 l] + a[at_a… + 1] b[at_b… + 2 l + 1]. `a` and `b` are bf16.
struct DotPairs {
  std::string acc;
  std::string a;
  std::vector<Expr> at_a;
  std::string b;
  std::vector<Expr> at_b;
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.a), see(s.at_a), see(Use::reads, s.b), see(s.at_b), see(Use::defines, s.acc);
  }
  bool operator==(const DotPairs&) const = default;
};

// Matrix instructions of a warpgroup (four warps). They run concurrently with other instructions (PTX ISA,
// "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").

/// A matrix of 16-bit elements in shared memory, as a wgmma descriptor states it (PTX ISA, "Shared Memory Matrix
/// Layout"). It begins at buffer[index…]. 8 rows of `swizzle` bytes form a pattern, and the next pattern follows. The
/// rows run along k. If transposed, they run along the rows of a or the columns of b, with `leading` bytes from one
/// panel to the next.
struct SharedMatrix {
  std::string buffer;
  std::vector<Expr> index;
  bool transposed = false;
  int swizzle = 128;         // 32, 64, 128
  std::int64_t leading = 0;  // 0: one panel holds the whole matrix
  bool operator==(const SharedMatrix&) const = default;
};
/// Each warpgroup starts to add a (64 x 16) times b (16 x N) to 64 x N sums. Its warp w has the 16 rows from 16 w on,
/// laid out as in Mma: for each 8 columns two vectors of two lanes, or four scalars. If `a` is a value, each warp has
/// its rows as fragments of m16n8k16, in registers that must not change until a WgmmaWait.
struct Wgmma {
  std::vector<std::string> sums;
  std::variant<SharedMatrix, std::string> a;
  SharedMatrix b;
  std::string atom;
  static void parts(auto& s, auto& see) {
    if (auto* fragment = std::get_if<std::string>(&s.a)) see(Use::value, *fragment);
    if (auto* matrix = std::get_if<SharedMatrix>(&s.a)) see(Use::reads, matrix->buffer), see(matrix->index);
    see(Use::reads, s.b.buffer), see(s.b.index), see(Use::defines, s.sums);
  }
  bool operator==(const Wgmma&) const = default;
};
/// Orders the threads' earlier accesses to these sums and fragments before the next Wgmma.
struct WgmmaFence {
  std::vector<std::string> sums, fragments;
  static void parts(auto& s, auto& see) { see(Use::value, s.fragments), see(Use::defines, s.sums); }
  bool operator==(const WgmmaFence&) const = default;
};
struct WgmmaCommit {  // makes a group of the products since the last commit
  static void parts(auto&, auto&) {}
  bool operator==(const WgmmaCommit&) const = default;
};
/// Waits until all but the last `keep` groups are complete. Then their operands may be overwritten, and these sums may
/// be read.
struct WgmmaWait {
  std::int64_t keep = 0;
  std::vector<std::string> sums;
  static void parts(auto& s, auto& see) { see(Use::defines, s.sums); }
  bool operator==(const WgmmaWait&) const = default;
};

// Blocks of a cluster (PTX ISA, "barrier.cluster", "mapa" and "ld").

/// A barrier of all threads of all blocks of the cluster. Afterwards they see each other's earlier writes to shared
/// memory.
struct ClusterSync {
  static void parts(auto&, auto&) {}
  bool operator==(const ClusterSync&) const = default;
};
/// dst = buffer[index…], an f32 in the shared memory of block number `block` of the cluster.
struct ClusterLoad {
  std::string dst;
  Type type;
  std::string buffer;
  std::vector<Expr> index;
  Expr block;
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.buffer), see(s.index), see(s.block), see(Use::defines, s.dst);
  }
  bool operator==(const ClusterLoad&) const = default;
};

// Asynchronous copies: cp.async, mbarriers and TMA (PTX ISA, "Data Movement and Conversion Instructions").

/// The thread starts to copy `lanes` elements from global `source` to shared `buffer`: 4, 8 or 16 bytes, aligned to
/// their size.
struct CpAsyncCopy {
  std::string buffer;
  std::vector<Expr> index;
  std::string source;
  std::vector<Expr> at;
  int lanes = 1;
  static void parts(auto& s, auto& see) {
    see(Use::reads, s.source), see(s.at), see(Use::writes, s.buffer), see(s.index);
  }
  bool operator==(const CpAsyncCopy&) const = default;
};
struct CpAsyncCommit {  // makes a group of the thread's copies since its last commit
  static void parts(auto&, auto&) {}
  bool operator==(const CpAsyncCommit&) const = default;
};
/// Waits until all but the thread's last `keep` groups are complete. The block's other threads see the copies after a
/// Sync.
struct CpAsyncWait {
  std::int64_t keep = 0;
  static void parts(auto&, auto&) {}
  bool operator==(const CpAsyncWait&) const = default;
};

/// Orders the thread's earlier reads of shared memory before the copies by TMA that overwrite it and that a barrier
/// orders after this statement (PTX ISA, "fence.proxy.async"). All threads of the block execute it together. Without
/// the fence, a read may still wait in the queue of the memory unit when the copy arrives; an H200 showed this.
struct ProxyFence {
  static void parts(auto&, auto&) {}
  bool operator==(const ProxyFence&) const = default;
};
/// Declares `slots` barriers in shared memory. A phase of a barrier is complete after `count` arrivals and the bytes
/// that they expect. Thread 0 initialises the barriers; the others may use them after a Sync.
struct MbarrierInit {
  std::string barrier;
  std::int64_t slots = 1, count = 1;
  static constexpr std::int64_t object_bytes = 8;  // size and alignment of a barrier (PTX ISA, "mbarrier object")
  static void parts(auto& s, auto& see) { see(Use::declares, s.barrier); }
  bool operator==(const MbarrierInit&) const = default;
};
struct MbarrierArriveExpectTx {
  std::string barrier;
  Expr slot;
  std::int64_t bytes = 0;
  static void parts(auto& s, auto& see) { see(Use::refers, s.barrier), see(s.slot); }
  bool operator==(const MbarrierArriveExpectTx&) const = default;
};
/// The thread arrives at the barrier: threads that wait for the phase see the thread's earlier writes. With a `block`,
/// the thread arrives at the barrier of that block of the cluster (PTX ISA, "mapa").
struct MbarrierArrive {
  std::string barrier;
  Expr slot;
  std::optional<Expr> block = std::nullopt;
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
  static void parts(auto& s, auto& see) { see(Use::refers, s.barrier), see(s.slot), see(s.phase); }
  bool operator==(const MbarrierWait&) const = default;
};

/// A launch parameter: how TMA walks `source` (CUDA driver API, cuTensorMapEncodeTiled). `box`: the extents in elements
/// of one load, one per dimension of the source.
struct TmaDescriptor {
  std::string name, source;
  std::vector<std::int64_t> box;
  int swizzle = 0;  // bytes
  static void parts(auto& s, auto& see) { see(Use::reads, s.source), see(Use::declares, s.name); }
  bool operator==(const TmaDescriptor&) const = default;
};
/// The thread starts to copy the box at `coordinates` to `buffer` from `index` on, in the box's order. Elements outside
/// the source become 0. The bytes of the whole box are reported to the barrier. With `multicast` the box arrives at
/// this place in every block of the cluster, and is reported to each block's barrier.
struct TmaLoad {
  std::string buffer;
  std::vector<Expr> index;
  std::string descriptor;
  std::vector<Expr> coordinates;  // one per dimension of the source
  std::string barrier;
  Expr slot;
  bool multicast = false;
  static void parts(auto& s, auto& see) {
    see(Use::refers, s.descriptor), see(s.coordinates), see(Use::refers, s.barrier), see(s.slot);
    see(Use::writes, s.buffer), see(s.index);
  }
  bool operator==(const TmaLoad&) const = default;
};

/// Warp specialisation; stands directly in the Tile. The block gets `threads` extra threads, one of which executes the
/// body. Meanwhile the block's other threads execute the statements that follow. A Sync in those statements does not
/// involve the extra threads. Each extra thread keeps `own` registers, and each other thread gets `others` registers
/// (PTX ISA, "setmaxnreg"). 0: the registers of the launch.
struct Produce {
  std::int64_t threads = 32;
  std::int64_t own = 0, others = 0;
  Body body;
  static void parts(auto& s, auto& see) { see(s.body); }
  bool operator==(const Produce&) const = default;
};

using KernelStatements =
    Statements<Smem, Init, Sync, TreeHalve, WarpShuffle, LdMatrix, Pack, QuadTranspose, Mma, CopyPairs, CopyTransposed,
               DotPairs, Wgmma, WgmmaFence, WgmmaCommit, WgmmaWait, ClusterSync, ClusterLoad, CpAsyncCopy,
               CpAsyncCommit, CpAsyncWait, ProxyFence, MbarrierInit, MbarrierArriveExpectTx, MbarrierArrive,
               MbarrierWait, TmaDescriptor, TmaLoad, Produce>;

}  // namespace deplo::ir
