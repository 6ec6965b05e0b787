#include "ir/tile_program/text/lexer.h"

#include <fmt/format.h>

#include <charconv>

#include "core/error.h"
#include "core/text/characters.h"
#include "core/text/text.h"

namespace deplo::ir::tile_program::text {
namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

Lexer::Lexer(std::string_view text, std::string_view where) : text_(text), where_(where) { scan(); }

void Lexer::fail_with(const Token& token, const std::string& message) const {
  throw Error(fmt::format("{}:{}:{}: {}", where_, token.line, token.column, message));
}

void Lexer::fail_at(const Token& token, std::string_view expected) const {
  const std::string_view sign = token.kind == Token::Kind::value ? "%" : token.kind == Token::Kind::symbol ? "@" : "";
  const std::string text = std::string(sign) + printable(cut(token.text, 40));
  const std::string found = token.kind == Token::Kind::end      ? "the end of the text"
                            : token.kind == Token::Kind::string ? fmt::format("the string \"{}\"", text)
                                                                : fmt::format("'{}'", text);
  fail_with(token, fmt::format("expected {}, found {}", expected, found));
}

Location Lexer::location() const { return {0, token_.line, token_.column, 0}; }

void Lexer::skip_blank() {
  for (;;) {
    if (next() == '\n') {
      ++line_;
      line_begin_ = ++at_;
    } else if (next() == ' ' || next() == '\t' || next() == '\r') {
      ++at_;
    } else if (next() == '/' && next(1) == '/') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      return;
    }
  }
}

std::size_t Lexer::name_end(std::size_t at) const {
  while (at < text_.size() && (is_letter(text_[at]) || is_digit(text_[at]) || text_[at] == '.' || text_[at] == '$'))
    ++at;
  return at;
}

/// Returns the end of a name after %, @, # or ^. Such a name may contain `-`: %cst_-1_i32.
std::size_t Lexer::suffix_end(std::size_t at) const {
  for (at = name_end(at); at + 1 < text_.size() && text_[at] == '-' && text_[at + 1] != '>';) at = name_end(at + 1);
  return at;
}

std::size_t Lexer::number_end(std::size_t at) const {
  const auto c = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  if (c(at) == '-') ++at;
  if (c(at) == '0' && (c(at + 1) == 'x' || c(at + 1) == 'X') && is_hex(c(at + 2))) {
    at += 2;
    while (is_hex(c(at))) ++at;
    return at;
  }
  while (is_digit(c(at))) ++at;
  if (c(at) == '.') {
    ++at;
    while (is_digit(c(at))) ++at;
  }
  if (c(at) == 'e' || c(at) == 'E') {
    const std::size_t sign = c(at + 1) == '+' || c(at + 1) == '-' ? 1 : 0;
    if (is_digit(c(at + 1 + sign))) {
      at += 1 + sign;
      while (is_digit(c(at))) ++at;
    }
  }
  return at;
}

void Lexer::scan_string() {
  std::size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size() || text_[end] != '"')
    fail_with(token_, "expected the end of a string on its line, found none");
  token_.kind = Token::Kind::string;
  token_.text = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
}

void Lexer::scan() {
  skip_blank();
  token_ = {Token::Kind::end, "", at_, line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1)};
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  std::size_t begin = at_, end = at_ + 1;
  if (c == '"') return scan_string();
  if (c == '%' || c == '@') {
    if (c == '@' && next(1) == '"') {
      ++at_;
      scan_string();
      token_.kind = Token::Kind::symbol;
      return;
    }
    token_.kind = c == '%' ? Token::Kind::value : Token::Kind::symbol;
    end = suffix_end(++begin);
    if (c == '%' && end < text_.size() && text_[end] == '#' && end + 1 < text_.size() && is_digit(text_[end + 1]))
      end = name_end(end + 1);
    if (end == begin) fail_with(token_, fmt::format("expected a name after {}, found none", c));
  } else if (is_letter(c) || ((c == '!' || c == '#') && is_letter(next(1)))) {
    token_.kind = Token::Kind::name;
    if (!is_letter(c)) token_.prefix = text_[begin++];
    end = c == '#' ? suffix_end(begin) : name_end(begin);
    if (text_.substr(begin, end - begin).starts_with("cuda_tile.")) begin += 10;
  } else if (is_digit(c) || (c == '-' && is_digit(next(1)))) {
    token_.kind = Token::Kind::number;
    end = number_end(at_);
  } else {
    token_.kind = Token::Kind::sign;
    if (c == '-' && next(1) == '>') ++end;
  }
  token_.text = text_.substr(begin, end - begin);
  at_ = end;
}

Token Lexer::take() {
  const Token taken = token_;
  scan();
  return taken;
}

bool Lexer::take_if(std::string_view word) {
  if (!at(word)) return false;
  scan();
  return true;
}

void Lexer::expect(std::string_view word) {
  if (!take_if(word)) fail(fmt::format("'{}'", word));
}

void Lexer::expect(std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) expect(word);
}

Token Lexer::expect(Token::Kind kind, std::string_view what) {
  if (token_.kind != kind) fail(what);
  return take();
}

std::int64_t Lexer::integer(std::string_view what) {
  const Token token = expect(Token::Kind::number, what);
  const auto value = read_integer(token.text);
  if (!value || (value->negative ? value->magnitude > std::uint64_t{1} << 63 : value->magnitude >> 63 != 0))
    fail_at(token, fmt::format("{}, a whole number of 64 bits", what));
  return static_cast<std::int64_t>(value->negative ? ~value->magnitude + 1 : value->magnitude);
}

Extents Lexer::extents(bool before_element) {
  Extents list;
  at_ = token_.begin;
  for (;;) {
    if (next() != '?' && !is_digit(next())) break;
    std::int64_t value = dynamic;
    if (next() == '?') {
      ++at_;
    } else {
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc()) fail("extents of 64 bits");
      at_ = static_cast<std::size_t>(end - text_.data());
    }
    list.push_back(value);
    if (list.size() > max_rank) fail(fmt::format("at most {} dimensions", max_rank));
    if (next() == 'x')
      ++at_;
    else if (before_element)
      fail("an 'x' after each extent");
    else
      break;
  }
  scan();
  return list;
}

std::optional<Integer> read_integer(std::string_view text) {
  Integer value;
  value.negative = text.starts_with('-');
  if (value.negative) text.remove_prefix(1);
  value.hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (value.hexadecimal) text.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value.magnitude, value.hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace deplo::ir::tile_program::text
