// The parts of statements: names, numbers, types, arguments, index expressions.
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "ir/text/parser.h"

namespace deplo::ir {
namespace {

struct Infix {
  ExprOp op;
  int precedence;
};

std::optional<Infix> infix(const Token& t) {
  if (t.kind != Token::Kind::sign) return {};
  if (t.is("&&")) return Infix{ExprOp::land, 1};
  if (t.is("^")) return Infix{ExprOp::bxor, 2};
  if (t.is("<")) return Infix{ExprOp::lt, 3};
  if (t.is("==")) return Infix{ExprOp::eq, 3};
  if (t.is("+")) return Infix{ExprOp::add, 4};
  if (t.is("-")) return Infix{ExprOp::sub, 4};
  if (t.is("*")) return Infix{ExprOp::mul, 5};
  if (t.is("/")) return Infix{ExprOp::div, 5};
  if (t.is("%")) return Infix{ExprOp::mod, 5};
  return {};
}

// Digits with their sign; nullopt where 64 bits do not hold them.
std::optional<std::int64_t> to_integer(std::string_view digits, bool negative) {
  std::uint64_t v = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), v).ec != std::errc()) return {};
  const std::uint64_t limit = std::uint64_t{1} << 63;
  if (v > (negative ? limit : limit - 1)) return {};
  return static_cast<std::int64_t>(negative ? 0 - v : v);
}

}  // namespace

const std::int64_t* Parser::symbol(std::string_view n) const {
  for (const auto& [symbol_name, value] : symbols_)
    if (symbol_name == n) return &value;
  return nullptr;
}

std::int64_t Parser::integer(std::string_view what, std::int64_t low, std::int64_t high) {
  const Token first = lex_.peek();
  const bool negative = lex_.take_if("-");
  const Token t = lex_.peek();
  std::optional<std::int64_t> value;
  if (t.kind == Token::Kind::integer)
    value = to_integer(t.text, negative);
  else if (const std::int64_t* s = symbol(t.text); s && t.kind == Token::Kind::name && (!negative || *s > INT64_MIN))
    value = negative ? -*s : *s;
  else
    lex_.fail(what);
  if (!value || *value < low || *value > high)
    lex_.fail(low == 0 && high == 0 ? std::string(what) : fmt::format("{} from {} to {}", what, low, high), first);
  lex_.take();
  return *value;
}

std::int64_t Parser::extent(std::int64_t& product) {
  const std::int64_t v = integer("an extent", 1, kMaxExtent / product);
  product *= v;
  return v;
}

std::string Parser::name(std::string_view what) {
  if (lex_.peek().kind != Token::Kind::name) lex_.fail(what);
  return std::string(lex_.take().text);
}

std::string Parser::new_name(std::string_view what) {
  const Token& t = lex_.peek();
  if (t.kind == Token::Kind::name && !is_name(t.text)) lex_.fail(fmt::format("{} (not a word of the text form)", what));
  if (symbol(t.text)) lex_.fail(fmt::format("{} (not a symbol)", what));
  return name(what);
}

Op Parser::op() {
  const Token t = lex_.peek();
  const std::optional<Op> parsed = t.kind == Token::Kind::name ? parse_op(t.text) : std::nullopt;
  if (!parsed) lex_.fail("an operation");
  lex_.take();
  return *parsed;
}

Op Parser::op_field() {
  lex_.expect("op");
  lex_.expect("=");
  return op();
}

DType Parser::dtype() {
  for (const DType d : {DType::f32, DType::f16, DType::bf16, DType::i32, DType::boolean})
    if (lex_.take_if(ir::name(d))) return d;
  lex_.fail("a type (f32, f16, bf16, i32 or bool)");
}

int Parser::lanes_of(const Token& word, std::string_view digits) {
  for (const int lanes : {2, 4, 8, 16})
    if (digits == fmt::format("x{}", lanes)) return lanes;
  lex_.fail("lanes x2, x4, x8 or x16", word);
}

Type Parser::type() {
  const Token t = lex_.peek();
  for (const DType d : {DType::f32, DType::f16, DType::bf16, DType::i32, DType::boolean}) {
    if (!t.text.starts_with(ir::name(d))) continue;
    const std::string_view digits = t.text.substr(ir::name(d).size());
    const Type parsed{d, digits.empty() ? 1 : lanes_of(t, digits)};
    lex_.take();
    return parsed;
  }
  lex_.fail("a type (f32, f16, bf16, i32 or bool)");
}

double Parser::constant() {
  const bool negative = lex_.take_if("-");
  const Token t = lex_.peek();
  double v = 0;
  if (t.kind == Token::Kind::integer || t.kind == Token::Kind::real) {
    const auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), v);
    if (error != std::errc() || end != t.text.data() + t.text.size()) lex_.fail("a number that a double holds");
  } else if (t.is("inf")) {
    v = std::numeric_limits<double>::infinity();
  } else if (const std::int64_t* s = symbol(t.text); s && t.kind == Token::Kind::name) {
    v = static_cast<double>(*s);
  } else {
    lex_.fail("a number");
  }
  lex_.take();
  return negative ? -v : v;
}

Arg Parser::argument() {
  const Token& t = lex_.peek();
  if (t.is("nan")) lex_.fail("a value or a number");
  if (t.kind == Token::Kind::name && !t.is("inf") && !symbol(t.text)) return std::string(lex_.take().text);
  if (t.kind == Token::Kind::name || t.kind == Token::Kind::integer || t.kind == Token::Kind::real || t.is("-"))
    return constant();
  lex_.fail("a value or a number");
}

// Every recursion below passes through primary, which counts: deep nesting and long chains end here.
Expr Parser::primary() {
  if (++nodes_ > kMaxExprNodes)
    lex_.fail(fmt::format("at most {} terms and parentheses in an expression", kMaxExprNodes));
  if (lex_.take_if("(")) {
    Expr inner = binary(1);
    lex_.expect(")");
    return inner;
  }
  const Token t = lex_.peek();
  if (t.kind == Token::Kind::name && !symbol(t.text)) {
    lex_.take();
    if (t.is("min") && lex_.peek().is("(")) return call(ExprOp::min);
    if (t.is("max") && lex_.peek().is("(")) return call(ExprOp::max);
    if (!is_name(t.text) && !t.is(lane_variable)) lex_.fail("an axis or an integer", t);
    return Expr(std::string(t.text));
  }
  return integer("an axis or an integer", INT64_MIN, INT64_MAX);
}

Expr Parser::call(ExprOp op) {
  lex_.expect("(");
  Expr lhs = binary(1);
  lex_.expect(",");
  Expr rhs = binary(1);
  lex_.expect(")");
  return {op, std::move(lhs), std::move(rhs)};
}

Expr Parser::binary(int precedence) {
  Expr lhs = primary();
  for (;;) {
    const std::optional<Infix> next = infix(lex_.peek());
    if (!next || next->precedence < precedence) return lhs;
    lex_.take();
    const Token divisor = lex_.peek();
    Expr rhs = binary(next->precedence + 1);
    if (next->op == ExprOp::div || next->op == ExprOp::mod)
      if (rhs.kind() != Expr::Kind::constant || rhs.value() <= 0)
        lex_.fail("a positive constant to divide by", divisor);
    lhs = Expr(next->op, std::move(lhs), std::move(rhs));
  }
}

Expr Parser::expression() {
  nodes_ = 0;
  return binary(1);
}

std::vector<Expr> Parser::indices(std::string_view close) {
  std::vector<Expr> list;
  separated(close, [&] { list.push_back(expression()); });
  return list;
}

}  // namespace deplo::ir
