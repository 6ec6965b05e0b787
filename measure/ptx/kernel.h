// A candidate's kernel on the PTX machine.
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

/// What a launch passes: an array or a tensor map by its number, an integer, a float of as many bytes as the parameter,
/// or any value by its bytes.
struct Parameter {
  enum class Kind { array, map, integer, real, bytes } kind = Kind::array;
  std::size_t number = 0;
  std::int64_t integer = 0;
  double real = 0;
  std::vector<std::uint8_t> bytes = {};
};

class Kernel {
 public:
  /// Parses and decodes. `buffers`: those of the program, which are the first parameters; the tensor maps follow.
  /// Throws
  /// Error in one line if the machine does not execute the text, or if its parameters are others.
  Kernel(const std::string& text, const ir::KernelSource&, std::vector<ir::Buffer> buffers);
  /// With other parameters, in the order of the text's, and arrays whose contents __constant__ variables have.
  Kernel(const std::string& text, const ir::KernelSource&, std::vector<ir::Buffer> buffers,
         std::vector<Parameter> parameters, const std::vector<Launch::Symbol>& symbols = {});

  /// With floats that are elements of an arithmetic. `floats` must outlive the kernel. Throws Unproved, too.
  Kernel(const std::string& text, const ir::KernelSource&, std::vector<ir::Buffer> buffers, Floats& floats);

  /// Runs the first `blocks` blocks on these arrays. Throws Finding.
  LaunchResult launch(const HostArrays&, std::int64_t blocks, std::uint64_t seed) const;
  /// The same with a grid and blocks of several dimensions.
  LaunchResult launch(const HostArrays&, const LaunchOptions& shape) const;

  const std::string& entry() const { return program_.entry; }

 private:
  struct Run;
  /// The contents of an array are copied to a variable of the module before each launch.
  struct Constant {
    std::size_t buffer = 0, variable = 0;  // numbers in buffers_ and Program::globals
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
