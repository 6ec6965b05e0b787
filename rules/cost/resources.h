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

/// 32-bit registers that a thread of a block of `threads` may have on a GPU.
std::int64_t thread_registers(std::int64_t threads, const Target&);
/// An estimate of what a thread of a GPU needs for fm x fn accumulators.
std::int64_t register_tile_registers(std::int64_t fm, std::int64_t fn);

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
