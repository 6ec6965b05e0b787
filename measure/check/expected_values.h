// Expected outputs of a user's own kernel, computed by a PyTorch expression or by a program of Loop IR.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ir/program.h"
#include "ir/types/numbers.h"
#include "measure/check/inputs.h"

namespace deplo::measure {

/// Throws Error, prefixed by `place`, unless the text is an expression (docs/expressions.md) whose inputs are inputs of
/// the kernel, or outputs with initial contents (a fill, or one of the files), with as many elements, and whose results
/// are its outputs, in their order.
void check_expression(const std::string& text, const ir::Program& kernel, const InputFiles& files,
                      const std::string& place);

/// The values of each output by its name, in double. The inputs have the values that the kernel gets. Throws Error.
std::map<std::string, ir::Numbers, std::less<>> evaluate_expression(const std::string& text, const ir::Program& kernel,
                                                                    std::uint64_t seed, const InputFiles& files);
/// With the values that `input` gives for an input of the kernel.
std::map<std::string, ir::Numbers, std::less<>> evaluate_expression(
    const std::string& text, const ir::Program& kernel, const std::function<ir::Numbers(const ir::Buffer&)>& input);

/// The program of Loop IR with the kernel's buffers, in their order, so that its inputs have the values that the kernel
/// gets. Its own buffers are the kernel's inputs that it reads, and all outputs. Shapes may differ if the elements are
/// as many. Signed integers stand for unsigned ones. Throws Error, prefixed by `place`, if a buffer does not fit.
ir::Program program_for(const std::string& text, const ir::Program& kernel, const std::string& place);
/// program_for() where only the Error is of interest.
void check_program(const std::string& text, const ir::Program& kernel, const std::string& place);

}  // namespace deplo::measure
