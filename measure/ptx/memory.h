// Memory of a launch: arrays in global memory, the parameters, and a block's shared memory. Every allocation knows its
// bounds.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/ptx/address.h"

namespace deplo::measure::ptx {

/// The arrays that a kernel may access, by their number.
class GlobalMemory {
 public:
  /// The bytes must stay where they are. Returns the address of the first.
  std::uint64_t add(std::uint64_t number, std::string name, std::span<std::byte> bytes);
  /// Null: not `size` bytes within one allocation.
  std::byte* find(std::uint64_t address, std::uint64_t size) const {
    const std::uint64_t number = allocation_of(address);
    if (number >= allocations_.size()) return nullptr;
    const std::span<std::byte> bytes = allocations_[number].bytes;
    const std::uint64_t at = address - global_address(number);
    return at <= bytes.size() && size <= bytes.size() - at ? bytes.data() + at : nullptr;
  }
  /// "16 bytes at byte 2048 of 'x'".
  std::string describe(std::uint64_t address, std::uint64_t size) const;
  /// "…, which has 2048 bytes".
  std::string describe_with_size(std::uint64_t address, std::uint64_t size) const;

 private:
  struct Allocation {
    std::string name;
    std::span<std::byte> bytes;
  };
  const Allocation* allocation(std::uint64_t address) const;  // null: none
  std::vector<Allocation> allocations_;
};

/// A block's shared memory. Offsets begin at shared_start.
class SharedMemory {
 public:
  explicit SharedMemory(std::uint64_t size) : bytes_(size), written_(size) {}
  std::uint64_t size() const { return bytes_.size(); }
  /// Null: not `size` bytes within the block's memory.
  std::byte* find(std::uint64_t offset, std::uint64_t size) {
    const std::uint64_t at = offset - shared_start;
    return at <= bytes_.size() && size <= bytes_.size() - at ? bytes_.data() + at : nullptr;
  }
  /// Both want a range that find() finds.
  void mark_written(std::uint64_t offset, std::uint64_t size) {
    std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(offset - shared_start), size, std::uint8_t{1});
  }
  bool is_written(std::uint64_t offset, std::uint64_t size) const;
  /// All bytes become `fill`, and count as not written.
  void clear(std::byte fill);

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::uint8_t> written_;
};

}  // namespace deplo::measure::ptx
