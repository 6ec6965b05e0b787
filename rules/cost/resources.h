// Decides what is legal on a target. All limits of threads, registers, shared memory and alignment are here.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "ir/program.h"
#include "rules/analysis/matmul.h"

namespace deplo::rules {

/// Bytes of a cache line of CPUs with AVX, and of two sectors of a GPU's cache.
inline constexpr std::int64_t line_bytes = 64;

/// Returns the divisors of n in [low, high], ascending.
std::vector<std::int64_t> divisors(std::int64_t n, std::int64_t low, std::int64_t high);

/// Returns the registers that `values` outputs of a thread take: on GPUs one each, on CPUs one per vector of `lanes`.
std::int64_t registers(std::int64_t values, std::int64_t lanes, const Target&);
/// Returns how many such registers a thread may use.
std::int64_t register_budget(const Target&);
/// Return the outputs of a matmul that a thread of a CPU should compute. The rows are a third of register_budget(). The
/// columns are two vectors, or three if two would leave fewer than twelve sums. With the 32 registers of AVX-512 that
/// is 8 x 32, with the 16 of AVX2 4 x 24; both were measured to be the best on PoCL (docs/performance.md).
std::int64_t cpu_rows(const Target&);
std::int64_t cpu_columns(const Target&);
/// Returns whether the CPU has so few registers that a thread takes three vectors of columns.
bool has_few_registers(const Target&);
/// Returns up to how many rows a block reads its columns in place (reads_in_place()). With few registers it is eight
/// near rows: a copy took 0.93 to 0.98 of the time with 16 rows, 0.67 to 0.83 with 32 and 64 (AVX2). With many
/// registers, up to 16 rows read distant columns in place: a copy took 1.1 to 1.6 times as long (docs/performance.md,
/// "Few rows in place"). Up to 40 rows read near columns in place: with 48 and 64 rows, a copy took 0.84 to 1.0 of the
/// time ("Chunks ahead").
InPlaceLimits in_place_limits(const Target&);

/// Returns the 32-bit registers that a GPU thread may have if a unit must hold `blocks` blocks of `threads` threads
/// each.
std::int64_t thread_registers(std::int64_t threads, const Target&, std::int64_t blocks = 1);
/// Registers of a GPU thread besides the accumulators and the operands of a step: three base addresses of 64 bits (6),
/// coordinates of the thread and the block (4), loop counters and bounds (4), offsets into two staged slabs (2), four
/// elements on their way to shared memory and their addresses (8).
inline constexpr std::int64_t other_registers = 24;
/// Registers of a warpgroup's thread besides its sums. ptxas cannot spill the sums: with 48 sums it uses 74 registers
/// (NVRTC 13.0), and with 56 sums it fails if there are only 80 registers. A few more registers are for other
/// epilogues.
inline constexpr std::int64_t other_registers_of_warpgroups = 32;
/// Returns an estimate of the registers that a GPU thread needs for fm x fn accumulators.
std::int64_t register_tile_registers(std::int64_t fm, std::int64_t fn);
/// Returns the same for `values` accumulators, with as few operands as a square tile of them reads.
std::int64_t least_registers(std::int64_t values);
/// Returns the number of threads besides the block's own that fill the slots of its loop (specialize_warps). The second
/// function adds the block's own threads.
std::int64_t producers(const ir::Body&);
std::int64_t launched_threads(const ir::Tile&);
/// Returns the number of blocks in a cluster that fill a slab together: each block loads a part of it for all blocks
/// (multicast). They do so if the slab is the same for all of them and splits() holds. 1: every block loads the whole
/// slab.
std::int64_t sharers(const ir::Stage&, const ir::Tile&);
/// Returns whether `parts` blocks can each load a part of the slab. Parts are rows of the slab's first axis, and each
/// part must be an aligned box in shared memory.
bool splits(const ir::Stage&, std::int64_t parts);
/// Returns the number of outputs of a thread: the copies over the REG and the VECTOR axes.
std::int64_t thread_values(const ir::Tile&);

/// Upper bound on the instructions of an unrolled loop on GPUs, all copies together: 64 KiB at 16 bytes each, half of
/// the L1.5 instruction cache (Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, 2018).
/// ptxas takes seconds for longer loops.
inline constexpr std::int64_t max_unrolled = 4096;
/// Returns the instructions of one iteration of an innermost loop: an accumulation for each of the thread's outputs,
/// the loads for them, and every other statement once.
std::int64_t trip_instructions(const ir::Loop&, const ir::Tile&);

/// The blocks that one unit runs at a time: their number, and the fraction of the unit's threads that they occupy. 1
/// block if the target does not specify its units. Computed like CUDA's occupancy calculator (cuda_occupancy.h).
struct Occupancy {
  std::int64_t blocks = 0;  // 0: not even one fits
  double fraction = 0;
  std::string_view limiter;  // what prevents another block: "blocks", "threads", "registers", "shared"; "" if not known
};
Occupancy occupancy(std::int64_t threads, std::int64_t registers, std::int64_t shared_bytes, const Target&);

/// Returns whether a thread may have fm of a block's bm rows: if fm divides bm; and, on a CPU, if no divisor of bm is
/// near cpu_rows(), but fm is. The last thread is then shifted inwards and computes some rows a second time
/// (docs/ir.md, Tails).
bool legal_thread_rows(std::int64_t bm, std::int64_t fm, const Target&);
/// Returns whether one thread may own fm x fn accumulators of a bm x bn block tile. fm must be legal_thread_rows(), and
/// fn must divide bn. The resulting threads must fit in a block. The accumulators (on CPUs as vectors of the widest
/// kind that divides fn) must fit in the registers, on GPUs together with their operands.
bool legal_register_tile(std::int64_t bm, std::int64_t bn, std::int64_t fm, std::int64_t fn, const Target&);
/// Returns whether there is any legal (fm, fn) for the block tile.
bool legal_block_tile(std::int64_t bm, std::int64_t bn, const Target&);

/// Returns whether the threads form two or more whole warps. Always true on CPUs. A GPU runs warps: a block of 40
/// threads takes the time of 64. And a unit holds so few blocks that blocks of one warp fill only half of its threads
/// (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": 32 blocks and 2,048 threads per
/// unit).
bool whole_warps(std::int64_t threads, const Target&);
/// Returns whether there is a legal (fm, fn) with which the block tile has whole warps.
bool block_tile_of_warps(std::int64_t bm, std::int64_t bn, const Target&);
struct RegisterTile {
  std::int64_t fm = 1, fn = 1;
};
/// Returns the register tiles that a block tile may have, sorted by fm, then fn. On CPUs: all legal ones. On GPUs: the
/// legal ones with whole warps, if there are any, except for those that load too much:
/// - Their columns are not whole vectors, although other tiles' columns are.
/// - A thread loads fm + fn values for fm * fn multiply-adds. This is at least one and a half times what another tile
///   with as many outputs loads, or per multiply-add more than three times what the best tile loads.
/// All register tiles of deplodock's fastest matmuls are kept, except one (8 x 2 in a block of 128 x 128).
std::vector<RegisterTile> register_tiles(std::int64_t bm, std::int64_t bn, const Target&);

/// The THREAD axis that a Combine merges; nullptr if the Combine merges registers and lanes only. `shuffles`: whether
/// the Combine merges in the warps' registers first. For this, its threads must be neighbours and their number a power
/// of two.
struct Merge {
  const ir::Axis* axis = nullptr;
  bool shuffles = false;
};
Merge thread_merge(const ir::Tile&, const ir::Combine&, const Target&);

/// Returns the bytes of shared memory that the kernel of a Tile IR program declares: for stages, partial results of
/// combines, and barriers.
std::int64_t shared_bytes(const ir::Program& tile, const Target&);
inline bool fits_shared(const ir::Program& tile, const Target& target) {
  return shared_bytes(tile, target) <= target.shared_bytes;
}

/// Returns the share of the ranges' points at which a condition holds, if it bounds variables one by one; else 1.
double share_that_holds(const ir::Expr& condition, const ir::Ranges&);

/// Returns whether a copy or value of `lanes` elements may start at this flat element offset. OpenCL's vloadn requires
/// only the alignment of an element (OpenCL C, 6.15.7). CUDA's float2 and float4 require alignment to their own size
/// (CUDA C++ Programming Guide, 5.3.2).
bool aligned(const ir::Expr& offset, int lanes, const Target&);

/// The first Stage that fills a staged buffer, and the ranges of the axes around it.
struct Staged {
  const ir::Stage* stage = nullptr;
  ir::Ranges scope;
};
std::vector<Staged> staged_buffers(const ir::Program& tile);

/// Returns whether the slab can extend beyond the source along this dimension.
bool reaches_over(const ir::Stage&, std::size_t dimension, const ir::Buffer& source, const ir::Ranges& scope);

/// Returns the numbers of elements that one copy of a slab may move, widest first, always including 1. They are powers
/// of two; the elements must be contiguous and aligned on both sides, and must not extend beyond the source's rows.
std::vector<int> copy_widths(const ir::Stage&, const ir::Buffer& source, const Target&, const ir::Ranges& scope);

}  // namespace deplo::rules
