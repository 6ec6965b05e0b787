// The sizes of a kernel's launches, as expressions of its parameters and of the problem size.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/foreign/parameter_space.h"

namespace deplo::engine::foreign {

/// A configuration has a value for each parameter of the space.
struct LaunchSizes {
  std::string place;  // the space's file, for messages
  std::shared_ptr<const ParameterSpace> space = {};
  std::vector<std::int64_t> problem = {};  // the problem size
  std::vector<Expression> block = {};      // threads of each dimension
  std::vector<Expression> global = {};     // blocks or threads of each dimension, unless there are divisors
  bool in_blocks = true;                   // as `global` counts
  std::array<std::vector<Expression>, 3> divisors = {};  // the problem size by these, rounded up, is the blocks' number
  std::optional<Expression> shared = {};  // bytes of shared memory beyond those that the kernel declares (CUDA)

  /// Throws Error if it is no number of 1 to 2^31. `what`: for messages.
  std::int64_t size(const Expression&, const std::vector<Scalar>& configuration, const char* what) const;
  /// The greatest size among the legal configurations.
  std::int64_t largest(const Expression&) const;
  std::vector<std::int64_t> threads(const std::vector<Scalar>& configuration) const;
  /// `each_block`: its threads.
  std::vector<std::int64_t> blocks(const std::vector<Scalar>& configuration,
                                   const std::vector<std::int64_t>& each_block) const;
  /// Whether a size depends on this parameter.
  bool use(const std::string& parameter) const;

 private:
  std::vector<Operand> operands(const Expression&, const std::vector<Scalar>& configuration) const;
};

}  // namespace deplo::engine::foreign
