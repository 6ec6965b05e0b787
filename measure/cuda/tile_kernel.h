// A kernel that NVIDIA's compiler has built from a tile program. deplo's kernels are compared with it.
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

/// The value of a parameter: the address of a buffer (given by its index in the arrays), or the bytes of a number.
using KernelArgument = std::variant<std::size_t, std::vector<std::uint8_t>>;

struct TileKernel {
  std::string cubin = {}, entry = {};
  std::vector<KernelArgument> arguments = {};    // in the order of the entry's parameters
  std::array<std::int64_t, 3> grid = {1, 1, 1};  // in tile blocks
  std::vector<std::size_t> zeroed = {};          // buffers that are filled with 0 before each launch
};

/// Loads the kernel on a device of open_cuda(), which must outlive the executable. The executable has a grid of one
/// block, which stands for all tile blocks. Fails with load_error if the bytes are not a cubin, if its parameters have
/// other sizes, or if the driver does not load it.
Result<std::unique_ptr<Executable>> load_tile_kernel(Device&, const TileKernel&);

}  // namespace deplo::measure
