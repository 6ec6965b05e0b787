// The difference of two texts, line by line, as `diff -u` shows it.
#pragma once
#include <string>
#include <string_view>

namespace deplo::apps {

/// Returns hunks with three lines of context; "" if the texts are equal.
std::string unified_diff(std::string_view before, std::string_view after);

}  // namespace deplo::apps
