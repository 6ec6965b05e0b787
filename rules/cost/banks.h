// Bank conflicts of shared memory: how often the banks are walked for one access of a warp (CUDA C++ Programming Guide,
// "Shared Memory": 32 banks of 4 bytes, neighbouring words in neighbouring banks; one word a bank and cycle, a word
// that several threads read is read once).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"

namespace deplo::rules {

inline constexpr int bank_count = 32, warp_lanes = 32;

/// One number per thread of a warp.
using WarpValues = std::array<std::int64_t, warp_lanes>;

/// Wavefronts of one access: threads that each move `lanes` consecutive words from `words[thread]` on. Accesses of 8
/// bytes are served by half-warps, of 16 by quarter-warps, so that each part moves at most 32 words.
int wavefronts(std::span<const std::int64_t> words, int lanes);
/// The fewest that `threads` threads can do with: one a part.
int least_wavefronts(int threads, int lanes);

/// What the threads of a warp do to a staged buffer at once: a Load, or a copy that fills it.
struct WarpAccess {
  const ir::Stage* stage = nullptr;  // the buffer's first
  const ir::Load* load = nullptr;    // nullptr: the fill
  int lanes = 1;                     // elements that a thread moves
  int threads = warp_lanes;
  double times = 1;  // of a thread in one run of the tile's body
  /// What the slab is indexed by, a WarpValues per dimension: at warps, register copies and loop rounds that stand for
  /// all others, one where all others only shift it.
  std::vector<std::vector<WarpValues>> samples;
};

/// The Loads of staged buffers and the fills that threads make, in the order of the program. Block axes and the slot
/// only shift what a warp accesses and are left out; Loads by gathered values are, too.
std::vector<WarpAccess> warp_accesses(const ir::Program& tile);

/// The first of them that costs most.
struct BankCost {
  int wavefronts = 0, least = 0;
  std::size_t sample = 0;
};
/// `layout`: the access's stage, with the panel, pad and swizzle that are asked about.
BankCost bank_cost(const WarpAccess&, const ir::Stage& layout);

/// Element of a slot in memory that `index` (one number per slab dimension) has: physical_index() in numbers.
std::int64_t physical_offset(const ir::Stage&, std::span<const std::int64_t> index);

}  // namespace deplo::rules
