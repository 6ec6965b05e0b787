// The kernel of a candidate on the PTX machine.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/emit/emit.h"
#include "measure/host_arrays.h"
#include "measure/launch.h"
#include "measure/ptx/floats.h"
#include "measure/ptx/machine.h"

namespace deplo::measure::ptx {

/// An argument of a launch: an array or a tensor map by its number, or any value as its bytes.
struct Parameter {
  enum class Kind { array, map, bytes } kind = Kind::array;
  std::size_t number = 0;
  std::vector<std::uint8_t> bytes = {};
};

class Kernel {
 public:
  /// Parses and decodes the text. `buffers`: the buffers of the program. They are the first parameters; the tensor maps
  /// follow. Throws a one-line Error if the machine does not execute the text, or if the kernel has other parameters.
  Kernel(const std::string& text, const ir::KernelSource&, std::vector<ir::Buffer> buffers);
  /// The same with given parameters, in the order of the kernel's parameters. `symbols`: arrays that are copied to
  /// `__constant__` variables.
  Kernel(const std::string& text, const ir::KernelSource&, std::vector<ir::Buffer> buffers,
         std::vector<Parameter> parameters, const std::vector<Launch::Symbol>& symbols = {});

  /// The same with floats that are elements of an arithmetic. `floats` must outlive the kernel. Also throws Unproved.
  Kernel(const std::string& text, const ir::KernelSource&, std::vector<ir::Buffer> buffers, Floats& floats);

  /// Runs the first `blocks` blocks on these arrays. Throws Finding.
  LaunchResult launch(const HostArrays&, std::int64_t blocks, std::uint64_t seed) const;
  /// The same with a grid and blocks of up to three dimensions.
  LaunchResult launch(const HostArrays&, const LaunchOptions& shape) const;

  const std::string& entry() const { return program_.entry; }
  const Program& program() const { return program_; }

 private:
  struct Run;
  /// A `__constant__` variable of the module, and the array that is copied to it before each launch.
  struct Constant {
    std::size_t buffer = 0, variable = 0;  // indices into buffers_ and Program::globals
  };
  Constant constant(const Launch::Symbol&) const;
  std::vector<std::byte> parameters(const HostArrays&, GlobalMemory&, std::vector<TensorMap>&) const;

  void check_parameters() const;

  Program program_;
  ir::KernelSource source_;
  std::vector<ir::Buffer> buffers_;
  std::vector<Parameter> parameters_;
  std::vector<Constant> constants_;
  Floats* floats_ = nullptr;
};

}  // namespace deplo::measure::ptx
