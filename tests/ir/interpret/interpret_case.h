// Helpers for the tests of the interpreter.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/interpret/interpret.h"

namespace deplo::ir {

using Values = std::vector<double>;

/// Returns memory with random inputs, and outputs poisoned with NaN.
Memory random_memory(const Program& program);
/// Returns the memory after the program has run on random inputs.
Memory run(const std::string& text, const Limits& limits = {});
/// Returns the interpreter's error for random inputs, or "no error".
std::string error_of(const std::string& text, const Limits& limits = {});
void expect_near(const Values& found, const Values& expected);
/// Returns the text with the first occurrence of `place` replaced. Fails if there is none.
std::string with(std::string text, std::string_view place, std::string_view replacement);
/// Returns the product of the row-major matrices a[m, k] and b[k, n].
Values product(const Memory& memory, std::size_t m, std::size_t n, std::size_t k);

}  // namespace deplo::ir
