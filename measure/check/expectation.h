// Expected outputs of kernels whose statements do not define the outputs.
#pragma once
#include <map>
#include <set>
#include <string>

#include "ir/program.h"
#include "measure/check/inputs.h"
#include "measure/device.h"

namespace deplo::measure {

/// What the outputs of a kernel are compared with if no statements define them, as for the kernel of a user's file.
struct Expectation {
  std::optional<KernelCode> kernel = {};  // a kernel that runs once; its outputs are expected
  InputFiles files = {};                  // files with expected outputs, by the output's name
  InputFiles rounding = {};  // for some of these outputs: files with the differences that rounding explains
  /// Outputs that are stored in buffers of 32-bit words, with elements of another type.
  std::map<std::string, ir::DType, std::less<>> elements = {};
  std::string expression = {};  // a PyTorch expression for all outputs (expected_values.h); "": none
  std::string program = {};     // Loop IR that computes all outputs (expected_values.h); "": none
  std::set<std::string, std::less<>> ignored = {};  // outputs that are not compared
  std::set<std::string, std::less<>> summed = {};   // outputs that are compared only by their sum
  std::string name = {};                            // name of the kernel, for messages
  bool empty() const { return !kernel && files.empty() && expression.empty() && program.empty(); }
};

}  // namespace deplo::measure
