// Several copies of a kernel's arrays, so that each launch finds its operands in memory, not in a cache.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "measure/device.h"

namespace deplo::measure {

/// By the time that a set is used again, others of this many times the last cache were: twice would do where the least
/// recently used line is replaced, and caches only about do that.
inline constexpr std::int64_t cold_factor = 3;
/// More would not be launched in one batch. Problems too small for that stay partly cached; Timing::sets says so.
inline constexpr std::int64_t max_operand_sets = 64;
/// Of all sets; far above 3 times the largest cache there is. A device that says it has more gets fewer sets.
inline constexpr std::int64_t max_operand_bytes = std::int64_t{1} << 30;

/// clamp(ceil(3 L2 / footprint), 1, 64), and within max_operand_bytes. 1 where the cache is not known.
std::size_t operand_set_count(std::int64_t footprint, std::int64_t l2_bytes);
std::int64_t footprint(const std::vector<ir::Buffer>&);

class OperandSets {
 public:
  /// Throws Error(environment) when the device has not enough memory.
  OperandSets(Device&, const std::vector<ir::Buffer>&, std::size_t count);
  std::size_t size() const { return owned_.size(); }
  bool on_cpu() const { return on_cpu_; }
  Arrays& operator[](std::size_t index) { return *owned_.at(index); }
  /// For a batch of that many launches: the sets after those of the batch before, so that also batches of one rotate.
  std::span<Arrays* const> next(int launches);
  /// The first set alone: operands stay where the last launch left them.
  std::span<Arrays* const> warm() const { return {ring_.data(), 1}; }

 private:
  std::vector<std::unique_ptr<Arrays>> owned_;
  std::vector<Arrays*> ring_;  // twice around, so that every rotation is a part of it
  std::size_t cursor_ = 0;
  bool on_cpu_;
};

}  // namespace deplo::measure
