#include "measure/host_arrays.h"

#include <algorithm>
#include <cstring>

#include "measure/check/elements.h"

namespace deplo::measure {

HostArrays::HostArrays(const std::vector<ir::Buffer>& buffers) {
  for (const ir::Buffer& buffer : buffers) {
    owned_.emplace_back(size_in_bytes(buffer));
    slots_.push_back({owned_.back(), buffer.dtype});
  }
}

void HostArrays::write(std::size_t buffer, const ir::Numbers& values) {
  const Slot& slot = slots_.at(buffer);
  CHECK(values.size() * static_cast<std::size_t>(ir::bytes(slot.dtype)) == slot.bytes.size());
  encode(values, slot.dtype, slot.bytes.data());
}

ir::Numbers HostArrays::read(std::size_t buffer) { return decode(slots_.at(buffer).bytes, slots_.at(buffer).dtype); }

void HostArrays::write_bytes(std::size_t buffer, std::span<const std::uint8_t> bytes) {
  const std::span<std::byte> to = slots_.at(buffer).bytes;
  CHECK(bytes.size() <= to.size());
  if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
}

std::vector<std::uint8_t> HostArrays::read_bytes(std::size_t buffer) {
  const std::span<std::byte> from = slots_.at(buffer).bytes;
  std::vector<std::uint8_t> bytes(from.size());
  if (!bytes.empty()) std::memcpy(bytes.data(), from.data(), bytes.size());
  return bytes;
}

void HostArrays::poison(std::size_t buffer) {
  std::memset(slots_.at(buffer).bytes.data(), 0xff, slots_.at(buffer).bytes.size());
}

void HostArrays::save(std::size_t buffer) {
  Slot& slot = slots_.at(buffer);
  slot.saved.assign(slot.bytes.begin(), slot.bytes.end());
}

void HostArrays::restore(std::size_t buffer) {
  const Slot& slot = slots_.at(buffer);
  CHECK(slot.saved.size() == slot.bytes.size());
  std::ranges::copy(slot.saved, slot.bytes.begin());
}

std::unique_ptr<Arrays> HostArrays::view(std::span<const Place> places, const std::vector<ir::Buffer>& as) {
  CHECK(places.size() == as.size());
  auto result = std::make_unique<HostArrays>(std::vector<ir::Buffer>{});
  for (std::size_t i = 0; i < as.size(); ++i) {
    CHECK(std::count(places.begin(), places.end(), places[i]) == 1);
    const std::span<std::byte> bytes = slots_.at(places[i].buffer).bytes;
    const auto offset = static_cast<std::size_t>(places[i].offset);
    CHECK(offset + size_in_bytes(as[i]) <= bytes.size());
    result->slots_.push_back({bytes.subspan(offset, size_in_bytes(as[i])), as[i].dtype});
  }
  return result;
}

}  // namespace deplo::measure
