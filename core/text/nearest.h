// Suggestions for misspelt names, for messages.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace deplo {

/// "; did you mean 'time'?" with the candidate nearest to `word`, or "" if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace deplo
