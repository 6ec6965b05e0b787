// Expected outputs of a user's kernel, computed by a PyTorch expression or by a program of Loop IR.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "ir/program.h"
#include "ir/types/numbers.h"
#include "measure/check/inputs.h"

namespace deplo::measure {

/// Returns the kernel in the form in which an expression or a program computes it: outputs that are not compared become
/// inputs, and outputs that are compared only by their sum have one element.
ir::Program compared_outputs(ir::Program kernel, const std::set<std::string, std::less<>>& ignored,
                             const std::set<std::string, std::less<>>& summed);

/// Checks an expression (docs/expressions.md) against a kernel. Its inputs must be inputs of the kernel, or outputs
/// with initial contents (a fill, or one of the files), with the same number of elements. Its results must be the
/// kernel's outputs, in their order. Throws Error, prefixed by `place`.
void check_expression(const std::string& text, const ir::Program& kernel, const InputFiles& files,
                      const std::string& place);

/// Returns the values of each output, by name, computed in double. The inputs have the values that the kernel gets.
/// Throws Error.
std::map<std::string, ir::Numbers, std::less<>> evaluate_expression(const std::string& text, const ir::Program& kernel,
                                                                    std::uint64_t seed, const InputFiles& files);
/// The same with the values that `input` returns for each input of the kernel.
std::map<std::string, ir::Numbers, std::less<>> evaluate_expression(
    const std::string& text, const ir::Program& kernel, const InputFiles& files,
    const std::function<ir::Numbers(const ir::Buffer&)>& input);

/// Parses a program of Loop IR and gives it the kernel's buffers, in their order, so that its inputs get the same
/// values as the kernel's. The program's own buffers are the kernel's inputs that it reads, and all outputs. Shapes may
/// differ if the number of elements is the same. Signed integers stand for unsigned ones. Throws Error, prefixed by
/// `place`, if a buffer does not fit.
ir::Program program_for(const std::string& text, const ir::Program& kernel, const std::string& place);

}  // namespace deplo::measure
