// The memory of a launch: arrays in global memory, and the shared memory of a block. Every allocation knows its bounds.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/ptx/address.h"

namespace deplo::measure::ptx {

/// The arrays that a kernel may access, by number.
class GlobalMemory {
 public:
  /// Adds an array and returns the address of its first byte. The bytes must stay where they are.
  std::uint64_t add(std::uint64_t number, std::string name, std::span<std::byte> bytes);
  /// The bytes at an address; null if the `size` bytes are not within one allocation.
  std::byte* find(std::uint64_t address, std::uint64_t size) const {
    const std::uint64_t number = allocation_of(address);
    if (number >= allocations_.size()) return nullptr;
    const std::span<std::byte> bytes = allocations_[number].bytes;
    const std::uint64_t at = address - global_address(number);
    return at <= bytes.size() && size <= bytes.size() - at ? bytes.data() + at : nullptr;
  }
  /// Describes a range, as in "16 bytes at byte 2048 of 'x'".
  std::string describe(std::uint64_t address, std::uint64_t size) const;
  /// The same with the size of the array: "…, which has 2048 bytes".
  std::string describe_with_size(std::uint64_t address, std::uint64_t size) const;

 private:
  struct Allocation {
    std::string name;
    std::span<std::byte> bytes;
  };
  const Allocation* allocation(std::uint64_t address) const;  // null if no array has the address
  std::vector<Allocation> allocations_;
};

/// The shared memory of a block. Offsets begin at shared_start.
class SharedMemory {
 public:
  explicit SharedMemory(std::uint64_t size) : bytes_(size), written_(size) {}
  /// The bytes at an offset; null if the `size` bytes are not within the block's memory.
  std::byte* find(std::uint64_t offset, std::uint64_t size) {
    const std::uint64_t at = offset - shared_start;
    return at <= bytes_.size() && size <= bytes_.size() - at ? bytes_.data() + at : nullptr;
  }
  /// mark_written() and is_written() require a range that find() accepts.
  void mark_written(std::uint64_t offset, std::uint64_t size) {
    std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(offset - shared_start), size, std::uint8_t{1});
  }
  bool is_written(std::uint64_t offset, std::uint64_t size) const;
  /// Describes an offset outside of the memory, as in "byte 2048 of shared memory, which has 1024 bytes".
  std::string describe(std::uint64_t offset) const;
  /// Sets all bytes to `fill` and marks them as not written.
  void clear(std::byte fill);

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::uint8_t> written_;
};

}  // namespace deplo::measure::ptx
