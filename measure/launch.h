// How a kernel from a user's file is launched: what ir::KernelSource has no members for.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::measure {

struct Launch {
  /// A parameter that is passed by value. The kernel's other parameters are its buffers in their order, without those
  /// that are only symbols.
  struct Scalar {
    std::size_t position = 0;         // among all parameters
    std::vector<std::uint8_t> bytes;  // as the device stores it; empty: it is local memory
    std::size_t local_bytes = 0;      // of local memory (OpenCL)
  };
  /// A buffer whose contents a __constant__ variable has (CUDA). By default the buffer is not a parameter.
  struct Symbol {
    std::size_t buffer = 0;     // its number
    std::string name;           // of the variable
    bool is_parameter = false;  // its address is a parameter, too
  };
  std::vector<std::int64_t> blocks, threads;  // of each dimension, one to three
  std::vector<Scalar> scalars = {};           // by ascending position
  std::vector<Symbol> symbols = {};
  std::string options = {};  // further ones for the compiler, separated by blanks

  /// True for a buffer that is not only a symbol.
  bool is_parameter(std::size_t buffer) const {
    return std::ranges::none_of(symbols, [&](const Symbol& s) { return s.buffer == buffer && !s.is_parameter; });
  }
};

/// "8x32 blocks of 16x4 threads"
std::string describe(const Launch&);

}  // namespace deplo::measure
