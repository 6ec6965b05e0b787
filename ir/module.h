// A graph of kernels: Loop programs in order of execution, and the tensors between them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/types/value_source.h"

namespace deplo::ir {

struct Tensor {
  enum class Kind : std::uint8_t { input, parameter, computed };
  Kind kind = Kind::computed;
  std::string name;    // also the name of the buffers of the kernels that read and write it
  TensorType type;     // row-major; inputs and outputs have the graph's type, but a buffer's dimensions may differ
  ValueSource source;  // set for inputs and parameters
  /// For a parameter that is stored permuted: dimension d of this tensor is dimension permutation[d] of parameter `of`,
  /// which need not be in `tensors`. Empty: the parameter is stored as given.
  std::string of;
  std::vector<int> permutation;
  /// For a tensor that lies in the memory of another tensor, `part_of`, from the byte `offset` on: a slice, or a part
  /// of a stack. Parts of one tensor may overlap only if no kernel writes them. Empty: the tensor has memory of its
  /// own.
  std::string part_of = {};
  std::int64_t offset = 0;
  bool operator==(const Tensor&) const = default;
};

struct Module {
  std::vector<Tensor> tensors;       // inputs and parameters first
  std::vector<Program> kernels;      // each after the kernels that compute the tensors it reads, or their parts
  std::vector<std::string> outputs;  // tensors, in the order of the graph's outputs
  bool operator==(const Module&) const = default;
  const Tensor* find(std::string_view tensor) const;  // nullptr: there is none
};

/// `0: x, p_weight -> rms_norm`: the kernel's number in the module, then the buffers that it reads and writes.
std::string title(const Program& kernel, std::size_t number);
/// The kernels' texts, each after a line `# TITLE` (a comment to the parser).
std::string print(const Module&);

}  // namespace deplo::ir
