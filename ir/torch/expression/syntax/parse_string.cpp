#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>

#include "ir/torch/expression/syntax/parser.h"

namespace deplo::ir::torch::python {
namespace {

// Returns the index of the `}` of the placeholder whose expression begins at `at`, or the end of the text.
std::size_t end_of_placeholder(std::string_view text, std::size_t at) {
  int depth = 0;
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == '}' && depth == 0) {
      break;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    }
  }
  return at;
}

// Returns the index of the `!r` or `:.2f` after the expression of a placeholder, or the end of the text.
std::size_t end_of_value(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    const bool conversion = c == '!' && text.substr(at + 1, 1) != "=";
    if (depth == 0 && (c == ':' || conversion)) return at;
  }
  return text.size();
}

// Returns the text that `{x=}` shows before the value: `x=`, or "" for other placeholders.
std::string_view shown_text(std::string_view placeholder) {
  const std::string_view text = placeholder.substr(0, end_of_value(placeholder));
  const std::size_t last = text.find_last_not_of(' ');
  if (last == std::string_view::npos || last == 0 || text[last] != '=') return {};
  return std::string_view("=!<>").find(text[last - 1]) == std::string_view::npos ? text : std::string_view();
}

// Appends a Unicode character as UTF-8.
void append_character(std::string& out, std::uint32_t code) {
  const auto append = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return append(code);
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first one
  constexpr std::array<std::uint32_t, 4> marks = {0, 0xc0, 0xe0, 0xf0};
  append(marks[static_cast<std::size_t>(more)] | code >> (6 * more));
  for (int i = more; i-- > 0;) append(0x80 | (code >> (6 * i) & 0x3f));
}

// Appends what the escape at the beginning of the text stands for. Returns the length of the escape.
std::size_t append_escape(std::string& out, std::string_view text) {
  constexpr std::string_view letters = "\\'\"abfnrtv", meanings = "\\'\"\a\b\f\n\r\t\v";
  if (text.size() == 1) {  // before a placeholder of an f-string
    out += text;
    return 1;
  }
  const char letter = text[1];
  if (letter == '\n') return 2;  // the string continues on the next line
  if (const std::size_t i = letters.find(letter); i != std::string_view::npos) {
    out += meanings[i];
    return 2;
  }
  if (letter == 'N') throw Error("expected the number of a character, such as `\\u00b0`, found a name after `\\N`");
  const bool is_octal = letter >= '0' && letter <= '7';
  const std::size_t digits = is_octal ? 3 : letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  const std::string_view number = text.substr(is_octal ? 1 : 2, digits);
  std::uint32_t code = 0;
  const char* const end = std::from_chars(number.data(), number.data() + number.size(), code, is_octal ? 8 : 16).ptr;
  const auto count = static_cast<std::size_t>(end - number.data());
  const bool is_known = count > 0 && (is_octal || count == digits) && code < 0x110000;
  if (!is_known && digits > 0)
    throw Error(fmt::format("expected {} hexadecimal digits of a character after `\\{}`, found `{}`", digits, letter,
                            number.substr(0, count)));
  if (is_known)
    append_character(out, code);
  else
    out += text.substr(0, 2);
  return is_known ? (is_octal ? 1 : 2) + count : 2;
}

}  // namespace

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\\')
      at += append_escape(out, text.substr(at));
    else
      out += text[at++];
  }
  return out;
}

// Parses adjacent strings, which form one string.
Expr Parser::string() {
  const Token at = peek();
  std::vector<Expr> parts;
  const auto is_string = [&] {
    const Token::Kind kind = peek().kind;
    return kind == Token::Kind::string || kind == Token::Kind::raw || kind == Token::Kind::format;
  };
  while (is_string()) {
    const Token t = take();
    if (t.kind == Token::Kind::format)
      format_parts(t, parts);
    else
      parts.push_back(literal(t));
  }
  if (parts.size() == 1 && parts[0].kind != Expr::Kind::placeholder) return std::move(parts[0]);
  return make(Expr::Kind::joined, at, std::move(parts));
}

Expr Parser::literal(const Token& t) const {
  const bool is_escaped = t.kind != Token::Kind::raw && t.text.find('\\') != std::string_view::npos;
  return make(is_escaped ? Expr::Kind::escaped : Expr::Kind::string, t);
}

void Parser::format_parts(const Token& t, std::vector<Expr>& parts) {
  const auto add = [&](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    parts.push_back(literal({Token::Kind::string, t.text.substr(begin, end - begin), t.place}));
  };
  std::size_t begin = 0;
  for (std::size_t at = 0; at < t.text.size(); ++at) {
    const char c = t.text[at];
    if (c != '{' && c != '}') continue;
    add(begin, at);
    const bool doubled = t.text.substr(at + 1, 1) == t.text.substr(at, 1);
    if (doubled) {
      begin = ++at;  // the second brace is part of the text
      continue;
    }
    const std::size_t end = c == '{' ? end_of_placeholder(t.text, at + 1) : t.text.size();
    if (end == t.text.size()) fail_at(t, "`{` and `}` around each value of the f-string");
    add(at + 1, at + 1 + shown_text(t.text.substr(at + 1, end - at - 1)).size());
    parts.push_back(placeholder(t, at + 1, end));
    at = end;
    begin = end + 1;
  }
  add(begin, t.text.size());
}

Expr Parser::placeholder(const Token& t, std::size_t begin, std::size_t end) {
  const Level level(*this);
  const std::string_view all = t.text.substr(begin, end - begin);
  const std::size_t stop = end_of_value(all);
  const Place place = {t.place.line, t.place.column + 1 + begin};
  const std::string_view shown = shown_text(all);
  const std::string_view text = shown.empty() ? all.substr(0, stop) : shown.substr(0, shown.rfind('='));
  Parser inner(tokenize_expression(text, where_, place), where_, level_);
  Expr value = inner.expressions();
  if (inner.peek().kind != Token::Kind::end) inner.fail_at(inner.peek(), "an operator or `}`");
  const std::string_view format = all.substr(stop);
  const bool quotes = !shown.empty() && format.empty();
  return make(Expr::Kind::placeholder, {Token::Kind::string, quotes ? "!r" : format, place}, std::move(value));
}

}  // namespace deplo::ir::torch::python
