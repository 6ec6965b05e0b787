// How a kernel from a user's file is launched: what ir::KernelSource has no members for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::measure {

struct Launch {
  /// A parameter that is passed by value. The kernel's other parameters are its buffers without
  /// symbols, in their order.
  struct Scalar {
    std::size_t position = 0;         // among all parameters
    std::vector<std::uint8_t> bytes;  // as the device stores it; empty: it is local memory
    std::size_t local_bytes = 0;      // of local memory (OpenCL)
  };
  /// A buffer that is no parameter: its contents are those of a __constant__ variable (CUDA).
  struct Symbol {
    std::size_t buffer = 0;  // its number
    std::string name;        // of the variable
  };
  std::vector<std::int64_t> blocks, threads;  // of each dimension, one to three
  std::vector<Scalar> scalars = {};           // by ascending position
  std::vector<Symbol> symbols = {};
  std::string options = {};  // further ones for the compiler, separated by blanks
};

/// "8x32 blocks of 16x4 threads"
std::string describe(const Launch&);

}  // namespace deplo::measure
