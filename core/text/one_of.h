// Looks up a word in a list.
#pragma once
#include <algorithm>
#include <span>
#include <string_view>

namespace deplo {

inline bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace deplo
