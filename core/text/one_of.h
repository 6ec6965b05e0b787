// Looks up a word in a list.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>

namespace deplo {

inline bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}
inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return is_one_of(word, std::span(words.begin(), words.size()));
}

}  // namespace deplo
