// Parts of a text. They are views into the text.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

namespace deplo {

/// Returns the parts between the separators. An empty text has one empty part.
inline std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Returns the lines without their line breaks. There is no line after a line break that ends the text.
inline std::vector<std::string_view> lines_of(std::string_view text, char line_break = '\n') {
  if (text.empty()) return {};
  if (text.back() == line_break) text.remove_suffix(1);
  return split_at(text, line_break);
}

}  // namespace deplo
