// Integers of any width, held in the integer types of C. Private to this folder.
#pragma once
#include <string>

namespace deplo::ir::elements {

/// Returns the lowest `width` bits of an expression, as a value of that width.
std::string wrapped(const std::string& value, int width);
/// Returns a value as a number of at least 32 bits, sign-extended or zero-extended.
std::string extended(const std::string& value, int width, bool with_sign);

}  // namespace deplo::ir::elements
