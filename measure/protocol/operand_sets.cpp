#include "measure/protocol/operand_sets.h"

#include <algorithm>

#include "measure/check/elements.h"

namespace deplo::measure {

std::int64_t footprint(const std::vector<ir::Buffer>& buffers) {
  std::int64_t bytes = 0;
  for (const ir::Buffer& buffer : buffers) bytes += static_cast<std::int64_t>(size_in_bytes(buffer));
  return bytes;
}

std::size_t operand_set_count(std::int64_t footprint, std::int64_t l2_bytes) {
  const std::int64_t set_bytes = std::max<std::int64_t>(footprint, 1);
  const std::int64_t cold = (cold_factor * l2_bytes + set_bytes - 1) / set_bytes;
  const std::int64_t affordable = std::max<std::int64_t>(max_operand_bytes / set_bytes, 1);
  return static_cast<std::size_t>(std::min(std::clamp<std::int64_t>(cold, 1, max_operand_sets), affordable));
}

OperandSets::OperandSets(Device& device, const std::vector<ir::Buffer>& buffers, std::size_t count)
    : on_cpu_(device.info().cpu) {
  CHECK(count >= 1);
  for (std::size_t i = 0; i < count; ++i) ring_.push_back(owned_.emplace_back(device.allocate(buffers)).get());
  ring_.insert(ring_.end(), ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(count));
}

std::span<Arrays* const> OperandSets::next(int launches) {
  const std::size_t used = std::min(static_cast<std::size_t>(launches), size());
  const std::span<Arrays* const> sets{ring_.data() + cursor_, used};
  cursor_ = (cursor_ + static_cast<std::size_t>(launches)) % size();
  return sets;
}

}  // namespace deplo::measure
