// What is legal on a target: the one place for limits of threads, registers, shared memory and alignment.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// Divisors of n in [low, high], ascending.
std::vector<std::int64_t> divisors(std::int64_t n, std::int64_t low, std::int64_t high);

/// Registers that a thread's `values` outputs take: on GPUs one each, on CPUs one per vector of `lanes`.
std::int64_t registers(std::int64_t values, std::int64_t lanes, const Target&);
/// How many of them a thread may hold.
std::int64_t register_budget(const Target&);
/// Outputs of a matmul that a thread of a CPU should compute: two vectors of columns, and rows so that the sums take two
/// thirds of the registers that they may take. With 32 registers of AVX-512 that is 8 x 32, with 16 of AVX2 4 x 16; both
/// were measured best on PoCL (docs/performance.md).
std::int64_t cpu_rows(const Target&);
std::int64_t cpu_columns(const Target&);

/// 32-bit registers that a thread of a block of `threads` may have on a GPU, `blocks` of which a unit is to hold.
std::int64_t thread_registers(std::int64_t threads, const Target&, std::int64_t blocks = 1);
/// A GPU's thread, beside the accumulators and the operands of a step: three base addresses of 64 bits (6), coordinates
/// of the thread and the block (4), loop counters and bounds (4), offsets into two staged slabs (2), four elements on
/// their way to shared memory and their addresses (8).
inline constexpr std::int64_t other_registers = 24;
/// The same beside the sums of warpgroups, which ptxas cannot spill: with 48 of them it takes 74 registers (NVRTC 13.0),
/// and it gives up on 56 where there are 80. A few more are for other epilogues.
inline constexpr std::int64_t other_registers_of_warpgroups = 32;
/// An estimate of what a thread of a GPU needs for fm x fn accumulators.
std::int64_t register_tile_registers(std::int64_t fm, std::int64_t fn);
/// The same for so many accumulators with as few operands as a square tile of them reads.
std::int64_t least_registers(std::int64_t values);
/// Threads beside a block's that fill its slots (specialize_warps), and those of both.
std::int64_t producers(const ir::Body&);
std::int64_t launched_threads(const ir::Tile&);
/// Blocks of a cluster that fill a slab together, because it is the same for all of them and splits: each loads a part
/// of it for all (multicast). 1: every block loads its own.
std::int64_t sharers(const ir::Stage&, const ir::Tile&);
/// Can so many blocks load a part each? By rows of the slab's first axis, each a box of its own in shared memory.
bool splits(const ir::Stage&, std::int64_t parts);
/// Outputs of a thread: the copies over the REG and the VECTOR axes.
std::int64_t thread_values(const ir::Tile&);

/// The instructions that the copies of an unrolled loop have at most on GPUs, together: 64 KiB of 16 bytes, half of
/// what the L1.5 instruction cache holds (Jia et al., Dissecting the NVIDIA Volta GPU Architecture via
/// Microbenchmarking, 2018). ptxas takes seconds for more.
inline constexpr std::int64_t most_unrolled = 4096;
/// Of one trip of a loop that holds no other: an accumulation for each of the thread's outputs, the loads for them, the
/// other statements once.
std::int64_t trip_instructions(const ir::Loop&, const ir::Tile&);

/// What one unit runs at a time: blocks, and their part of the threads that it could run. 1 block where the target does
/// not say what a unit has. CUDA's occupancy calculator (cuda_occupancy.h).
struct Occupancy {
  std::int64_t blocks = 0;  // 0: not even one fits
  double fraction = 0;
  std::string_view
      limiter;  // what keeps a further block out: "blocks", "threads", "registers", "shared"; "": not known
};
Occupancy occupancy(std::int64_t threads, std::int64_t registers, std::int64_t shared_bytes, const Target&);

/// May one thread own fm x fn accumulators of a bm x bn block tile? fm and fn divide the tile, the threads that are
/// left fit the block, the accumulators (on CPUs as vectors of the widest kind that divides fn) and what multiplies
/// into them the registers.
bool legal_register_tile(std::int64_t bm, std::int64_t bn, std::int64_t fm, std::int64_t fn, const Target&);
/// Is there any legal (fm, fn) for the block tile?
bool legal_block_tile(std::int64_t bm, std::int64_t bn, const Target&);

/// A GPU runs warps: a block of 40 threads takes the time of 64. It also has places for so few blocks that those of one
/// warp fill half of its threads (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": 32
/// blocks and 2,048 threads a unit). Two or more whole warps? On CPUs always.
bool whole_warps(std::int64_t threads, const Target&);
/// Is there a legal (fm, fn) that leaves the block tile whole warps?
bool block_tile_of_warps(std::int64_t bm, std::int64_t bn, const Target&);
struct RegisterTile {
  std::int64_t fm = 1, fn = 1;
};
/// The register tiles that a block tile may have, by fm, then fn. On CPUs all legal ones. On GPUs those of them that
/// leave whole warps, where there are any, but for those that load too much. A thread loads fm + fn values for fm * fn
/// multiply-adds; too much are one and a half times what another tile of as many outputs loads, and more than three
/// times what the best tile loads for a multiply-add; and columns that are no whole vectors, where others are. Of the
/// register tiles of deplodock's fastest matmuls all but one are among the rest (8 x 2 in a block of 128 x 128).
std::vector<RegisterTile> register_tiles(std::int64_t bm, std::int64_t bn, const Target&);

/// The THREAD axis that a Combine merges; nullptr where it merges registers and lanes only. `shuffles`: it does so in
/// the warps' registers first, which needs neighbours and a power of two of them.
struct Merge {
  const ir::Axis* axis = nullptr;
  bool shuffles = false;
};
Merge thread_merge(const ir::Tile&, const ir::Combine&, const Target&);

/// Bytes of shared memory that the kernel of a Tile IR program declares: stages, what combines meet in, barriers.
std::int64_t shared_bytes(const ir::Program& tile, const Target&);
inline bool fits_shared(const ir::Program& tile, const Target& target) {
  return shared_bytes(tile, target) <= target.shared_bytes;
}

/// The part of the ranges' points at which a condition holds, where it bounds variables one by one; else 1.
double share_that_holds(const ir::Expr& condition, const ir::Ranges&);

/// May a copy or value of `lanes` elements start at this flat element offset? OpenCL's vloadn asks for the alignment of
/// an element only (OpenCL C, 6.15.7); CUDA's float2 and float4 for their own size (CUDA C++ Programming Guide, 5.3.2).
bool aligned(const ir::Expr& offset, int lanes, const Target&);

/// A staged buffer, at the first Stage that fills it, and the axes around that.
struct Staged {
  const ir::Stage* stage = nullptr;
  ir::Ranges scope;
};
std::vector<Staged> staged_buffers(const ir::Program& tile);

/// Along this axis, may the slab reach over the edge of the source?
bool reaches_over(const ir::Stage&, const ir::SlabAxis&, const ir::Buffer& source, const ir::Ranges& scope);

/// Elements that one copy of a slab may move, widest first, 1 always among them: powers of two that are contiguous and
/// aligned on both sides and do not reach over the edge of the source's rows.
std::vector<int> copy_widths(const ir::Stage&, const ir::Buffer& source, const Target&, const ir::Ranges& scope);

}  // namespace deplo::rules
