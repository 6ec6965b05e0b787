#include "measure/cuda/arrays.h"

#include <fmt/format.h>

#include <algorithm>

#include "measure/check/elements.h"
#include "measure/check/red_zone.h"

namespace deplo::measure::cuda {

CudaArrays::CudaArrays(const Context& context, const std::vector<ir::Buffer>& buffers) : context_(context) {
  context_.enter();
  try {
    for (const ir::Buffer& buffer : buffers) allocate(buffer);
    context_.driver().require(context_.wait(), "write red zones");
  } catch (...) {
    for (const Address address : owned_) context_.driver().free(address);
    throw;
  }
}

CudaArrays::~CudaArrays() {
  if (owned_.empty()) return;
  context_.enter_to_free();
  for (const Address address : owned_) context_.driver().free(address);
}

// The size of the zone in front of the buffer is a multiple of every alignment that kernels require (red_zone.h).
void CudaArrays::allocate(const ir::Buffer& buffer) {
  const std::size_t size = size_in_bytes(buffer);
  Address whole = 0;
  context_.driver().require(context_.driver().allocate(&whole, size + 2 * red_zone_bytes),
                            fmt::format("allocate {} bytes for '{}'", size, buffer.name));
  owned_.push_back(whole);
  const std::size_t number = slots_.size();
  const std::vector<std::byte> zone = red_zone(number);
  copy_to(whole, zone.data(), zone.size());
  copy_to(whole + red_zone_bytes + size, zone.data(), zone.size());
  slots_.push_back({whole + red_zone_bytes, size, 0, size, number, buffer.dtype, buffer.name, 0});
  context_.driver().require(context_.wait(), "write red zones");
}

void CudaArrays::copy_to(Address to, const void* from, std::size_t bytes) const {
  context_.driver().require(context_.driver().copy_to(to, from, bytes, context_.stream()), "copy to the device");
}

void CudaArrays::copy_from(void* to, Address from, std::size_t bytes) const {
  context_.driver().require(context_.driver().copy_from(to, from, bytes, context_.stream()), "copy from the device");
}

void CudaArrays::write(std::size_t buffer, const ir::Numbers& values) {
  const Slot& slot = slots_.at(buffer);
  CHECK(values.size() * static_cast<std::size_t>(ir::bytes(slot.dtype)) == slot.size);
  write_elements(values, slot.dtype, [&](const void* from) {
    context_.enter();
    copy_to(slot.address, from, slot.size);
    // wait, because the caller may free `from` afterwards
    context_.driver().require(context_.wait(), "copy to the device");
  });
}

ir::Numbers CudaArrays::read(std::size_t buffer) {
  const Slot& slot = slots_.at(buffer);
  return read_elements(slot.size, slot.dtype, [&](void* to) {
    context_.enter();
    copy_from(to, slot.address, slot.size);
    context_.driver().require(context_.wait(), "copy from the device");
  });
}

void CudaArrays::write_bytes(std::size_t buffer, std::span<const std::uint8_t> bytes) {
  const Slot& slot = slots_.at(buffer);
  CHECK(bytes.size() <= slot.size);
  if (bytes.empty()) return;
  context_.enter();
  copy_to(slot.address, bytes.data(), bytes.size());
  context_.driver().require(context_.wait(), "copy to the device");
}

std::vector<std::uint8_t> CudaArrays::read_bytes(std::size_t buffer) {
  const Slot& slot = slots_.at(buffer);
  std::vector<std::uint8_t> bytes(slot.size);
  context_.enter();
  copy_from(bytes.data(), slot.address, slot.size);
  context_.driver().require(context_.wait(), "copy from the device");
  return bytes;
}

void CudaArrays::poison(std::size_t buffer) {
  context_.enter();
  context_.driver().require(fill(buffer, 0xff), "poison a buffer");
  context_.driver().require(context_.wait(), "poison a buffer");
}

void CudaArrays::save(std::size_t buffer) {
  Slot& slot = slots_.at(buffer);
  const std::string what = fmt::format("save the {} bytes of '{}'", slot.size, slot.name);
  const Driver& driver = context_.driver();
  context_.enter();
  if (slot.saved == 0) {
    driver.require(driver.allocate(&slot.saved, slot.size), what);
    owned_.push_back(slot.saved);
  }
  driver.require(driver.copy_within(slot.saved, slot.address, slot.size, context_.stream()), what);
  driver.require(context_.wait(), what);
}

int CudaArrays::restore(std::size_t buffer) const {
  const Slot& slot = slots_.at(buffer);
  CHECK(slot.saved != 0);
  return context_.driver().copy_within(slot.address, slot.saved, slot.size, context_.stream());
}

int CudaArrays::fill(std::size_t buffer, unsigned char byte) const {
  const Slot& slot = slots_.at(buffer);
  return context_.driver().fill(slot.address, byte, slot.size, context_.stream());
}

std::unique_ptr<Arrays> CudaArrays::view(std::span<const Place> places, const std::vector<ir::Buffer>& as) {
  return seen(places, as);
}

std::unique_ptr<CudaArrays> CudaArrays::seen(std::span<const Place> places, const std::vector<ir::Buffer>& as) const {
  CHECK(places.size() == as.size());
  std::unique_ptr<CudaArrays> result(new CudaArrays(context_));
  for (std::size_t i = 0; i < as.size(); ++i) {
    CHECK(std::count(places.begin(), places.end(), places[i]) == 1);
    const Slot& slot = slots_.at(places[i].buffer);
    const std::size_t size = size_in_bytes(as[i]), offset = static_cast<std::size_t>(places[i].offset);
    CHECK(offset + size <= slot.size);
    result->slots_.push_back(
        {slot.address + offset, size, slot.offset + offset, slot.capacity, slot.zones, as[i].dtype, as[i].name, 0});
  }
  return result;
}

std::optional<std::string> CudaArrays::overrun() {
  context_.enter();
  std::vector<std::byte> zones(slots_.size() * 2 * red_zone_bytes);
  const auto zone = [&](std::size_t i) { return std::span(zones).subspan(i * red_zone_bytes, red_zone_bytes); };
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Address whole = slots_[i].address - slots_[i].offset;
    copy_from(zone(2 * i).data(), whole - red_zone_bytes, red_zone_bytes);
    copy_from(zone(2 * i + 1).data(), whole + slots_[i].capacity, red_zone_bytes);
  }
  context_.driver().require(context_.wait(), "read red zones");
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (auto found = damage(zone(2 * i), zone(2 * i + 1), slots_[i].zones, slots_[i].name)) return found;
  return std::nullopt;
}

}  // namespace deplo::measure::cuda
