#include "rules/cost/banks.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "ir/hardware/gpu.h"

namespace deplo::rules {
namespace {

// Has every thread the address of its partner? Beyond the last thread of a block there is nobody.
bool in_pairs(std::span<const std::int64_t> words, std::size_t apart) {
  for (std::size_t t = 0; t < words.size(); ++t)
    if ((t ^ apart) < words.size() && words[t ^ apart] != words[t]) return false;
  return true;
}

// The words of one part, by bank. A word that several threads ask for is read once.
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

/// True if no two different words of the part are in one bank, as in most parts.
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

std::int64_t physical_offset(const ir::Stage& stage, std::span<const std::int64_t> index) {
  CHECK(index.size() == stage.slab.size());
  std::int64_t row = 0, rows = 1, column = index.back(), panel = 0;
  for (std::size_t d = 0; d + 1 < index.size(); ++d) {
    row = row * stage.slab[d].extent + index[d];
    rows *= stage.slab[d].extent;
  }
  const std::int64_t width = stage.panel > 0 ? stage.panel : stage.slab.back().extent;
  if (stage.panel > 0) {
    panel = column / width;
    column %= width;
  }
  if (stage.swizzle > 0) {  // as stage_layout.cpp: chunks of 16 bytes
    const std::int64_t flip = row / (128 / stage.swizzle) % (stage.swizzle / 16), chunk = 16 / ir::bytes(stage.dtype);
    column = ((column / chunk) ^ flip) * chunk + column % chunk;
  }
  return (panel * rows + row) * (width + stage.pad) + column;
}

namespace {

/// physical_offset() for all threads. Offsets in a slab have 32 bits, in which division takes a third of the time.
void fold_columns(const ir::Stage& layout, const std::vector<WarpValues>& index, std::span<std::int64_t> words) {
  const auto width = static_cast<std::uint32_t>(layout.panel > 0 ? layout.panel : layout.slab.back().extent),
             pitch = static_cast<std::uint32_t>(width + layout.pad),
             chunk = static_cast<std::uint32_t>(16 / ir::bytes(layout.dtype)),
             chunks = static_cast<std::uint32_t>(layout.swizzle / 16),
             same_flip = layout.swizzle > 0 ? static_cast<std::uint32_t>(128 / layout.swizzle) : 1;
  std::uint32_t rows = 1;
  for (std::size_t d = 0; d + 1 < index.size(); ++d) rows *= static_cast<std::uint32_t>(layout.slab[d].extent);
  for (std::size_t t = 0; t < words.size(); ++t) {
    std::uint32_t row = 0, column = static_cast<std::uint32_t>(index.back()[t]), panel = 0;
    for (std::size_t d = 0; d + 1 < index.size(); ++d)
      row = row * static_cast<std::uint32_t>(layout.slab[d].extent) + static_cast<std::uint32_t>(index[d][t]);
    if (layout.panel > 0) {
      panel = column / width;
      column %= width;
    }
    if (layout.swizzle > 0) column = ((column / chunk) ^ (row / same_flip % chunks)) * chunk + column % chunk;
    words[t] = (panel * rows + row) * pitch + column;
  }
}

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

// Where the threads' elements lie: a sum over dimensions unless panels or swizzles fold the columns. A wide access
// begins at a multiple of its width.
void place(const ir::Stage& layout, const std::vector<WarpValues>& index, int lanes, std::span<std::int64_t> words) {
  std::fill(words.begin(), words.end(), 0);
  if (layout.panel == 0 && layout.swizzle == 0) {
    std::int64_t stride = 1;
    for (std::size_t d = index.size(); d-- > 0;) {
      for (std::size_t t = 0; t < words.size(); ++t) words[t] += index[d][t] * stride;
      stride *= layout.slab[d].extent + (d + 1 == index.size() ? layout.pad : 0);
    }
  } else if (is_in_slab(layout, index, words.size())) {
    fold_columns(layout, index, words);
  } else {
    std::vector<std::int64_t> at(index.size());
    for (std::size_t t = 0; t < words.size(); ++t) {
      for (std::size_t d = 0; d < at.size(); ++d) at[d] = index[d][t];
      words[t] = physical_offset(layout, at);
    }
  }
  if (lanes > 1)
    for (std::int64_t& word : words) word -= word % lanes;
  const std::int64_t in_word = elements_of_word(layout);
  if (in_word == 2)
    divide<2>(words);
  else if (in_word == 4)
    divide<4>(words);
}

// Rows must begin where the access may.
int width_of(const WarpAccess& access, const ir::Stage& layout) {
  if (access.lanes > 1 || access.run == 1) return access.lanes;
  const std::int64_t row = (layout.panel > 0 ? layout.panel : layout.slab.back().extent) + layout.pad;
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
    worst.wavefronts = cost, worst.least = (access.threads + part - 1) / part, worst.sample = s;
  }
  return worst;
}

BufferCost buffer_cost(const std::vector<WarpAccess>& accesses, const ir::Stage& layout) {
  BufferCost sum;
  for (const WarpAccess& access : accesses) {
    if (access.stage->buffer != layout.buffer) continue;
    const BankCost cost = bank_cost(access, layout);
    sum.wavefronts += cost.times * cost.wavefronts;
    sum.conflicts |= cost.wavefronts > cost.least;
  }
  return sum;
}

}  // namespace deplo::rules
