#include "measure/ptx/memory.h"

#include <fmt/format.h>

#include <utility>

namespace deplo::measure::ptx {

std::uint64_t GlobalMemory::add(std::uint64_t number, std::string name, std::span<std::byte> bytes) {
  if (number >= allocations_.size()) allocations_.resize(number + 1);
  allocations_[number] = {std::move(name), bytes};
  return global_address(number);
}

const GlobalMemory::Allocation* GlobalMemory::allocation(std::uint64_t address) const {
  const std::uint64_t number = allocation_of(address);
  return number < allocations_.size() && !allocations_[number].name.empty() ? &allocations_[number] : nullptr;
}

std::string GlobalMemory::describe(std::uint64_t address, std::uint64_t size) const {
  const Allocation* const of = allocation(address);
  if (of == nullptr) return fmt::format("{} bytes at {:#x}, which is not an address in global memory", size, address);
  const auto at = static_cast<std::int64_t>(address - global_address(allocation_of(address)));
  return fmt::format("{} bytes at byte {} of '{}'", size, at, of->name);
}

std::string GlobalMemory::describe_with_size(std::uint64_t address, std::uint64_t size) const {
  const Allocation* const of = allocation(address);
  const std::string text = describe(address, size);
  return of == nullptr ? text : fmt::format("{}, which has {} bytes", text, of->bytes.size());
}

bool SharedMemory::is_written(std::uint64_t offset, std::uint64_t size) const {
  const auto first = written_.begin() + static_cast<std::ptrdiff_t>(offset - shared_start);
  return std::find(first, first + static_cast<std::ptrdiff_t>(size), 0) == first + static_cast<std::ptrdiff_t>(size);
}

std::string SharedMemory::describe(std::uint64_t offset) const {
  return fmt::format("byte {} of shared memory, which has {} bytes", static_cast<std::int64_t>(offset - shared_start),
                     bytes_.size());
}

void SharedMemory::clear(std::byte fill) {
  std::fill(bytes_.begin(), bytes_.end(), fill);
  std::fill(written_.begin(), written_.end(), std::uint8_t{0});
}

}  // namespace deplo::measure::ptx
