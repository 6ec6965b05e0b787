#include "rules/cost/banks.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "ir/hardware/gpu.h"
#include "ir/hardware/stage_layout.h"

namespace deplo::rules {
namespace {

// Returns whether every thread has the same address as its partner t ^ apart, if the block has that partner.
bool in_pairs(std::span<const std::int64_t> words, std::size_t apart) {
  for (std::size_t t = 0; t < words.size(); ++t)
    if ((t ^ apart) < words.size() && words[t ^ apart] != words[t]) return false;
  return true;
}

// Counts the words of one part by bank. A word that several threads access is counted once.
class Banks {
 public:
  void touch(std::int64_t word) {
    const auto bank = static_cast<std::size_t>(word & (ir::gpu::banks - 1));
    const auto end = words_[bank].begin() + count_[bank];
    if (std::find(words_[bank].begin(), end, word) != end) return;
    *end = word;
    fullest_ = std::max(fullest_, ++count_[bank]);
  }
  int fullest() const { return fullest_; }

 private:
  std::array<std::array<std::int64_t, ir::gpu::warp>, ir::gpu::banks>
      words_;  // a part moves 32 different words at most
  std::array<int, ir::gpu::banks> count_{};
  int fullest_ = 0;
};

/// Returns true if no two different words of the part are in one bank, as in most parts.
bool is_without_conflicts(std::span<const std::int64_t> words, int lanes) {
  std::array<std::int64_t, ir::gpu::banks> in_bank;
  std::uint32_t occupied = 0;
  for (const std::int64_t first : words)
    for (std::int64_t word = first; word < first + lanes; ++word) {
      const auto bank = static_cast<std::size_t>(word & (ir::gpu::banks - 1));
      const std::uint32_t bit = std::uint32_t{1} << bank;
      if ((occupied & bit) != 0 && in_bank[bank] != word) return false;
      occupied |= bit;
      in_bank[bank] = word;
    }
  return true;
}

}  // namespace

int served_together(std::span<const std::int64_t> words, int lanes, Moves moves) {
  const bool packed = moves == Moves::load && lanes == 4 && (in_pairs(words, 1) || in_pairs(words, 2));
  return static_cast<int>(std::max<std::int64_t>(1, ir::gpu::warp / lanes) * (packed ? 2 : 1));
}

int wavefronts(std::span<const std::int64_t> words, int lanes, Moves moves) {
  CHECK(lanes >= 1 && lanes <= ir::gpu::warp && words.size() <= ir::gpu::warp);
  int total = 0;
  const auto part = static_cast<std::size_t>(served_together(words, lanes, moves));
  for (std::size_t first = 0; first < words.size(); first += part) {
    if (is_without_conflicts(words.subspan(first, std::min(part, words.size() - first)), lanes)) {
      ++total;
      continue;
    }
    Banks banks;
    for (std::size_t t = first; t < std::min(first + part, words.size()); ++t)
      for (int lane = 0; lane < lanes; ++lane) banks.touch(words[t] + lane);
    total += banks.fullest();
  }
  return total;
}

namespace {

/// Computes the position of an element of a slab. `Int` must hold all offsets of the slab; division takes a third of
/// the time in 32 bits.
template <class Int>
class Layout {
 public:
  explicit Layout(const ir::Stage& stage)
      : columns_(static_cast<Int>(ir::row_elements(stage))),
        pitch_(columns_ + static_cast<Int>(stage.pad)),
        has_panels_(stage.panel > 0) {
    for (std::size_t d = 0; d + 1 < stage.slab.size(); ++d) {
      extents_.push_back(static_cast<Int>(stage.slab[d].extent));
      rows_ *= extents_.back();
    }
    if (stage.swizzle == 0) return;  // as in stage_layout.cpp: chunks of 16 bytes
    chunk_ = static_cast<Int>(16 / ir::bytes(stage.dtype));
    chunks_ = static_cast<Int>(stage.swizzle / 16);
    same_flip_ = static_cast<Int>(128 / stage.swizzle);
  }

  /// `index(d)`: the element's index in dimension d.
  template <class Index>
  std::int64_t offset(const Index& index) const {
    Int row = 0, column = static_cast<Int>(index(extents_.size())), panel = 0;
    for (std::size_t d = 0; d < extents_.size(); ++d) row = row * extents_[d] + static_cast<Int>(index(d));
    if (has_panels_) {
      panel = column / columns_;
      column %= columns_;
    }
    if (chunks_ > 0) column = ((column / chunk_) ^ (row / same_flip_ % chunks_)) * chunk_ + column % chunk_;
    return static_cast<std::int64_t>((panel * rows_ + row) * pitch_ + column);
  }

 private:
  Int columns_, pitch_;  // elements of a row, or of a panel's row: without and with the pad
  bool has_panels_;
  std::vector<Int> extents_;                               // of all dimensions but the last
  Int rows_ = 1, chunk_ = 1, chunks_ = 0, same_flip_ = 1;  // chunks_: chunks of a pattern; 0: there is no pattern
};

}  // namespace

std::int64_t physical_offset(const ir::Stage& stage, std::span<const std::int64_t> index) {
  CHECK(index.size() == stage.slab.size());
  return Layout<std::int64_t>(stage).offset([&](std::size_t d) { return index[d]; });
}

namespace {

bool is_in_slab(const ir::Stage& layout, const std::vector<WarpValues>& index, std::size_t threads) {
  for (std::size_t d = 0; d < index.size(); ++d)
    for (std::size_t t = 0; t < threads; ++t)
      if (index[d][t] < 0 || index[d][t] >= layout.slab[d].extent) return false;
  return true;
}

template <std::int64_t divisor>
void divide(std::span<std::int64_t> words) {
  for (std::int64_t& word : words) word /= divisor;
}

// Computes the words of the threads' elements: a sum over dimensions, unless panels or swizzles fold the columns. A
// wide access begins at a multiple of its width.
void place(const ir::Stage& layout, const std::vector<WarpValues>& index, int lanes, std::span<std::int64_t> words) {
  std::fill(words.begin(), words.end(), 0);
  if (layout.panel == 0 && layout.swizzle == 0) {
    std::int64_t stride = 1;
    for (std::size_t d = index.size(); d-- > 0;) {
      for (std::size_t t = 0; t < words.size(); ++t) words[t] += index[d][t] * stride;
      stride *= layout.slab[d].extent + (d + 1 == index.size() ? layout.pad : 0);
    }
  } else {
    const auto place_all = [&](const auto& places) {
      for (std::size_t t = 0; t < words.size(); ++t)
        words[t] = places.offset([&](std::size_t d) { return index[d][t]; });
    };
    if (is_in_slab(layout, index, words.size()))
      place_all(Layout<std::uint32_t>(layout));
    else
      place_all(Layout<std::int64_t>(layout));
  }
  if (lanes > 1)
    for (std::int64_t& word : words) word -= word % lanes;
  const std::int64_t in_word = elements_of_word(layout);
  if (in_word == 2)
    divide<2>(words);
  else if (in_word == 4)
    divide<4>(words);
}

// Returns the number of elements that one access moves. Rows must begin at multiples of it.
int width_of(const WarpAccess& access, const ir::Stage& layout) {
  if (access.lanes > 1 || access.run == 1) return access.lanes;
  const std::int64_t row = ir::row_elements(layout) + layout.pad;
  const bool one_row = layout.slab.size() == 1 && layout.slots == 1 && layout.panel == 0;
  return one_row ? access.run : static_cast<int>(std::gcd<std::int64_t>(access.run, row));
}

}  // namespace

std::vector<std::int64_t> words_of(const WarpAccess& access, const ir::Stage& layout, std::size_t sample, int lanes) {
  std::vector<std::int64_t> words(static_cast<std::size_t>(access.threads));
  place(layout, access.samples[sample], access.run > 1 ? lanes : 1, words);
  return words;
}

BankCost bank_cost(const WarpAccess& access, const ir::Stage& layout) {
  const Moves moves = access.load != nullptr ? Moves::load : Moves::store;
  BankCost worst;
  worst.lanes = width_of(access, layout);
  worst.times = access.times * access.lanes / worst.lanes;
  WarpValues memory;
  const std::span words(memory.data(), static_cast<std::size_t>(access.threads));
  for (std::size_t s = 0; s < access.samples.size(); ++s) {
    place(layout, access.samples[s], access.run > 1 ? worst.lanes : 1, words);
    const int cost = wavefronts(words, width_in_words(layout, worst.lanes), moves);
    if (cost <= worst.wavefronts) continue;
    const int part = served_together(words, width_in_words(layout, worst.lanes), moves);
    worst.wavefronts = cost, worst.min_wavefronts = (access.threads + part - 1) / part, worst.sample = s;
  }
  return worst;
}

BufferCost buffer_cost(const std::vector<WarpAccess>& accesses, const ir::Stage& layout) {
  BufferCost sum;
  for (const WarpAccess& access : accesses) {
    if (access.stage->buffer != layout.buffer) continue;
    const BankCost cost = bank_cost(access, layout);
    sum.wavefronts += cost.times * cost.wavefronts;
    sum.conflicts |= cost.wavefronts > cost.min_wavefronts;
  }
  return sum;
}

}  // namespace deplo::rules
