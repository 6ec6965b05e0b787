#include "rules/cost/banks.h"

#include <algorithm>

#include "core/error.h"

namespace deplo::rules {
namespace {

// Threads that are served together: they move 32 words.
int part_size(int lanes) { return std::max(1, warp_lanes / lanes); }

// The words of one part, by bank. A word that several threads ask for is read once.
class Banks {
 public:
  void touch(std::int64_t word) {
    const auto bank = static_cast<std::size_t>(word & (bank_count - 1));
    const auto end = words_[bank].begin() + count_[bank];
    if (std::find(words_[bank].begin(), end, word) != end) return;
    *end = word;
    fullest_ = std::max(fullest_, ++count_[bank]);
  }
  int fullest() const { return fullest_; }

 private:
  std::array<std::array<std::int64_t, warp_lanes>, bank_count> words_;  // a part moves 32 words at most
  std::array<int, bank_count> count_{};
  int fullest_ = 0;
};

}  // namespace

int wavefronts(std::span<const std::int64_t> words, int lanes) {
  CHECK(lanes >= 1 && lanes <= warp_lanes && words.size() <= warp_lanes);
  int total = 0;
  const auto part = static_cast<std::size_t>(part_size(lanes));
  for (std::size_t first = 0; first < words.size(); first += part) {
    Banks banks;
    for (std::size_t t = first; t < std::min(first + part, words.size()); ++t)
      for (int lane = 0; lane < lanes; ++lane) banks.touch(words[t] + lane);
    total += banks.fullest();
  }
  return total;
}

int least_wavefronts(int threads, int lanes) { return (threads + part_size(lanes) - 1) / part_size(lanes); }

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
  if (stage.swizzle > 0) {  // as stage_layout.cpp: chunks of 4 elements
    const std::int64_t flip = row / (128 / stage.swizzle) % (stage.swizzle / 16);
    column = ((column / 4) ^ flip) * 4 + column % 4;
  }
  return (panel * rows + row) * (width + stage.pad) + column;
}

namespace {

// Where the threads' elements lie: a sum over dimensions unless panels or swizzles fold the columns.
void place(const ir::Stage& layout, const std::vector<WarpValues>& index, std::span<std::int64_t> words) {
  std::fill(words.begin(), words.end(), 0);
  if (layout.panel == 0 && layout.swizzle == 0) {
    std::int64_t stride = 1;
    for (std::size_t d = index.size(); d-- > 0;) {
      for (std::size_t t = 0; t < words.size(); ++t) words[t] += index[d][t] * stride;
      stride *= layout.slab[d].extent + (d + 1 == index.size() ? layout.pad : 0);
    }
    return;
  }
  std::vector<std::int64_t> at(index.size());
  for (std::size_t t = 0; t < words.size(); ++t) {
    for (std::size_t d = 0; d < at.size(); ++d) at[d] = index[d][t];
    words[t] = physical_offset(layout, at);
  }
}

}  // namespace

BankCost bank_cost(const WarpAccess& access, const ir::Stage& layout) {
  BankCost worst = {0, least_wavefronts(access.threads, access.lanes), 0};
  WarpValues memory;
  const std::span words(memory.data(), static_cast<std::size_t>(access.threads));
  for (std::size_t s = 0; s < access.samples.size(); ++s) {
    place(layout, access.samples[s], words);
    const int cost = wavefronts(words, access.lanes);
    if (cost > worst.wavefronts) worst = {cost, worst.least, s};
  }
  return worst;
}

}  // namespace deplo::rules
