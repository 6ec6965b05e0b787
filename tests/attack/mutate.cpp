#include "attack/mutate.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace deplo::attack {
namespace {

constexpr std::size_t max_bytes = 4 << 20;  // larger files make cases slow and find no more
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
constexpr std::string_view digits = "0123456789";

struct Span {
  std::size_t at = 0, length = 0;
};

Span span(const std::string& text, std::size_t most, Rng& rng) {
  const std::size_t at = rng.below(text.size() + 1);
  return {at, rng.below(std::min(text.size() - at, most) + 1)};
}

/// Returns the run of `characters` at or after a random position; empty if there is none.
Span run_of(const std::string& text, std::string_view characters, Rng& rng) {
  const std::size_t found = text.find_first_of(characters, rng.below(text.size() + 1));
  if (found == std::string::npos) return {};
  const std::size_t before = text.find_last_not_of(characters, found);
  const std::size_t at = before == std::string::npos ? 0 : before + 1;
  return {at, std::min(text.find_first_not_of(characters, found), text.size()) - at};
}

void replace(std::string& text, Span where, std::string_view by) {
  if (text.size() + by.size() <= max_bytes) text.replace(where.at, where.length, by);
}

void change_byte(std::string& text, Rng& rng) {
  if (text.empty()) return;
  char& byte = text[rng.below(text.size())];
  byte = rng.below(2) == 0 ? static_cast<char>(byte ^ (1 << rng.below(8))) : static_cast<char>(rng.below(256));
}

void change_span(std::string& text, Rng& rng) {
  const Span from = span(text, rng.below(8) == 0 ? text.size() : 80, rng);
  const std::string piece = text.substr(from.at, from.length);
  switch (rng.below(4)) {
    case 0:
      replace(text, from, "");
      break;
    case 1:
      replace(text, {from.at, 0}, piece);
      break;
    case 2:  // move the span
      replace(text, from, "");
      replace(text, {rng.below(text.size() + 1), 0}, piece);
      break;
    default:
      replace(text, {rng.below(text.size() + 1), 0}, piece);
      break;
  }
}

void change_line(std::string& text, Rng& rng) {
  const std::size_t newline = text.rfind('\n', rng.below(text.size() + 1));
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  if (rng.below(2) == 0)
    replace(text, {begin, end - begin}, "");
  else
    replace(text, {begin, 0}, text.substr(begin, end - begin) + "\n");
}

void change_word(std::string& text, const std::string& other, Rng& rng) {
  const Span to = run_of(text, letters, rng);
  const std::string& source = rng.below(2) == 0 ? text : other;
  const Span from = run_of(source, letters, rng);
  replace(text, to, rng.below(3) == 0 ? std::to_string(rng.below(70)) : source.substr(from.at, from.length));
}

/// Replaces a word by one that begins alike: a name by a name, a number by a number. Text that stays well-formed gets
/// further into deplo.
void change_alike(std::string& text, const std::string& other, Rng& rng) {
  const Span to = run_of(text, letters, rng);
  if (to.length == 0) return;
  const char first = text[to.at];
  const bool number = digits.find(first) != std::string_view::npos;
  if (number && rng.below(3) == 0) return replace(text, to, std::to_string(rng.below(70)));
  for (int tries = 0; tries < 30; ++tries) {
    const std::string& source = rng.below(4) != 0 ? text : other;
    const Span from = run_of(source, letters, rng);
    if (from.length == 0) continue;
    const bool alike = number ? digits.find(source[from.at]) != std::string_view::npos : source[from.at] == first;
    const std::string word = source.substr(from.at, from.length);
    if (alike && word != std::string_view(text).substr(to.at, to.length)) return replace(text, to, word);
  }
}

void splice(std::string& text, const std::string& other, Rng& rng) {
  const Span from = span(other, other.size(), rng);
  const Span to = span(text, text.size(), rng);
  replace(text, to, other.substr(from.at, from.length));
}

void nest(std::string& text, Rng& rng) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> pairs = {{{"[", "]"},
                                                                                   {"(", ")"},
                                                                                   {"{\"a\":", "}"},
                                                                                   {"{a: ", "}"},
                                                                                   {"- ", ""},
                                                                                   {"-", ""},
                                                                                   {"abs(", ")"},
                                                                                   {"(0 + ", ")"},
                                                                                   {"\n ", ""}}};
  constexpr std::array<std::size_t, 4> depths = {3, 70, 2000, 200'000};
  const auto& [open, close] = pairs[rng.below(pairs.size())];
  const std::size_t depth = depths[rng.below(depths.size())];
  const Span inside = run_of(text, letters, rng);
  std::string nested;
  for (std::size_t i = 0; i < depth; ++i) nested += open;
  nested += text.substr(inside.at, inside.length);
  if (rng.below(4) != 0)
    for (std::size_t i = 0; i < depth; ++i) nested += close;
  replace(text, inside, nested);
}

void repeat(std::string& text, Rng& rng) {
  const Span what = span(text, 60, rng);
  constexpr std::array<std::size_t, 3> times = {10, 1000, 30'000};
  const std::size_t count = times[rng.below(times.size())];
  std::string many;
  for (std::size_t i = 0; i < count && many.size() < max_bytes / 2; ++i) many += text.substr(what.at, what.length);
  replace(text, {what.at, 0}, many);
}

void edit(std::string& text, const std::string& other, Rng& rng) {
  switch (rng.below(24)) {
    case 0:
    case 1:
    case 2:
      return change_byte(text, rng);
    case 3:
    case 4:
      return change_span(text, rng);
    case 5:
      return text.resize(rng.below(text.size() + 1));
    case 6:
    case 7:
      return splice(text, other, rng);
    case 8:
    case 9:
      return change_line(text, rng);
    case 10:
    case 11:
      return change_word(text, other, rng);
    case 12:
    case 13:
    case 14:
      return replace(text, run_of(text, digits, rng), hostile_number(rng));
    case 15:
      return replace(text, run_of(text, letters, rng), hostile_text(rng));
    case 16:
      return rng.below(4) == 0 ? repeat(text, rng) : change_byte(text, rng);
    case 17:
      return rng.below(2) == 0 ? nest(text, rng) : change_word(text, other, rng);
    default:
      return change_alike(text, other, rng);
  }
}

}  // namespace

std::string mutate(std::string bytes, const std::string& other, Rng& rng) {
  // One edit is enough to test most readers. Several edits at once reach code that a single edit does not.
  for (std::uint64_t edits = rng.below(2) == 0 ? 1 : 1 + rng.below(3); edits > 0; --edits) edit(bytes, other, rng);
  return bytes;
}

std::string hostile_number(Rng& rng) {
  constexpr std::array<std::string_view, 40> numbers = {"0",
                                                        "1",
                                                        "-1",
                                                        "2",
                                                        "3",
                                                        "7",
                                                        "16",
                                                        "64",
                                                        "127",
                                                        "128",
                                                        "255",
                                                        "256",
                                                        "1000",
                                                        "4096",
                                                        "32768",
                                                        "65536",
                                                        "1000000",
                                                        "16777217",
                                                        "2147483647",
                                                        "2147483648",
                                                        "-2147483648",
                                                        "4294967295",
                                                        "4294967296",
                                                        "9007199254740993",
                                                        "9223372036854775807",
                                                        "9223372036854775808",
                                                        "-9223372036854775808",
                                                        "-9223372036854775809",
                                                        "18446744073709551615",
                                                        "99999999999999999999",
                                                        "0.5",
                                                        "-0.0",
                                                        "1e-45",
                                                        "1e-320",
                                                        "1e39",
                                                        "1e300",
                                                        "1e400",
                                                        "-1e400",
                                                        "NaN",
                                                        "Infinity"};
  return std::string(numbers[rng.below(numbers.size())]);
}

std::string hostile_text(Rng& rng) {
  using namespace std::string_literals;
  static const std::array texts = {""s,
                                   " "s,
                                   "\0"s,
                                   "a\0b"s,
                                   "\xff\xfe"s,
                                   "\xc3"s,
                                   "\xed\xa0\x80"s,
                                   "\xef\xbb\xbf"s,
                                   "\xe2\x80\xae"s,
                                   "\x1b[31mred\x1b]0;title\x07"s,
                                   "\x9b"
                                   "31m"s,
                                   "\r\n"s,
                                   "\t"s,
                                   "%s%n%d"s,
                                   "{}{0}{:d}"s,
                                   "'; DROP TABLE trial; --"s,
                                   "<script>alert(1)</script>"s,
                                   "../../../etc/passwd"s,
                                   "/dev/zero"s,
                                   "null"s,
                                   "true"s,
                                   "inf"s,
                                   "nan"s,
                                   "__proto__"s,
                                   "&a [*a]"s,
                                   "*a"s,
                                   "<<: {a: 1}"s,
                                   "!!binary x"s,
                                   "|\n  x"s,
                                   "\"\\ud800\""s,
                                   "a0"s,
                                   "acc0"s,
                                   "in0"s,
                                   "float"s,
                                   "=== loop: x ==="s,
                                   std::string(300, 'x'),
                                   std::string(100'000, 'A')};
  return texts[rng.below(texts.size())];
}

}  // namespace deplo::attack
