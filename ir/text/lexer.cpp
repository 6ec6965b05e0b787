#include "ir/text/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text/characters.h"

namespace deplo::ir::text {
Lexer::Lexer(std::string_view text, std::string_view where) : rest_(text), where_(where) { open_line(); }

// Moves to the next line that has a token, or to the end of the text.
void Lexer::open_line() {
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    ++number_;
    indent_ = at_ = std::min(line_.find_first_not_of(' '), line_.size());
    scan();
    if (token_.kind != Token::Kind::end) return;
  }
  done_ = true;
  line_ = {};
  at_ = indent_ = 0;
  ++number_;
  token_ = {};
}

std::size_t Lexer::number_end(std::size_t i) const {
  const auto digits = [&] {
    while (i < line_.size() && is_digit(line_[i])) ++i;
  };
  digits();
  if (i + 1 < line_.size() && line_[i] == '.' && is_digit(line_[i + 1])) {  // not the `..` of a range
    ++i;
    digits();
  }
  if (i < line_.size() && (line_[i] == 'e' || line_[i] == 'E')) {
    const std::size_t sign = i + 1 < line_.size() && (line_[i + 1] == '+' || line_[i + 1] == '-') ? 1 : 0;
    if (i + 1 + sign < line_.size() && is_digit(line_[i + 1 + sign])) {
      i += 1 + sign;
      digits();
    }
  }
  return i;
}

void Lexer::scan() {
  while (at_ < line_.size() && line_[at_] == ' ') ++at_;
  const std::size_t begin = at_;
  token_ = {Token::Kind::end, {}, begin + 1};
  if (begin == line_.size() || line_[begin] == '#') return;
  const char c = line_[begin];
  if (c == '\t') fail(begin == indent_ ? "two spaces per level" : "spaces between words");
  if (is_letter(c)) {
    token_.kind = Token::Kind::name;
    while (at_ < line_.size() && (is_letter(line_[at_]) || is_digit(line_[at_]))) ++at_;
  } else if (is_digit(c)) {
    at_ = number_end(begin);
    const std::string_view digits = line_.substr(begin, at_ - begin);
    token_.kind = std::all_of(digits.begin(), digits.end(), is_digit) ? Token::Kind::integer : Token::Kind::real;
  } else if (const std::size_t end = string_end(begin); end != std::string_view::npos) {
    token_.kind = Token::Kind::string;
    at_ = end;
  } else {
    token_.kind = Token::Kind::sign;
    const std::string_view two = line_.substr(begin, 2);
    at_ += two == ".." || two == "==" || two == "&&" || two == "+=" ? 2 : 1;
  }
  token_.text = line_.substr(begin, at_ - begin);
}

// Returns the index after the closing quote, or npos if no complete string begins at index i.
std::size_t Lexer::string_end(std::size_t i) const {
  if (line_[i] != '"') return std::string_view::npos;
  for (++i; i < line_.size(); ++i)
    if (line_[i] == '"')
      return i + 1;
    else if (line_[i] == '\\')
      ++i;
  return std::string_view::npos;
}

Token Lexer::take() {
  const Token taken = token_;
  scan();
  return taken;
}

bool Lexer::take_if(std::string_view word) {
  if (!token_.is(word)) return false;
  scan();
  return true;
}

void Lexer::expect(std::string_view word) {
  if (!take_if(word)) fail(fmt::format("`{}`", word));
}

void Lexer::expect(std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) expect(word);
}

bool Lexer::take_marker() {
  if (at_ >= line_.size() || line_[at_] != '#') return false;
  ++at_;
  scan();
  return true;
}

void Lexer::next_line() {
  if (token_.kind != Token::Kind::end) fail("the end of the line");
  open_line();
}

std::string Lexer::found(const Token& t) const {
  if (done_) return "the end of the text";
  const std::size_t i = t.column - 1;
  if (i < line_.size() && line_[i] == '\t') return "a tab";
  if (t.kind == Token::Kind::end) return "the end of the line";
  const auto byte = static_cast<unsigned char>(t.text[0]);
  if (byte < 0x20 || byte > 0x7e) return fmt::format("the byte 0x{:02x}", byte);
  return fmt::format("`{}`{}", t.text.substr(0, 40), t.text.size() > 40 ? "…" : "");
}

std::string Lexer::place() const { return place(token_); }
std::string Lexer::place(const Token& t) const { return fmt::format("{}:{}:{}", where_, number_, t.column); }

void Lexer::fail(std::string_view expected) const { fail(expected, token_); }

void Lexer::fail(std::string_view expected, const Token& t) const {
  throw Error(fmt::format("{}: expected {}, found {}", place(t), expected, found(t)));
}

}  // namespace deplo::ir::text
