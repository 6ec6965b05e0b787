// Several copies of a kernel's arrays, so that each launch reads its operands from memory, not from a cache.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "measure/device.h"

namespace deplo::measure {

/// All sets together have this many times the size of the last-level cache. A factor of 2 would be enough if caches
/// replaced the least recently used line, but they do so only approximately.
inline constexpr std::int64_t cold_factor = 3;
/// Upper bound on the number of sets. A batch has no more launches than this. If a problem needs more sets, it stays
/// partly cached, and Timing::sets shows that.
inline constexpr std::int64_t max_operand_sets = 64;
/// Upper bound on the bytes of all sets together. It is far above 3 times the largest existing cache. A device that
/// reports a larger cache gets fewer sets.
inline constexpr std::int64_t max_operand_bytes = std::int64_t{1} << 30;

/// Returns clamp(ceil(3 L2 / footprint), 1, 64), but at most max_operand_bytes in total. 1 if the cache is not known.
std::size_t operand_set_count(std::int64_t footprint, std::int64_t l2_bytes);
std::int64_t footprint(const std::vector<ir::Buffer>&);

class OperandSets {
 public:
  /// Throws Error(environment) if the device does not have enough memory.
  OperandSets(Device&, const std::vector<ir::Buffer>&, std::size_t count);
  std::size_t size() const { return owned_.size(); }
  bool on_cpu() const { return on_cpu_; }
  Arrays& operator[](std::size_t index) { return *owned_.at(index); }
  /// Returns the sets for a batch of `launches` launches. They follow the sets of the previous batch, so that batches
  /// of one launch rotate, too.
  std::span<Arrays* const> next(int launches);
  /// Returns only the first set: its operands stay in the cache.
  std::span<Arrays* const> warm() const { return {ring_.data(), 1}; }

 private:
  std::vector<std::unique_ptr<Arrays>> owned_;
  std::vector<Arrays*> ring_;  // all sets twice, so that every rotation is a contiguous part
  std::size_t cursor_ = 0;
  bool on_cpu_;
};

}  // namespace deplo::measure
