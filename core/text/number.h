// Numbers written as text.
#pragma once
#include <charconv>
#include <optional>
#include <string_view>

namespace deplo {

/// Returns the number that the whole text is. Returns nullopt for any other text, and for a number that does not fit.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace deplo
