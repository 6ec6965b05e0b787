// The keywords of the text form, and the names that are valid in it.
#pragma once
#include <string_view>

#include "ir/stmt.h"

namespace deplo::ir {

/// Returns the keyword of a binding: free, reduce, scan, BLOCK, CLUSTER, THREAD, REG or VECTOR.
std::string_view bind_name(Bind);
std::string_view name(Transport);  // "copy", "ahead", "async", "tma"
/// Whether the string consists of letters, digits and _, does not start with a digit, and is not a keyword such as
/// `for` or `inf`.
bool is_name(std::string_view);

}  // namespace deplo::ir
