// A kernel of a user's CUDA file on the PTX machine.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "measure/host_arrays.h"
#include "measure/ptx/kernel.h"

namespace deplo::measure::ptx {

/// The arguments of a kernel: arrays, numbers, and tensor maps of arrays.
struct Arguments {
  std::vector<ir::Buffer> arrays;
  std::vector<ir::KernelSource::TensorMap> maps;
  std::vector<Parameter> parameters;  // one per argument, in order
};

/// Parses arguments such as these. "x=f32[64,32]" is an array, "n=64" an integer and "scale=0.5" a float. "m=map(x,
/// 8x64, 128)" is a tensor map of the earlier array x: its box, with as many extents as the array has dimensions, and
/// its swizzle in bytes, which may be omitted. "m=map(f32[64,64], 8x64)" is a tensor map of an array that is not itself
/// an argument. Throws Error that says what was expected.
Arguments parse_arguments(const std::vector<std::string>& texts);

struct CudaLaunch {
  std::string text, entry, architecture;  // `entry` as for decode()
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::int64_t dynamic_shared_bytes = 0;
  Arguments arguments;
};

/// A kernel that NVRTC compiles from the text. The constructor throws Error if NVRTC fails (with its first error), if
/// the machine does not execute an instruction, or if the arguments do not match the kernel's parameters.
class CudaFile {
 public:
  explicit CudaFile(const CudaLaunch&);
  /// Runs the kernel once. `seed`: of the interleaving. Throws Finding.
  LaunchResult launch(const HostArrays&, std::uint64_t seed) const;
  const std::string& entry() const { return kernel_.entry(); }

 private:
  LaunchOptions shape_;
  Kernel kernel_;
};

}  // namespace deplo::measure::ptx
