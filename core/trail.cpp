#include "core/trail.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text/match.h"
#include "core/text/number.h"

namespace deplo {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

Choice parse_choice(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size())
    throw Error("expected knob=value, found '" + std::string(word) + "' in the trail");
  return {std::string(word.substr(0, equals)), parse_value(word.substr(equals + 1))};
}

}  // namespace

std::string print(const Value& value) {
  return match(
      value, [](std::int64_t integer) { return std::to_string(integer); },
      [](const std::string& text) { return text; });
}

Value parse_value(std::string_view text) {
  if (const auto integer = parse_number<std::int64_t>(text)) return *integer;
  return std::string(text);
}

std::string print(const Trail& trail) {
  std::string text;
  for (const Choice& choice : trail) {
    if (!text.empty()) text += ' ';
    text += choice.knob;
    text += '=';
    text += print(choice.value);
  }
  return text;
}

std::string trail_word(std::string_view text, std::string_view more) {
  std::string word;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '%' || more.find(c) != std::string_view::npos)
      word += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      word += c;
  }
  return word.empty() ? "%" : word;
}

Trail parse_trail(std::string_view text) {
  Trail trail;
  for (auto at = std::ranges::find_if_not(text, is_blank); at != text.end();) {
    const auto end = std::find_if(at, text.end(), is_blank);
    trail.push_back(
        parse_choice(text.substr(static_cast<std::size_t>(at - text.begin()), static_cast<std::size_t>(end - at))));
    at = std::find_if_not(end, text.end(), is_blank);
  }
  return trail;
}

}  // namespace deplo
