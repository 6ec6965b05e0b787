// How a kernel from a user's file is launched: what ir::KernelSource has no members for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::measure {

struct Launch {
  /// A parameter that is passed by value. The kernel's other parameters are its buffers, in their order.
  struct Scalar {
    std::size_t position = 0;         // among all parameters
    std::vector<std::uint8_t> bytes;  // as the device stores it
  };
  std::vector<std::int64_t> blocks, threads;  // of each dimension, one to three
  std::vector<Scalar> scalars = {};           // by ascending position
  std::string options = {};                   // further ones for the compiler, separated by blanks
};

}  // namespace deplo::measure
