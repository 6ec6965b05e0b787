// ASCII characters in any locale, and blanks around words.
#pragma once
#include <string_view>

namespace deplo {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// A letter or an underscore: what a name may begin with.
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// The text without the blanks at its ends.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace deplo
