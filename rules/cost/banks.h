// Bank conflicts of shared memory: how often the banks are walked for one access of a warp (CUDA C++ Programming Guide,
// "Shared Memory": 32 banks of 4 bytes, neighbouring words in neighbouring banks; one word a bank and cycle, a word
// that several threads read is read once). A wavefront takes a cycle.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/hardware/gpu.h"
#include "ir/program.h"

namespace deplo::rules {

/// One number per thread of a warp.
using WarpValues = std::array<std::int64_t, ir::gpu::warp>;

enum class Moves : std::uint8_t { load, store };

/// How many threads are served together when each moves `lanes` consecutive words from `words[thread]` on: so many that
/// they move 32 words, half-warps for 8 bytes and quarter-warps for 16. A load of 16 bytes is served by half-warps
/// where every pair of threads t and t ^ 1 has one address, or every pair t and t ^ 2. That is a claim of NVIDIA's
/// forum ("Unexpected shared memory bank conflict", 77228) for compute capability 7.0 to 7.5; no manual has it, and of
/// later devices nobody says otherwise.
int served_together(std::span<const std::int64_t> words, int lanes, Moves);
/// Wavefronts of one access, all parts of the warp together.
int wavefronts(std::span<const std::int64_t> words, int lanes, Moves);

/// What the threads of a warp do to a staged buffer at once: a Load, the rows of matrices that they name, or a copy that
/// fills it.
struct WarpAccess {
  const ir::Stage* stage = nullptr;  // the buffer's first
  const ir::Load* load = nullptr;    // nullptr: the fill
  int lanes = 1;                     // elements that a thread moves
  /// Of a load of one element: so many neighbours follow each other in the turns of an unrolled loop or in registers.
  /// The compiler makes one access of them where the layout keeps them aligned.
  int run = 1;
  int threads = ir::gpu::warp;
  double times = 1;  // of a thread in one run of the tile's body
  /// What the slab is indexed by, a WarpValues per dimension: at warps, register copies and loop rounds that stand for
  /// all others, one where all others only shift it.
  std::vector<std::vector<WarpValues>> samples;
};

/// Which loops are unrolled: what their marks say, or all, where mark_unroll is yet to come.
enum class Unrolled : std::uint8_t { as_marked, all };

/// The Loads of staged buffers and the fills that threads make, in the order of the program. Block axes and the slot
/// only shift what a warp accesses and are left out; Loads by gathered values are, too.
std::vector<WarpAccess> warp_accesses(const ir::Program& tile, Unrolled);

/// The first of the samples that costs most.
struct BankCost {
  int lanes = 1;  // elements that one access moves: of a run, as many as the layout allows
  int wavefronts = 0, least = 0;
  std::size_t sample = 0;
  double times = 0;  // accesses of that width
};
/// `layout`: the access's stage, with the panel, pad and swizzle that are asked about.
BankCost bank_cost(const WarpAccess&, const ir::Stage& layout);
/// Of a warp in one run of the block, all accesses of the buffer of `layout` together.
struct BufferCost {
  double wavefronts = 0;
  bool conflicts = false;  // does an access take more than it must?
};
BufferCost buffer_cost(const std::vector<WarpAccess>&, const ir::Stage& layout);

/// Elements of a bank's word: two of 16 bits. An access narrower than a word takes the whole of it.
inline std::int64_t elements_of_word(const ir::Stage& s) { return std::max<std::int64_t>(1, 4 / ir::bytes(s.dtype)); }
/// Words of an access of so many elements.
inline int width_in_words(const ir::Stage& s, int lanes) {
  return static_cast<int>(std::max<std::int64_t>(1, lanes / elements_of_word(s)));
}
/// What the threads of the warp ask for in one of the samples: the first word of each.
std::vector<std::int64_t> words_of(const WarpAccess&, const ir::Stage& layout, std::size_t sample, int lanes);

/// Element of a slot in memory that `index` (one number per slab dimension) has: physical_index() in numbers.
std::int64_t physical_offset(const ir::Stage&, std::span<const std::int64_t> index);

}  // namespace deplo::rules
