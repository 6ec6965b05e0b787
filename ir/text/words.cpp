#include "ir/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "ir/text/statements.h"

namespace deplo::ir {
namespace {

// Beside the words that statements begin with.
constexpr std::array<std::string_view, 11> reserved = {"in",   "load",   "min",         "max",   "inf",  "nan",
                                                       "free", "reduce", lane_variable, "write", "Stage"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

std::string_view bind_name(Bind b) {
  switch (b) {
    case Bind::free:
      return "free";
    case Bind::reduce:
      return "reduce";
    case Bind::block:
      return "BLOCK";
    case Bind::cluster:
      return "CLUSTER";
    case Bind::thread:
      return "THREAD";
    case Bind::reg:
      return "REG";
    case Bind::vector:
      return "VECTOR";
  }
  check_failed("bind is known", __FILE__, __LINE__);
}

std::string_view name(Transport t) {
  constexpr std::array<std::string_view, 4> names = {"copy", "ahead", "async", "tma"};
  return names.at(static_cast<std::size_t>(t));
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 127 && c != '"' && c != '\\')
      out += c;
    else
      out += fmt::format("\\{:03o}", byte);
  }
  return out + '"';
}

std::optional<std::string> unquoted(std::string_view token) {
  std::string out;
  for (std::size_t i = 1; i + 1 < token.size(); ++i) {
    if (token[i] != '\\') {
      out += token[i];
      continue;
    }
    const std::string_view digits = token.substr(i + 1, 3);
    int byte = 0;
    if (i + 4 >= token.size() || std::from_chars(digits.data(), digits.data() + 3, byte, 8).ptr != digits.data() + 3 ||
        byte < 0 || byte > 255)
      return std::nullopt;
    out += static_cast<char>(byte);
    i += 3;
  }
  return out;
}

bool is_name(std::string_view s) {
  if (s.empty() || !is_letter(s[0])) return false;
  if (!std::all_of(s.begin(), s.end(), [](char c) { return is_letter(c) || is_digit(c); })) return false;
  return std::ranges::find(reserved, s) == reserved.end() && text::find_keyword(s) == nullptr;
}

}  // namespace deplo::ir
