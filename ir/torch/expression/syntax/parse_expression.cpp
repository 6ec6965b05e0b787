#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "ir/torch/expression/syntax/parser.h"

namespace deplo::ir::torch::python {
namespace {

struct Infix {
  std::string_view text;
  int precedence;
};
constexpr std::array infix_operators = {Infix{"|", 1},  Infix{"^", 2}, Infix{"&", 3},  Infix{"<<", 4},
                                        Infix{">>", 4}, Infix{"+", 5}, Infix{"-", 5},  Infix{"*", 6},
                                        Infix{"/", 6},  Infix{"%", 6}, Infix{"//", 6}, Infix{"@", 6}};
constexpr std::array<std::string_view, 6> comparison_signs = {"<", "<=", ">", ">=", "==", "!="};

int precedence(const Token& t) {
  const auto* const i = std::ranges::find_if(infix_operators, [&](const Infix& o) { return t.is(o.text); });
  return i == infix_operators.end() ? 0 : i->precedence;
}

}  // namespace

Expr Parser::make(Expr::Kind kind, const Token& at, std::vector<Expr> children) const {
  Expr e;
  e.kind = kind;
  e.place = at.place;
  e.text = at.text;
  for (const Expr& child : children) e.depth = std::max(e.depth, child.depth + 1);
  if (e.depth > max_levels) fail_at(at, fmt::format("at most {} nested operations", max_levels));
  e.children = std::move(children);
  return e;
}

bool Parser::ends_expressions() const {
  return peek().kind == Token::Kind::newline || peek().is(";") || peek().is(")") || peek().is("]") || peek().is("=") ||
         peek().is(":") || peek().is("in");
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
  return make(Expr::Kind::star, at, binary(1));
}

Parser::Level::Level(Parser& p) : parser(p) {
  if (p.level_ == max_levels) p.fail_at(p.peek(), fmt::format("at most {} levels of nesting", max_levels));
  ++p.level_;
}

// Parses `value if test else other`, `name := value`, a lambda, or an operand of these.
Expr Parser::expression() {
  if (peek().is("lambda")) return lambda();
  Expr left = logic(true);
  const Token at = peek();
  if (left.kind == Expr::Kind::name && take_if(":=")) {
    const Level level(*this);
    return make(Expr::Kind::assigned, at, std::move(left), expression());
  }
  if (!take_if("if")) return left;
  const Level level(*this);
  Expr test = logic(true);
  expect("else");
  return make(Expr::Kind::conditional, at, std::move(test), std::move(left), expression());
}

Expr Parser::lambda() {
  const Level level(*this);
  const Token at = take();
  Statement f;
  f.kind = Statement::Kind::define;
  f.place = at.place;
  f.name = at.text;
  f.parameters = parameters(":", false);
  Statement& body = f.body.emplace_back();
  body.kind = Statement::Kind::give_back;
  body.place = peek().place;
  body.value = expression();
  Expr e = make(Expr::Kind::lambda, at);
  e.function = std::make_shared<const Statement>(std::move(f));
  return e;
}

Expr Parser::logic(bool is_or) {
  const auto side = [&] { return is_or ? logic(false) : inversion(); };
  Expr left = side();
  for (Token at = peek(); take_if(is_or ? "or" : "and"); at = peek())
    left = make(Expr::Kind::logic, at, std::move(left), side());
  return left;
}

Expr Parser::inversion() {
  const Token at = peek();
  if (!take_if("not")) return comparison();
  const Level level(*this);
  return make(Expr::Kind::unary, at, inversion());
}

// Takes a comparison operator. Returns an empty text if there is none.
std::string_view Parser::comparison_operator() {
  for (const std::string_view sign : comparison_signs)
    if (take_if(sign)) return sign;
  if (take_if("in")) return "in";
  if (take_if("is")) return take_if("not") ? "is not" : "is";
  if (peek().is("not") && tokens_[at_ + 1].is("in")) {
    at_ += 2;
    return "not in";
  }
  return {};
}

Expr Parser::comparison() {
  Expr left = binary(1);
  const Token at = peek();
  std::vector<std::string_view> operators;
  std::vector<Expr> sides;
  for (std::string_view sign = comparison_operator(); !sign.empty(); sign = comparison_operator()) {
    if (sides.empty()) sides.push_back(std::move(left));
    operators.push_back(sign);
    sides.push_back(binary(1));
  }
  if (sides.empty()) return left;
  Expr e = make(Expr::Kind::compare, at, std::move(sides));
  e.keywords = std::move(operators);
  return e;
}

Expr Parser::target() {
  const Token first = peek();
  std::vector<Expr> items;
  items.push_back(binary(1));
  if (!peek().is(",")) return std::move(items[0]);
  while (take_if(",") && !ends_expressions()) items.push_back(binary(1));
  return make(Expr::Kind::tuple, first, std::move(items));
}

// Parses what follows the element of a comprehension: `for target in sequence if condition …`.
Expr Parser::comprehension(std::vector<Expr> element, const Token& bracket) {
  std::vector<Expr> parts;
  for (Token at = peek(); take_if("for"); at = peek()) {
    std::vector<Expr> clause;
    clause.push_back(target());
    expect("in");
    clause.push_back(logic(true));
    while (take_if("if")) clause.push_back(logic(true));
    parts.push_back(make(Expr::Kind::clause, at, std::move(clause)));
  }
  for (Expr& e : element) parts.push_back(std::move(e));
  return make(Expr::Kind::comprehension, bracket, std::move(parts));
}

Expr Parser::binary(int min_precedence) {
  Expr left = unary();
  while (const int p = precedence(peek())) {
    if (p < min_precedence) break;
    const Token at = take();
    left = make(Expr::Kind::binary, at, std::move(left), binary(p + 1));
  }
  return left;
}

// Parses an operand with its signs. Every recursion of expressions passes through here. `-x ** 2` is -(x ** 2).
Expr Parser::unary() {
  const Token at = peek();
  const Level level(*this);
  if (take_if("-") || take_if("+") || take_if("~")) return make(Expr::Kind::unary, at, unary());
  Expr e = postfix();
  const Token power = peek();
  return take_if("**") ? make(Expr::Kind::binary, power, std::move(e), unary()) : std::move(e);
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
      e = make(Expr::Kind::attribute, at, std::move(e));
    } else {
      return e;
    }
  }
}

// Parses an argument: `value`, `name=value`, `*sequence`, `**dict` or the elements of a comprehension.
Expr Parser::argument(std::string_view& keyword) {
  const Token at = peek();
  if (take_if("**")) return make(Expr::Kind::star_star, at, binary(1));
  std::vector<Expr> value;
  value.push_back(starred());
  if (peek().is("for")) return comprehension(std::move(value), at);
  if (value[0].kind != Expr::Kind::name || !take_if("=")) return std::move(value[0]);
  keyword = at.text;
  return expression();
}

Expr Parser::call(Expr function) {
  Token at = take();
  at.place = function.place;
  std::vector<Expr> children;
  std::vector<std::string_view> keywords;
  bool by_name = false;
  children.push_back(std::move(function));
  while (!take_if(")")) {
    const Token first = peek();
    std::string_view keyword;
    children.push_back(argument(keyword));
    const Expr::Kind kind = children.back().kind;
    const bool positional = keyword.empty() && kind != Expr::Kind::star && kind != Expr::Kind::star_star;
    if (positional && by_name) fail_at(first, "positional arguments before keywords");
    by_name |= !keyword.empty() || kind == Expr::Kind::star_star;
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
  return make(Expr::Kind::subscript, at, std::move(object),
              tuple ? make(Expr::Kind::tuple, at, std::move(items)) : std::move(items[0]));
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
    case Token::Kind::imaginary:
      return number();
    case Token::Kind::string:
    case Token::Kind::raw:
    case Token::Kind::format:
      return string();
    case Token::Kind::name:
      if (is_keyword(at.text)) fail_at(at, "an expression");
      return make(Expr::Kind::name, take());
    default:
      break;
  }
  if (take_if("...")) return make(Expr::Kind::dots, at);
  if (at.is("(")) return parenthesised();
  if (at.is("[")) return list();
  if (at.is("{")) return braces();
  fail_at(at, "an expression");
}

Expr Parser::number() {
  const Token at = take();
  std::string digits(at.text);
  std::erase(digits, '_');
  if (at.kind == Token::Kind::imaginary) digits.pop_back();
  const char* const end = digits.data() + digits.size();
  const char prefix = digits.size() > 2 && digits[0] == '0' ? digits[1] : ' ';
  const int base = prefix == 'x' || prefix == 'X'   ? 16
                   : prefix == 'o' || prefix == 'O' ? 8
                   : prefix == 'b' || prefix == 'B' ? 2
                                                    : 10;
  const char* const begin = digits.data() + (base == 10 ? 0 : 2);
  Expr e = make(at.kind == Token::Kind::integer ? Expr::Kind::integer
                : at.kind == Token::Kind::real  ? Expr::Kind::real
                                                : Expr::Kind::imaginary,
                at);
  const auto [stop, error] = at.kind == Token::Kind::integer ? std::from_chars(begin, end, e.integer, base)
                                                             : std::from_chars(begin, end, e.number);
  if (error == std::errc() && stop == end) return e;
  fail_at(at, at.kind == Token::Kind::integer ? "an integer of 64 bits" : "a number that a double holds");
}

Expr Parser::parenthesised() {
  const Token at = take();
  if (take_if(")")) return make(Expr::Kind::tuple, at);
  Expr e = expressions();
  if (peek().is("for")) {
    std::vector<Expr> element;
    element.push_back(std::move(e));
    e = comprehension(std::move(element), at);
  }
  if (!take_if(")")) fail_at(peek(), "an operator, `,` or `)`");
  return e;
}

Expr Parser::list() {
  const Token at = take();
  std::vector<Expr> items;
  while (!take_if("]")) {
    items.push_back(starred());
    if (items.size() == 1 && peek().is("for")) {
      Expr e = comprehension(std::move(items), at);
      if (!take_if("]")) fail_at(peek(), "an operator, `,` or `]`");
      return e;
    }
    if (!peek().is("]") && !take_if(",")) fail_at(peek(), "an operator, `,` or `]`");
  }
  return make(Expr::Kind::list, at, std::move(items));
}

// Parses an item in braces: `key: value`, `**dict` or an element of a set.
void Parser::braced_item(std::vector<Expr>& items, bool& is_dict) {
  const bool first = items.empty();
  if (take_if("**")) {
    is_dict |= first;
    items.emplace_back();
    items.push_back(binary(1));
    return;
  }
  items.push_back(expression());
  if (first) is_dict = peek().is(":");
  if (!is_dict) return;
  expect(":");
  items.push_back(expression());
}

Expr Parser::braces() {
  const Token at = take();
  std::vector<Expr> items;
  bool is_dict = true;  // `{}` is a dict
  while (!take_if("}")) {
    const bool first = items.empty();
    braced_item(items, is_dict);
    if (first && peek().is("for")) {
      Expr e = comprehension(std::move(items), at);
      if (!take_if("}")) fail_at(peek(), "an operator, `,` or `}`");
      return e;
    }
    if (!peek().is("}") && !take_if(",")) fail_at(peek(), "an operator, `,` or `}`");
  }
  return make(is_dict ? Expr::Kind::dict : Expr::Kind::set, at, std::move(items));
}

}  // namespace deplo::ir::torch::python
