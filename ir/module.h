// A graph of kernels: Loop programs in order of execution and the tensors between them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/value_source.h"

namespace deplo::ir {

struct Tensor {
  enum class Kind : std::uint8_t { input, parameter, computed };
  Kind kind = Kind::computed;
  std::string name;    // that of the buffers of the kernels that read and write it
  TensorType type;     // row-major; of inputs and outputs the graph's, which buffers may count in other dimensions
  ValueSource source;  // input, parameter
  /// A parameter stored otherwise than it was given: dimension d of this tensor is dimension permutation[d] of `of`, a
  /// parameter that need not be in `tensors` itself. Empty: as it was given.
  std::string of;
  std::vector<int> permutation;
  bool operator==(const Tensor&) const = default;
};

struct Module {
  std::vector<Tensor> tensors;       // inputs and parameters first
  std::vector<Program> kernels;      // each after the kernels whose results it reads; one output each
  std::vector<std::string> outputs;  // tensors, in the order of the graph's outputs
  bool operator==(const Module&) const = default;
  const Tensor* find(std::string_view tensor) const;  // nullptr where there is none
};

/// `0: x, p_weight -> rms_norm`: what the kernel reads and writes, after its number in the module.
std::string title(const Program& kernel, std::size_t number);
/// The kernels' texts, each after a line `# TITLE` (a comment to the parser).
std::string print(const Module&);

}  // namespace deplo::ir
