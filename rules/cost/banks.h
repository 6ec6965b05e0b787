// Bank conflicts of shared memory: how many wavefronts one access of a warp takes. A wavefront takes a cycle. There are
// 32 banks of 4 bytes, with neighbouring words in neighbouring banks. A bank delivers one word per cycle; a word that
// several threads read is read once (CUDA C++ Programming Guide, "Shared Memory").
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

/// Returns how many threads are served together if each moves `lanes` consecutive words, starting at `words[thread]`:
/// as many as move 32 words, which are half-warps for 8 bytes and quarter-warps for 16. But a load of 16 bytes is
/// served by half-warps if in every pair of threads t and t ^ 1 both have the same address, or in every pair t and t ^
/// 2. This is a claim in NVIDIA's forum ("Unexpected shared memory bank conflict", 77228) for compute capability 7.0 to
/// 7.5. No manual states it; no source contradicts it for later devices.
int served_together(std::span<const std::int64_t> words, int lanes, Moves);
/// Returns the wavefronts of one access, summed over the parts of the warp.
int wavefronts(std::span<const std::int64_t> words, int lanes, Moves);

/// One access of a warp's threads to a staged buffer: a Load, a load of matrix rows by ldmatrix, or a copy that fills
/// the buffer.
struct WarpAccess {
  const ir::Stage* stage = nullptr;  // the first Stage of the buffer
  const ir::Load* load = nullptr;    // nullptr: the access fills the buffer
  int lanes = 1;                     // elements that a thread moves
  /// For a load of one element: the number of adjacent elements that consecutive iterations of an unrolled loop, or
  /// consecutive registers, load. The compiler merges them into one access if the layout keeps them aligned.
  int run = 1;
  int threads = ir::gpu::warp;
  double times = 1;  // executions by a thread in one run of the tile's body
  /// Indices in the slab, with a WarpValues per dimension, for warps, register copies and loop iterations that
  /// represent all others. There is one sample if all others only shift it.
  std::vector<std::vector<WarpValues>> samples;
};

/// Which loops count as unrolled: those that are marked, or all, for rules that run before mark_unroll.
enum class Unrolled : std::uint8_t { as_marked, all };

/// Returns the Loads of staged buffers, and the fills by threads, in program order. Loads by gathered values are left
/// out. Block axes and the slot are left out of the indices, because they only shift what a warp accesses.
std::vector<WarpAccess> warp_accesses(const ir::Program& tile, Unrolled);
/// Returns only the accesses to one buffer.
std::vector<WarpAccess> warp_accesses(const ir::Program& tile, Unrolled, const std::string& buffer);
/// Returns the accesses without samples that repeat earlier ones, because these cost the same in each layout.
std::vector<WarpAccess> without_repeats(std::vector<WarpAccess>);

/// The cost of the most expensive sample, or of the first one among equals.
struct BankCost {
  int lanes = 1;  // elements that one access moves; for a run, as many as the layout allows
  int wavefronts = 0, min_wavefronts = 0;
  std::size_t sample = 0;
  double times = 0;  // accesses of that width
};
/// `layout`: the access's stage, with the panel, pad and swizzle to rate.
BankCost bank_cost(const WarpAccess&, const ir::Stage& layout);
/// The cost for a warp in one run of the block, summed over all accesses to the buffer of `layout`.
struct BufferCost {
  double wavefronts = 0;
  bool conflicts = false;  // whether an access takes more wavefronts than necessary
};
BufferCost buffer_cost(const std::vector<WarpAccess>&, const ir::Stage& layout);

/// Returns the number of elements in a bank's word: two of 16 bits. An access narrower than a word takes the whole
/// word.
inline std::int64_t elements_of_word(const ir::Stage& s) { return std::max<std::int64_t>(1, 4 / ir::bytes(s.dtype)); }
/// Returns the number of words in an access of `lanes` elements.
inline int width_in_words(const ir::Stage& s, int lanes) {
  return static_cast<int>(std::max<std::int64_t>(1, lanes / elements_of_word(s)));
}
/// Returns the first word that each thread of the warp accesses in one of the samples.
std::vector<std::int64_t> words_of(const WarpAccess&, const ir::Stage& layout, std::size_t sample, int lanes);

/// Returns the position in a slot's memory of the element `index` (one number per slab dimension). This is
/// physical_index() for numbers.
std::int64_t physical_offset(const ir::Stage&, std::span<const std::int64_t> index);

}  // namespace deplo::rules
