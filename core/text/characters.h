// ASCII characters in any locale, names, and blanks around words.
#pragma once
#include <algorithm>
#include <string_view>

namespace deplo {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// A letter or an underscore: what a name may begin with.
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// A character of a name after its first.
constexpr bool is_word_char(char c) { return is_letter(c) || is_digit(c); }
/// A name in C and Python, or one of their keywords.
constexpr bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, is_word_char);
}
/// Does the word occur in the text as a whole word?
constexpr bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_char(text[at - 1])) && (end == text.size() || !is_word_char(text[end]))) return true;
  }
  return false;
}

/// The text without the blanks at its ends.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace deplo
