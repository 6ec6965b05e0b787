// What the outputs of a kernel are compared with where its statements do not say it.
#pragma once
#include <map>
#include <set>
#include <string>

#include "ir/program.h"
#include "measure/check/inputs.h"
#include "measure/device.h"

namespace deplo::measure {

/// What the outputs of a kernel are compared with if no statements say it: the kernel of a user's file.
struct Expectation {
  std::optional<KernelCode> kernel = {};  // runs once; its outputs are expected
  InputFiles files = {};                  // expected outputs, by name
  InputFiles rounding = {};               // of some of these: the differences that rounding explains
  /// Outputs whose buffers are words of 32 bits that hold elements of another type.
  std::map<std::string, ir::DType, std::less<>> elements = {};
  std::string expression = {};                      // of PyTorch, for all outputs (expected_values.h); "": none
  std::string program = {};                         // Loop IR that computes all outputs (expected_values.h); "": none
  std::set<std::string, std::less<>> ignored = {};  // outputs that are not compared
  std::set<std::string, std::less<>> summed = {};   // outputs of which the sum alone is compared
  std::string name = {};                            // of the kernel, for messages
  bool empty() const { return !kernel && files.empty() && expression.empty() && program.empty(); }
};

/// The kernel as an expression or a program computes it: outputs that are not compared count as inputs, and outputs of
/// which the sum is compared have this one element.
ir::Program compared_outputs(ir::Program kernel, const std::set<std::string, std::less<>>& ignored,
                             const std::set<std::string, std::less<>>& summed);

}  // namespace deplo::measure
