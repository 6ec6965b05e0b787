// The copies that use a tensor map. The machine has the arguments of cuTensorMapEncodeTiled as the map.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "measure/cuda/tensor_map.h"

namespace deplo::measure::ptx {

class GlobalMemory;
class SharedMemory;

using TensorMap = cuda::TiledArguments;

std::uint64_t box_bytes(const TensorMap&);

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
