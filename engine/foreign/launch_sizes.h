// The launch sizes of a kernel, as expressions of its parameters and of the problem size.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/foreign/parameter_space.h"

namespace deplo::engine::foreign {

/// The launch sizes of a kernel. A configuration has one value for each parameter of the space. It may be empty if the
/// expression contains no parameter. All names in the expressions must be ProblemSize or parameters.
struct LaunchSizes {
  std::string place;  // the space's file, for messages
  std::shared_ptr<const ParameterSpace> space = {};
  std::vector<std::int64_t> problem = {};  // the problem size
  std::vector<Expression> block = {};      // threads in each dimension
  std::vector<Expression> global = {};     // blocks or threads in each dimension; unused if there are divisors
  bool in_blocks = true;                   // true: `global` counts blocks; false: it counts threads
  // number of blocks = problem size / product of the divisors, rounded up
  std::array<std::vector<Expression>, 3> divisors = {};
  std::optional<Expression> shared = {};  // bytes of dynamic shared memory, beyond what the kernel declares (CUDA)

  /// Returns the value of a size, rounded up. Throws Error unless it is a number from `least` to 2^31. `what` is for
  /// messages.
  std::int64_t size(const Expression&, const std::vector<Scalar>& configuration, const char* what,
                    std::int64_t least = 1) const;
  /// Returns the greatest value of the size over all legal configurations.
  std::int64_t largest(const Expression&) const;
  std::vector<std::int64_t> threads(const std::vector<Scalar>& configuration) const;
  /// Returns the number of blocks in each dimension. `each_block` has the threads of a block.
  std::vector<std::int64_t> blocks(const std::vector<Scalar>& configuration,
                                   const std::vector<std::int64_t>& each_block) const;
  /// Returns true if a launch size depends on this parameter.
  bool use(const std::string& parameter) const;

 private:
  std::vector<Operand> operands(const Expression&, const std::vector<Scalar>& configuration) const;
  std::string in(const std::vector<Scalar>& configuration) const;
};

}  // namespace deplo::engine::foreign
