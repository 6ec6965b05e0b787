// The launch of a kernel from a user's file: the data for which ir::KernelSource has no members.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::measure {

struct Launch {
  /// A parameter that is passed by value. The kernel's other parameters are its buffers in their order, except buffers
  /// that are only symbols.
  struct Scalar {
    std::size_t position = 0;         // index among all parameters
    std::vector<std::uint8_t> bytes;  // the value as the device stores it; empty: the parameter is local memory
    std::size_t local_bytes = 0;      // size of the local memory (OpenCL)
  };
  /// A __constant__ variable (CUDA) that holds the contents of a buffer. By default the buffer is not a parameter.
  struct Symbol {
    std::size_t buffer = 0;     // the buffer's index
    std::string name;           // the variable's name
    bool is_parameter = false;  // the buffer is a parameter, too
  };
  std::vector<std::int64_t> blocks, threads;  // per dimension; one to three dimensions
  std::vector<Scalar> scalars = {};           // sorted by position
  std::vector<Symbol> symbols = {};
  std::string options = {};  // additional compiler options, separated by blanks

  /// Returns true unless the buffer is only a symbol.
  bool is_parameter(std::size_t buffer) const {
    return std::ranges::none_of(symbols, [&](const Symbol& s) { return s.buffer == buffer && !s.is_parameter; });
  }
};

/// Returns a text such as "8x32 blocks of 16x4 threads".
std::string describe(const Launch&);

}  // namespace deplo::measure
