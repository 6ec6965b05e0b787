// The words of the text form, and which names they leave.
#pragma once
#include <string_view>

#include "ir/stmt.h"

namespace deplo::ir {

/// free, reduce, BLOCK, THREAD, REG, VECTOR.
std::string_view bind_name(Bind);
std::string_view name(Transport);  // "copy", "ahead", "async", "tma"
/// Letters, digits and _, not starting with a digit, and not a word of the text form such as `for` or `inf`.
bool is_name(std::string_view);

}  // namespace deplo::ir
