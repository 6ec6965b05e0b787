// A kernel that NVIDIA's compiler has made of a tile program: what ours is compared with.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "measure/device.h"

namespace deplo::measure {

/// What a parameter is given: the address of a buffer, by its number in the arrays, or the bytes of a number.
using KernelArgument = std::variant<std::size_t, std::vector<std::uint8_t>>;

struct TileKernel {
  std::string cubin = {}, entry = {};
  std::vector<KernelArgument> arguments = {};    // in the entry's order
  std::array<std::int64_t, 3> grid = {1, 1, 1};  // tile blocks
  std::vector<std::size_t> zeroed = {};          // buffers that are filled with 0 before each launch
};

/// In the driver of a device of open_cuda(), which must outlive it; timed as every executable is. All its tile blocks
/// are one block to whoever launches it. Fails with load_error: no cubin, one with parameters of other sizes, or one
/// that the driver does not take.
Result<std::unique_ptr<Executable>> load_tile_kernel(Device&, const TileKernel&);

}  // namespace deplo::measure
