#include "ir/text/terms.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "ir/text/words.h"

namespace deplo::ir::text {
namespace {

constexpr int max_nodes = 256;  // per expression; bounds the recursion, so that the stack cannot overflow

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

// Converts digits and a sign to an integer. Returns nullopt if 64 bits cannot hold it.
std::optional<std::int64_t> to_integer(std::string_view digits, bool negative) {
  std::uint64_t v = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), v).ec != std::errc()) return {};
  const std::uint64_t limit = std::uint64_t{1} << 63;
  if (v > (negative ? limit : limit - 1)) return {};
  return static_cast<std::int64_t>(negative ? 0 - v : v);
}

}  // namespace

const std::int64_t* Terms::symbol(std::string_view n) const {
  for (const auto& [symbol_name, value] : symbols_)
    if (symbol_name == n) return &value;
  return nullptr;
}

std::int64_t Terms::integer(std::string_view what, std::int64_t low, std::int64_t high) {
  const Token first = peek();
  const bool negative = take_if("-");
  const Token t = peek();
  std::optional<std::int64_t> value;
  if (t.kind == Token::Kind::integer)
    value = to_integer(t.text, negative);
  else if (const std::int64_t* s = symbol(t.text); s && t.kind == Token::Kind::name && (!negative || *s > INT64_MIN))
    value = negative ? -*s : *s;
  else
    fail(what);
  if (!value || *value < low || *value > high)
    fail(low == 0 && high == 0 ? std::string(what) : fmt::format("{} from {} to {}", what, low, high), first);
  take();
  return *value;
}

std::int64_t Terms::extent(std::int64_t& product) {
  const std::int64_t v = integer("an extent", 1, max_extent / product);
  product *= v;
  return v;
}

std::string Terms::name(std::string_view what) {
  if (peek().kind != Token::Kind::name) fail(what);
  return std::string(take().text);
}

std::string Terms::new_name(std::string_view what) {
  const Token& t = peek();
  if (t.kind == Token::Kind::name && !is_name(t.text)) fail(fmt::format("{} (not a word of the text form)", what));
  if (symbol(t.text)) fail(fmt::format("{} (not a symbol)", what));
  return name(what);
}

std::vector<std::string> Terms::names(std::string_view what) {
  std::vector<std::string> list;
  do list.push_back(name(what));
  while (take_if(","));
  return list;
}

Op Terms::op() {
  const Token t = peek();
  const std::optional<Op> parsed = t.kind == Token::Kind::name ? parse_op(t.text) : std::nullopt;
  if (!parsed) fail("an operation");
  take();
  return *parsed;
}

DType Terms::dtype() {
  for (const DType d : kernel_dtypes)
    if (take_if(ir::name(d))) return d;
  fail("a type (f32, f16, bf16, i32, i64 or bool)");
}

DType Terms::any_dtype() {
  for (int d = 0; d < dtype_count; ++d)
    if (const auto type = static_cast<DType>(d); !tile_name(type).empty() && take_if(ir::name(type))) return type;
  fail("a type");
}

DType Terms::stored_dtype() {
  for (int d = 0; d < dtype_count; ++d)
    if (const auto type = static_cast<DType>(d); has_numpy(type) && take_if(ir::name(type))) return type;
  return dtype();
}

int Terms::lanes_of(const Token& word, std::string_view digits) {
  for (const int lanes : {2, 4, 8, 16})
    if (digits == fmt::format("x{}", lanes)) return lanes;
  fail("lanes x2, x4, x8 or x16", word);
}

int Terms::lanes() {
  const Token t = peek();
  const int parsed = lanes_of(t, t.text);
  take();
  return parsed;
}

Type Terms::type() {
  const Token t = peek();
  for (const DType d : kernel_dtypes) {
    if (!t.text.starts_with(ir::name(d))) continue;
    const std::string_view digits = t.text.substr(ir::name(d).size());
    const Type parsed{d, digits.empty() ? 1 : lanes_of(t, digits)};
    take();
    return parsed;
  }
  fail("a type (f32, f16, bf16, i32, i64 or bool)");
}

double Terms::constant() {
  const bool negative = take_if("-");
  const Token t = peek();
  double v = 0;
  if (t.kind == Token::Kind::integer || t.kind == Token::Kind::real) {
    const auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), v);
    if (error != std::errc() || end != t.text.data() + t.text.size()) fail("a number that a double holds");
  } else if (t.is("inf")) {
    v = std::numeric_limits<double>::infinity();
  } else if (const std::int64_t* s = symbol(t.text); s && t.kind == Token::Kind::name) {
    v = static_cast<double>(*s);
  } else {
    fail("a number");
  }
  take();
  return negative ? -v : v;
}

Bind Terms::bind_word(Bind first, Bind last, std::string_view expected) {
  for (int b = static_cast<int>(first); b <= static_cast<int>(last); ++b)
    if (take_if(bind_name(static_cast<Bind>(b)))) return static_cast<Bind>(b);
  fail(expected);
}

Arg Terms::argument() {
  const Token& t = peek();
  if (t.is("nan")) fail("a value or a number");
  if (t.kind == Token::Kind::name && !t.is("inf") && !symbol(t.text)) return std::string(take().text);
  if (t.kind == Token::Kind::name || t.kind == Token::Kind::integer || t.kind == Token::Kind::real || t.is("-"))
    return constant();
  fail("a value or a number");
}

std::vector<Arg> Terms::arguments(Op op) {
  const int count = arity(op);
  std::vector<Arg> args;
  for (int i = 0; i < count; ++i) {
    if (i > 0 && !take_if(",")) fail(fmt::format("`,` and another argument of {}", ir::name(op)));
    args.push_back(argument());
  }
  if (!take_if(")")) fail(fmt::format("`)` after {} argument{} of {}", count, count == 1 ? "" : "s", ir::name(op)));
  return args;
}

/// Parses one index expression. Every recursion passes through primary(), whose limit on terms bounds nesting and
/// chains.
class Terms::Expressions {
 public:
  explicit Expressions(Terms& in) : in_(in) {}

  Expr binary(int precedence) {
    Expr lhs = primary();
    for (;;) {
      const std::optional<Infix> next = infix(in_.peek());
      if (!next || next->precedence < precedence) return lhs;
      in_.take();
      const Token divisor = in_.peek();
      Expr rhs = binary(next->precedence + 1);
      if (next->op == ExprOp::div || next->op == ExprOp::mod)
        if (rhs.kind() != Expr::Kind::constant || rhs.value() <= 0)
          in_.fail("a positive constant to divide by", divisor);
      lhs = Expr(next->op, std::move(lhs), std::move(rhs));
    }
  }

 private:
  Expr primary() {
    if (++nodes_ > max_nodes) in_.fail(fmt::format("at most {} terms and parentheses in an expression", max_nodes));
    if (in_.take_if("(")) {
      Expr inner = binary(1);
      in_.expect(")");
      return inner;
    }
    const Token t = in_.peek();
    if (t.kind == Token::Kind::name && in_.symbol(t.text) == nullptr) {
      in_.take();
      if (t.is("min") && in_.peek().is("(")) return call(ExprOp::min);
      if (t.is("max") && in_.peek().is("(")) return call(ExprOp::max);
      if (!is_name(t.text) && !t.is(lane_variable)) in_.fail("an axis or an integer", t);
      return Expr(std::string(t.text));
    }
    return in_.integer("an axis or an integer", INT64_MIN, INT64_MAX);
  }

  Expr call(ExprOp op) {
    in_.expect("(");
    Expr lhs = binary(1);
    in_.expect(",");
    Expr rhs = binary(1);
    in_.expect(")");
    return {op, std::move(lhs), std::move(rhs)};
  }

  Terms& in_;
  int nodes_ = 0;
};

Expr Terms::expression() { return Expressions(*this).binary(1); }

std::vector<Expr> Terms::indices(std::string_view close) {
  std::vector<Expr> list;
  separated(close, [&] { list.push_back(expression()); });
  return list;
}

std::uint64_t Terms::bits() { return static_cast<std::uint64_t>(integer("bits", INT64_MIN, INT64_MAX)); }

std::int64_t Terms::field(std::string_view word, std::int64_t low, std::int64_t high) {
  expect({word, "="});
  return integer("a number", low, high);
}

std::int64_t Terms::option(std::string_view word, std::int64_t otherwise, std::int64_t high) {
  if (!take_if(word)) return otherwise;
  expect("=");
  return integer("a number", 1, high);
}

}  // namespace deplo::ir::text
