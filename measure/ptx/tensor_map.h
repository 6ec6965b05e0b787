// A tensor map, made from the same arguments that cuTensorMapEncodeTiled gets, and the copies that use it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace deplo::measure::ptx {

class GlobalMemory;
class SharedMemory;

/// The arguments of cuTensorMapEncodeTiled (CUDA driver API), with the innermost dimension first.
struct TensorMap {
  static constexpr std::size_t max_rank = 5;
  int type = 0;  // CUtensorMapDataType
  std::uint32_t rank = 1;
  std::uint64_t address = 0;
  std::array<std::uint64_t, max_rank> shape{};
  std::array<std::uint64_t, max_rank> strides{};  // bytes, from dimension 1 on
  std::array<std::uint32_t, max_rank> box{}, element_strides{};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;

  std::uint64_t element_bytes() const;
  std::uint64_t box_bytes() const;
};

/// Returns in one line why the driver would refuse these arguments, or nullopt if it would accept them.
std::optional<std::string> fault(const TensorMap&);

using Coordinates = std::array<std::int32_t, TensorMap::max_rank>;

/// Copies the box at these coordinates to shared memory at `offset`. Elements outside the tensor become 0. Throws
/// Finding if the destination is misaligned, or if the source or the destination is out of bounds. `visit_row` is
/// called with the address and size in bytes of each row in global memory.
using VisitRow = std::function<void(std::uint64_t address, std::uint64_t size)>;
void copy_box(const TensorMap&, const Coordinates&, const GlobalMemory&, SharedMemory&, std::uint64_t offset,
              const VisitRow& visit_row);

/// Applies a swizzle to an address in shared memory: bits 7 to 9 are XORed onto bits 4 to 6, as many bits as the
/// pattern has (PTX ISA, "Swizzling Modes"). `bytes`: width of the pattern, 32, 64 or 128; 0: no swizzle.
constexpr std::uint64_t swizzled(std::uint64_t address, std::uint64_t bytes) {
  return bytes == 0 ? address : address ^ ((address >> 7 & (bytes / 16 - 1)) << 4);
}

}  // namespace deplo::measure::ptx
