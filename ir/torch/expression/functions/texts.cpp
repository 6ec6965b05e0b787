// Python's methods of strings.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text/characters.h"
#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {
namespace texts {
namespace {

constexpr std::string_view blank = " \t\n\r\v\f";

std::string_view text_of(const Call& c, std::string_view parameter) {
  const auto* s = c.value(parameter).as<std::string_view>();
  if (!s) c.fail(parameter, "a string");
  return *s;
}

Value to_string(const Call& c) { return {c.session.text(c.has("object") ? to_text(c.value("object")) : "")}; }

Value representation(const Call& c) { return {c.session.text(formatted(c.value("object"), "!r"))}; }

bool is_upper(char letter) { return letter >= 'A' && letter <= 'Z'; }
bool is_letter(char letter) { return is_upper(letter) || (letter >= 'a' && letter <= 'z'); }
char with_case(char letter, bool upper) {
  if (!is_letter(letter) || is_upper(letter) == upper) return letter;
  return static_cast<char>(upper ? letter - 'a' + 'A' : letter - 'A' + 'a');
}

template <bool upper>
Value cased(const Call& c) {
  std::string text(text_of(c, "self"));
  for (char& letter : text) letter = with_case(letter, upper);
  return {c.session.text(std::move(text))};
}
Value capitalize(const Call& c) {
  std::string text(text_of(c, "self"));
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = with_case(text[i], i == 0);
  return {c.session.text(std::move(text))};
}
Value title(const Call& c) {
  std::string text(text_of(c, "self"));
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = with_case(text[i], i == 0 || !is_letter(text[i - 1]));
  return {c.session.text(std::move(text))};
}

template <bool (*has)(char)>
Value consists_of(const Call& c) {
  const std::string_view text = text_of(c, "self");
  return {!text.empty() && std::ranges::all_of(text, has)};
}

// Whether `fits` holds for one of the strings of an argument: a string, or a tuple of several.
template <class F>
bool any_text(const Call& c, std::string_view parameter, const F& fits) {
  const List* several = c.value(parameter).as<List>();
  if (!several) return fits(text_of(c, parameter));
  return std::ranges::any_of(*several->items, [&](const Value& one) {
    const auto* s = one.as<std::string_view>();
    if (!s) c.fail(parameter, "strings");
    return fits(*s);
  });
}
Value starts_with(const Call& c) {
  return {any_text(c, "prefix", [&](std::string_view part) { return text_of(c, "self").starts_with(part); })};
}
Value ends_with(const Call& c) {
  return {any_text(c, "suffix", [&](std::string_view part) { return text_of(c, "self").ends_with(part); })};
}
Value without_prefix(const Call& c) {
  const std::string_view text = text_of(c, "self"), prefix = text_of(c, "prefix");
  return {text.starts_with(prefix) ? text.substr(prefix.size()) : text};
}
Value without_suffix(const Call& c) {
  const std::string_view text = text_of(c, "self"), suffix = text_of(c, "suffix");
  return {text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text};
}

std::string_view trimmed(std::string_view text, std::string_view letters, bool left, bool right) {
  if (left) text.remove_prefix(std::min(text.find_first_not_of(letters), text.size()));
  return right ? text.substr(0, text.find_last_not_of(letters) + 1) : text;
}
template <bool left, bool right>
Value strip(const Call& c) {
  return {trimmed(text_of(c, "self"), c.given("chars") ? text_of(c, "chars") : blank, left, right)};
}

// Splits at runs of blanks, from the left or from the right.
Values split_at_blanks(std::string_view text, std::int64_t splits, bool from_right) {
  Values parts;
  while (!(text = trimmed(text, blank, !from_right, from_right)).empty()) {
    const std::size_t at = from_right ? text.find_last_of(blank) : text.find_first_of(blank);
    if (at == std::string_view::npos || splits-- == 0) {
      parts.push_back({text});
      break;
    }
    parts.push_back({from_right ? text.substr(at + 1) : text.substr(0, at)});
    text = from_right ? text.substr(0, at) : text.substr(at);
  }
  return parts;
}
Values split_at(std::string_view text, std::string_view by, std::int64_t splits, bool from_right) {
  Values parts;
  for (; splits != 0; --splits) {
    const std::size_t at = from_right ? text.rfind(by) : text.find(by);
    if (at == std::string_view::npos) break;
    parts.push_back({from_right ? text.substr(at + by.size()) : text.substr(0, at)});
    text = from_right ? text.substr(0, at) : text.substr(at + by.size());
  }
  parts.push_back({text});
  return parts;
}
template <bool from_right>
Value split(const Call& c) {
  const std::string_view text = text_of(c, "self");
  const std::int64_t splits = c.integer("maxsplit");
  if (c.given("sep") && text_of(c, "sep").empty()) c.fail("sep", "at least one letter");
  Values parts = c.given("sep") ? split_at(text, text_of(c, "sep"), splits, from_right)
                                : split_at_blanks(text, splits, from_right);
  if (from_right) std::ranges::reverse(parts);
  return c.session.list(std::move(parts));
}
template <bool from_right>
Value partition(const Call& c) {
  const std::string_view text = text_of(c, "self"), by = text_of(c, "sep");
  if (by.empty()) c.fail("sep", "at least one letter");
  const std::size_t at = from_right ? text.rfind(by) : text.find(by);
  const std::string_view none;
  if (at != std::string_view::npos) return make_list({{text.substr(0, at)}, {by}, {text.substr(at + by.size())}});
  return from_right ? make_list({{none}, {none}, {text}}) : make_list({{text}, {none}, {none}});
}

// Returns the position of a part of a string, or -1.
template <bool from_right>
Value find(const Call& c) {
  const std::string_view text = text_of(c, "self"), part = text_of(c, "sub");
  const auto size = static_cast<std::int64_t>(text.size()), start = c.integer("start");
  const auto first = static_cast<std::size_t>(std::max<std::int64_t>(start < 0 ? start + size : start, 0));
  const std::size_t at = from_right ? text.rfind(part) : text.find(part, first);
  return {at == std::string_view::npos || at < first ? std::int64_t{-1} : static_cast<std::int64_t>(at)};
}
Value index(const Call& c) {
  const Value found = find<false>(c);
  if (*found.as<std::int64_t>() < 0) c.fail("sub", "a part of the string");
  return found;
}
Value count(const Call& c) {
  const std::string_view text = text_of(c, "self"), part = text_of(c, "sub");
  if (part.empty()) c.fail("sub", "at least one letter");
  std::int64_t times = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++times;
  return {times};
}

Value join(const Call& c) {
  std::string text;
  bool first = true;
  for (const Value& part : items_of(c.session, c.value("iterable"))) {
    const auto* s = part.as<std::string_view>();
    if (!s) c.fail("iterable", "strings");
    text += (first ? "" : std::string(text_of(c, "self"))) + std::string(*s);
    first = false;
    c.session.spend(1 + text.size() / 64);
  }
  return {c.session.text(std::move(text))};
}
Value format(const Call& c) {
  return {c.session.text(
      filled_in(text_of(c, "self"), *c.value("objects").as<List>()->items, **c.value("named").as<Dict*>()))};
}
Value replace(const Call& c) {
  const std::string_view text = text_of(c, "self"), old = text_of(c, "old"), by = text_of(c, "new");
  if (old.empty()) c.fail("old", "at least one letter");
  std::int64_t left = c.integer("count");
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool found = left != 0 && text.substr(at).starts_with(old);
    out += found ? by : text.substr(at, 1);
    at += found ? old.size() : 1;
    left -= found ? 1 : 0;
    c.session.spend(1 + by.size() / 16);
  }
  return {c.session.text(std::move(out))};
}
Value zeros_before(const Call& c) {
  const std::string_view text = text_of(c, "self");
  constexpr std::int64_t max_width = 1000;
  if (c.integer("width") > max_width) c.fail("width", fmt::format("at most {}", max_width));
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(c.integer("width"), 0));
  std::string out(text);
  out.insert(has_sign ? 1 : 0, width - std::min(width, text.size()), '0');
  return {c.session.text(std::move(out))};
}

// clang-format off
constexpr std::array rows = {
    Function{"str", in_python, "object=''", to_string},
    Function{"repr", in_python, "object", representation},
    Function{"lower", of_text, "self", cased<false>},
    Function{"upper", of_text, "self", cased<true>},
    Function{"capitalize", of_text, "self", capitalize},
    Function{"title", of_text, "self", title},
    Function{"isalpha", of_text, "self", consists_of<is_letter>},
    Function{"isdigit", of_text, "self", consists_of<is_digit>},
    Function{"startswith", of_text, "self, prefix", starts_with},
    Function{"endswith", of_text, "self, suffix", ends_with},
    Function{"removeprefix", of_text, "self, prefix", without_prefix},
    Function{"removesuffix", of_text, "self, suffix", without_suffix},
    Function{"strip", of_text, "self, chars=None", strip<true, true>},
    Function{"lstrip", of_text, "self, chars=None", strip<true, false>},
    Function{"rstrip", of_text, "self, chars=None", strip<false, true>},
    Function{"split", of_text, "self, sep=None, maxsplit=-1", split<false>},
    Function{"rsplit", of_text, "self, sep=None, maxsplit=-1", split<true>},
    Function{"partition", of_text, "self, sep", partition<false>},
    Function{"rpartition", of_text, "self, sep", partition<true>},
    Function{"find", of_text, "self, sub, start=0", find<false>},
    Function{"rfind", of_text, "self, sub, start=0", find<true>},
    Function{"index", of_text, "self, sub, start=0", index},
    Function{"count", of_text, "self, sub", count},
    Function{"join", of_text, "self, iterable", join},
    Function{"replace", of_text, "self, old, new, count=-1", replace},
    Function{"zfill", of_text, "self, width", zeros_before},
    Function{"format", of_text, "self, *objects, **named", format},
};
// clang-format on

}  // namespace
}  // namespace texts

std::span<const Function> text_functions() { return texts::rows; }

}  // namespace deplo::ir::torch::python
