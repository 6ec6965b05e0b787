// A kernel of a user's CUDA file on the PTX machine.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/program.h"
#include "measure/host_arrays.h"
#include "measure/ptx/kernel.h"
#include "measure/ptx/number.h"

namespace deplo::measure::ptx {

/// An argument of a kernel: an array or a tensor map by its number, or a number.
struct Argument {
  std::string text;  // as the user wrote it, for messages
  std::variant<Parameter, Number> value;
};

struct Arguments {
  std::vector<ir::Buffer> arrays;
  std::vector<ir::KernelSource::TensorMap> maps;
  std::vector<Argument> values;  // in the order of the kernel's parameters
};

/// Parses arguments such as these. "x=f32[64,32]" is an array, "n=64" and "scale=0.5" are numbers. "m=map(x, 8x64,
/// 128)" is a tensor map of the earlier array x: its box, with as many extents as the array has dimensions, and its
/// swizzle in bytes, which may be omitted. "m=map(f32[64,64], 8x64)" is a tensor map of an array that is not itself an
/// argument. Throws Error that says what was expected.
Arguments parse_arguments(const std::vector<std::string>& texts);

/// Returns the arguments as values of the kernel's parameters: a number gets the type of its parameter. Throws Error
/// that names the argument if the parameter cannot have the value.
std::vector<Parameter> bind_arguments(const Arguments&, const Program& kernel);

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
