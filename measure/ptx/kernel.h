// A candidate's kernel on the PTX machine.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/emit/emit.h"
#include "measure/host_arrays.h"
#include "measure/ptx/machine.h"

namespace deplo::measure::ptx {

class Kernel {
 public:
  /// Parses and decodes. `buffers`: those of the program, which are the first parameters; the tensor maps follow. Throws
  /// Error in one line if the machine does not execute the text, or if its parameters are others.
  Kernel(const std::string& text, const ir::KernelSource&, std::vector<ir::Buffer> buffers);

  /// Runs the first `blocks` blocks on these arrays. Throws Finding.
  LaunchResult launch(const HostArrays&, std::int64_t blocks, std::uint64_t seed) const;

 private:
  struct Run;
  std::vector<std::byte> parameters(const HostArrays&, GlobalMemory&, std::vector<TensorMap>&) const;

  Program program_;
  ir::KernelSource source_;
  std::vector<ir::Buffer> buffers_;
};

}  // namespace deplo::measure::ptx
