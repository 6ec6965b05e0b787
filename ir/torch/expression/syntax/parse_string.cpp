

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

}  // namespace

// Parses adjacent strings, which form one string.
Expr Parser::string() {
  const Token at = peek();
  std::vector<Expr> parts;
  while (peek().kind == Token::Kind::string || peek().kind == Token::Kind::format) {
    const Token t = take();
    if (t.kind == Token::Kind::string)
      parts.push_back(make(Expr::Kind::string, t));
    else
      format_parts(t, parts);
  }
  if (parts.size() == 1 && parts[0].kind == Expr::Kind::string) return std::move(parts[0]);
  return make(Expr::Kind::joined, at, std::move(parts));
}

void Parser::format_parts(const Token& t, std::vector<Expr>& parts) {
  const auto add = [&](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    parts.push_back(make(Expr::Kind::string, {Token::Kind::string, t.text.substr(begin, end - begin), t.place}));
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
