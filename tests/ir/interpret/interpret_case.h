// What the interpreter's tests share.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/interpret/interpret.h"

namespace deplo::ir {

using Values = std::vector<double>;

/// Random inputs, outputs poisoned with NaN.
Memory random_memory(const Program& program);
/// The memory after the program has run on random inputs.
Memory run(const std::string& text, const Limits& limits = {});
/// What the interpreter complains of.
std::string error_of(const std::string& text, const Limits& limits = {});
void expect_near(const Values& found, const Values& expected);
/// The text with one place of it replaced; what stands there must occur.
std::string with(std::string text, std::string_view place, std::string_view replacement);
/// The product of the row-major matrices a[m, k] and b[k, n].
Values product(const Memory& memory, std::size_t m, std::size_t n, std::size_t k);

}  // namespace deplo::ir
