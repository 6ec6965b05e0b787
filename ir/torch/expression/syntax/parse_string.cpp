

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
  Parser inner(tokenize_expression(all.substr(0, stop), where_, place), where_, level_);
  Expr value = inner.expressions();
  if (inner.peek().kind != Token::Kind::end) inner.fail_at(inner.peek(), "an operator or `}`");
  return make(Expr::Kind::placeholder, {Token::Kind::string, all.substr(stop), place}, std::move(value));
}

}  // namespace deplo::ir::torch::python
