// What the interpreter's tests share.
#pragma once
#include <string>
#include <vector>

#include "ir/interpret.h"

namespace deplo::ir {

using Values = std::vector<double>;

/// Random inputs, outputs poisoned with NaN.
Memory random_memory(const Program& program);
/// The memory after the program has run on random inputs.
Memory run(const std::string& text);
/// What the interpreter complains of.
std::string error_of(const std::string& text);
void expect_near(const Values& found, const Values& expected);

}  // namespace deplo::ir
