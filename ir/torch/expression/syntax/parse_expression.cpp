#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "ir/torch/expression/syntax/parser.h"

namespace deplo::ir::torch::python {
namespace {

struct Infix {
  std::string_view text;
  int precedence;
};
constexpr std::array infix_operators = {Infix{"|", 1}, Infix{"&", 2},  Infix{"<<", 3}, Infix{">>", 3},
                                        Infix{"+", 4}, Infix{"-", 4},  Infix{"*", 5},  Infix{"/", 5},
                                        Infix{"%", 5}, Infix{"//", 5}, Infix{"@", 5}};
constexpr std::array<std::string_view, 6> comparison_signs = {"<", "<=", ">", ">=", "==", "!="};

int precedence(const Token& t) {
  const auto* const i =
      std::find_if(infix_operators.begin(), infix_operators.end(), [&](const Infix& o) { return t.is(o.text); });
  return i == infix_operators.end() ? 0 : i->precedence;
}

bool is_comparison(const Token& t) {
  return std::any_of(comparison_signs.begin(), comparison_signs.end(), [&](std::string_view c) { return t.is(c); });
}

}  // namespace

Expr Parser::make(Expr::Kind kind, const Token& at, std::vector<Expr> children) const {
  Expr e;
  e.kind = kind;
  e.place = at.place;
  e.text = at.text;
  for (const Expr& child : children) e.depth = std::max(e.depth, child.depth + 1);
  if (e.depth > most_levels) fail_at(at, fmt::format("at most {} operations inside each other", most_levels));
  e.children = std::move(children);
  return e;
}

bool Parser::ends_expressions() const {
  return peek().kind == Token::Kind::newline || peek().is(";") || peek().is(")") || peek().is("]") || peek().is("=");
}

Expr Parser::expressions() {
  const Token first = peek();
  std::vector<Expr> items;
  items.push_back(starred());
  if (!peek().is(",") && items[0].kind != Expr::Kind::star) return std::move(items[0]);
  while (take_if(",") && !ends_expressions()) items.push_back(starred());
  return make(Expr::Kind::tuple, first, std::move(items));
}

Expr Parser::starred() {
  const Token at = peek();
  if (!take_if("*")) return expression();
  std::vector<Expr> child;
  child.push_back(binary(1));
  return make(Expr::Kind::star, at, std::move(child));
}

Expr Parser::expression() {
  Expr left = binary(1);
  if (!is_comparison(peek())) return left;
  const Token at = take();
  std::vector<Expr> sides;
  sides.push_back(std::move(left));
  sides.push_back(binary(1));
  if (is_comparison(peek())) fail_at(peek(), "one comparison (join two with & and parentheses)");
  return make(Expr::Kind::compare, at, std::move(sides));
}

Expr Parser::binary(int least) {
  Expr left = unary();
  while (const int p = precedence(peek())) {
    if (p < least) break;
    const Token at = take();
    std::vector<Expr> sides;
    sides.push_back(std::move(left));
    sides.push_back(binary(p + 1));
    left = make(Expr::Kind::binary, at, std::move(sides));
  }
  return left;
}

// Every recursion of expressions passes through here. `-x ** 2` is -(x ** 2).
Expr Parser::unary() {
  const Token at = peek();
  if (level_ == most_levels) fail_at(at, fmt::format("at most {} levels of nesting", most_levels));
  ++level_;
  Expr e;
  if (at.is("-") || at.is("+") || at.is("~")) {
    take();
    std::vector<Expr> operand;
    operand.push_back(unary());
    e = make(Expr::Kind::unary, at, std::move(operand));
  } else {
    e = postfix();
    if (const Token power = peek(); take_if("**")) {
      std::vector<Expr> sides;
      sides.push_back(std::move(e));
      sides.push_back(unary());
      e = make(Expr::Kind::binary, power, std::move(sides));
    }
  }
  --level_;
  return e;
}

Expr Parser::postfix() {
  Expr e = atom();
  for (;;) {
    if (peek().is("(")) {
      e = call(std::move(e));
    } else if (peek().is("[")) {
      e = subscript(std::move(e));
    } else if (take_if(".")) {
      const Token at = peek();
      if (at.kind != Token::Kind::name) fail_at(at, "a name");
      take();
      std::vector<Expr> object;
      object.push_back(std::move(e));
      e = make(Expr::Kind::attribute, at, std::move(object));
    } else {
      return e;
    }
  }
}

Expr Parser::call(Expr function) {
  Token at = take();
  at.place = function.place;
  std::vector<Expr> children;
  std::vector<std::string_view> keywords;
  children.push_back(std::move(function));
  while (!take_if(")")) {
    const Token argument = peek();
    children.push_back(starred());
    std::string_view keyword;
    if (children.back().kind == Expr::Kind::name && take_if("=")) {
      keyword = argument.text;
      children.back() = expression();
    } else if (!keywords.empty() && !keywords.back().empty()) {
      fail_at(argument, "positional arguments before keywords");
    }
    keywords.push_back(keyword);
    if (!peek().is(")") && !take_if(",")) fail_at(peek(), "an operator, `,` or `)`");
  }
  Expr e = make(Expr::Kind::call, at, std::move(children));
  e.keywords = std::move(keywords);
  return e;
}

Expr Parser::subscript(Expr object) {
  const Token at = take();
  std::vector<Expr> items;
  items.push_back(slice());
  const bool tuple = peek().is(",");
  while (take_if(",") && !peek().is("]")) items.push_back(slice());
  if (!take_if("]")) fail_at(peek(), "an operator, `,` or `]`");
  std::vector<Expr> both;
  both.push_back(std::move(object));
  both.push_back(tuple ? make(Expr::Kind::tuple, at, std::move(items)) : std::move(items[0]));
  return make(Expr::Kind::subscript, at, std::move(both));
}

Expr Parser::slice() {
  const Token at = peek();
  std::vector<Expr> parts(3);
  if (!at.is(":")) {
    parts[0] = expression();
    if (!peek().is(":")) return std::move(parts[0]);
  }
  for (std::size_t i = 1; i < 3 && take_if(":"); ++i)
    if (!peek().is(":") && !peek().is(",") && !peek().is("]")) parts[i] = expression();
  return make(Expr::Kind::slice, at, std::move(parts));
}

Expr Parser::atom() {
  const Token at = peek();
  switch (at.kind) {
    case Token::Kind::integer:
    case Token::Kind::real:
      return number();
    case Token::Kind::string:
      return make(Expr::Kind::string, take());
    case Token::Kind::name:
      if (is_keyword(at.text)) fail_at(at, "an expression");
      return make(Expr::Kind::name, take());
    default:
      break;
  }
  if (take_if("...")) return make(Expr::Kind::dots, at);
  if (at.is("(")) return parenthesised();
  if (at.is("[")) return list();
  fail_at(at, "an expression");
}

Expr Parser::number() {
  const Token at = take();
  std::string digits(at.text);
  std::erase(digits, '_');
  const char* const end = digits.data() + digits.size();
  Expr e = make(at.kind == Token::Kind::integer ? Expr::Kind::integer : Expr::Kind::real, at);
  const auto [stop, error] = at.kind == Token::Kind::integer ? std::from_chars(digits.data(), end, e.integer)
                                                             : std::from_chars(digits.data(), end, e.number);
  if (error == std::errc() && stop == end) return e;
  fail_at(at, at.kind == Token::Kind::integer ? "an integer of 64 bits" : "a number that a double holds");
}

Expr Parser::parenthesised() {
  const Token at = take();
  if (take_if(")")) return make(Expr::Kind::tuple, at);
  Expr e = expressions();
  if (!take_if(")")) fail_at(peek(), "an operator, `,` or `)`");
  return e;
}

Expr Parser::list() {
  const Token at = take();
  std::vector<Expr> items;
  while (!take_if("]")) {
    items.push_back(starred());
    if (!peek().is("]") && !take_if(",")) fail_at(peek(), "an operator, `,` or `]`");
  }
  return make(Expr::Kind::list, at, std::move(items));
}

}  // namespace deplo::ir::torch::python
