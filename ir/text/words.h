// The keywords of the text form, and the names that are valid in it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ir/stmt.h"

namespace deplo::ir {

/// free, reduce, BLOCK, CLUSTER, THREAD, REG, VECTOR.
std::string_view bind_name(Bind);
std::string_view name(Transport);  // "copy", "ahead", "async", "tma"
/// A text in quotes. Quotes, backslashes, and bytes that are not printable ASCII become `\\ooo`, three octal digits.
std::string quoted(std::string_view);
/// The text of a token in quotes; nullopt if a backslash has no three octal digits of a byte.
std::optional<std::string> unquoted(std::string_view token);
/// Whether it consists of letters, digits and _, does not start with a digit, and is not a keyword such as `for` or
/// `inf`.
bool is_name(std::string_view);

}  // namespace deplo::ir
