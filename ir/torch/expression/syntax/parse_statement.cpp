#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/text/one_of.h"
#include "ir/torch/expression/syntax/parser.h"

namespace deplo::ir::torch::python {
namespace {

constexpr auto keywords = std::to_array<std::string_view>(
    {"for",   "while", "break",  "continue", "if",     "elif",  "else", "and",    "or",       "not",
     "in",    "is",    "lambda", "with",     "assert", "raise", "del",  "global", "nonlocal", "as",
     "class", "def",   "return", "pass",     "import", "from",  "try",  "except", "finally"});
constexpr auto unsupported_keywords = std::to_array<std::string_view>({"async", "await", "yield"});

constexpr std::array<std::string_view, 13> augmented_signs = {
    "+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "&=", "|=", "^=", "<<=", ">>="};

}  // namespace

bool is_keyword(std::string_view word) { return is_one_of(word, keywords) || is_one_of(word, unsupported_keywords); }

void Parser::fail_at(const Token& t, std::string_view expected) const {
  const bool unsupported = t.kind == Token::Kind::name && is_one_of(t.text, unsupported_keywords);
  fail(where_, t.place,
       fmt::format("expected {}, found {}{}", expected, describe(t),
                   unsupported ? ": not supported; export the module to a .pt2 file (docs/expressions.md)" : ""));
}

bool Parser::take_if(std::string_view w) {
  if (!peek().is(w)) return false;
  ++at_;
  return true;
}

bool Parser::take_if(Token::Kind kind) {
  if (peek().kind != kind) return false;
  take();
  return true;
}

void Parser::expect(std::string_view w) {
  if (!take_if(w)) fail_at(peek(), fmt::format("`{}`", w));
}

std::string_view Parser::word(std::string_view expected) {
  if (peek().kind != Token::Kind::name || is_keyword(peek().text)) fail_at(peek(), expected);
  return take().text;
}

Statement Parser::start(Statement::Kind kind) const {
  Statement s;
  s.kind = kind;
  s.place = peek().place;
  return s;
}

std::vector<Statement> Parser::program() {
  std::vector<Statement> out;
  while (peek().kind != Token::Kind::end) line(out, Block::top);
  return out;
}

void Parser::line(std::vector<Statement>& out, Block inside) {
  if (peek().is("@"))
    out.push_back(decorated());
  else if (peek().is("def"))
    out.push_back(define());
  else if (peek().is("class"))
    out.push_back(declare());
  else if (peek().is("if"))
    out.push_back(choose(inside));
  else if (peek().is("for") || peek().is("while"))
    out.push_back(loop(inside));
  else if (begins_match())
    out.push_back(select(inside));
  else if (peek().is("with"))
    out.push_back(with(inside));
  else if (peek().is("try"))
    out.push_back(attempt(inside));
  else
    simple_line(out, inside);
}

// Parses the body after a `:`: statements on the same line, or lines with more indentation.
std::vector<Statement> Parser::block(Block inside) {
  std::vector<Statement> out;
  if (!take_if(Token::Kind::newline)) {
    simple_line(out, inside);
    return out;
  }
  if (!take_if(Token::Kind::indent)) fail_at(peek(), "a line that is indented more");
  while (!take_if(Token::Kind::dedent)) line(out, inside);
  return out;
}

void Parser::simple_line(std::vector<Statement>& out, Block inside) {
  do {
    if (peek().kind == Token::Kind::newline && !out.empty()) break;  // after the `;` of `a = 1;`
    if (peek().is("import"))
      imports(out);
    else if (peek().is("from"))
      from_import(out);
    else
      out.push_back(simple(inside));
    out.back().end = peek().place;
  } while (take_if(";"));
  if (!take_if(Token::Kind::newline)) fail_at(peek(), "an operator, `;` or the end of the line");
}

Statement Parser::simple(Block inside) {
  Statement s = start(Statement::Kind::pass);
  if (take_if("pass")) return s;
  if (loops_ > 0 && (peek().is("break") || peek().is("continue"))) {
    s.kind = take().text == "break" ? Statement::Kind::leave : Statement::Kind::resume;
    return s;
  }
  if (take_if("assert")) return require(std::move(s));
  if (take_if("del")) return remove(std::move(s));
  if (peek().is("global") || peek().is("nonlocal")) return outer(std::move(s));
  if (take_if("raise")) {
    s.kind = Statement::Kind::refuse;
    s.value = expressions();
    return s;
  }
  if (inside == Block::function && take_if("yield")) return produce(std::move(s));
  if (peek().is("return") && inside == Block::function) {
    take();
    s.kind = Statement::Kind::give_back;
    if (peek().kind != Token::Kind::newline && !peek().is(";")) s.value = expressions();
    return s;
  }
  s.value = expressions();
  return assignment(std::move(s));
}

Statement Parser::assignment(Statement s) {
  annotation(s);
  if (s.value.kind == Expr::Kind::absent) return s;
  const auto* const augmented = std::ranges::find_if(augmented_signs, [&](std::string_view w) { return peek().is(w); });
  s.kind = Statement::Kind::expression;
  if (augmented != augmented_signs.end()) {
    s.kind = Statement::Kind::augment;
    s.place = take().place;
    s.name = augmented->substr(0, augmented->size() - 1);
    s.targets.push_back(std::move(s.value));
    s.value = expressions();
    return s;
  }
  while (take_if("=")) {
    s.kind = Statement::Kind::assign;
    s.targets.push_back(std::move(s.value));
    s.value = expressions();
  }
  return s;
}

// Parses the annotation of `x: int = 3` and ignores its type. `x: int` alone only declares a field of a dataclass.
void Parser::annotation(Statement& s) {
  const Expr::Kind kind = s.value.kind;
  const bool is_target = kind == Expr::Kind::name || kind == Expr::Kind::attribute || kind == Expr::Kind::subscript;
  if (!is_target || !take_if(":")) return;
  expression();
  if (kind == Expr::Kind::name) s.annotated.push_back(s.value.text);
  if (!peek().is("=")) s.value = Expr{};
}

Statement Parser::choose(Block inside) {
  Statement s = start(Statement::Kind::choose);
  bool last = false;
  while (!last && (s.body.empty() || peek().is("elif") || peek().is("else"))) {
    Statement arm = start(Statement::Kind::arm);
    last = take().is("else");
    if (!last) arm.value = expression();
    expect(":");
    arm.body = block(inside);
    s.body.push_back(std::move(arm));
  }
  return s;
}

// Whether a `match` statement begins here. `match` may also be the name of a variable.
bool Parser::begins_match() const {
  if (!peek().is("match")) return false;
  std::size_t i = at_;
  while (tokens_[i].kind != Token::Kind::newline && tokens_[i].kind != Token::Kind::end) ++i;
  return i + 2 < tokens_.size() && tokens_[i - 1].is(":") && tokens_[i + 1].kind == Token::Kind::indent &&
         tokens_[i + 2].is("case");
}

Statement Parser::select(Block inside) {
  Statement s = start(Statement::Kind::select);
  take();
  s.value = expressions();
  expect(":");
  take();  // the end of the line
  take();  // the indentation
  while (!take_if(Token::Kind::dedent)) {
    Statement arm = start(Statement::Kind::arm);
    expect("case");
    arm.targets.push_back(pattern());
    if (take_if("as")) arm.targets.push_back(atom());
    if (take_if("if")) arm.value = expression();
    expect(":");
    arm.body = block(inside);
    s.body.push_back(std::move(arm));
  }
  return s;
}

// Parses a pattern, or several as a tuple.
Expr Parser::pattern() {
  const Token first = peek();
  std::vector<Expr> parts;
  bool is_tuple = false;
  do {
    const Token at = peek();
    parts.push_back(take_if("*") ? make(Expr::Kind::star, at, binary(1)) : binary(1));
    is_tuple |= peek().is(",") || parts.back().kind == Expr::Kind::star;
  } while (take_if(",") && !peek().is(":") && !peek().is("if"));
  return is_tuple ? make(Expr::Kind::tuple, first, std::move(parts)) : std::move(parts[0]);
}

Statement Parser::loop(Block inside) {
  const bool over_items = peek().is("for");
  Statement s = start(over_items ? Statement::Kind::loop_for : Statement::Kind::loop_while);
  take();
  if (over_items) {
    s.targets.push_back(target());
    expect("in");
  }
  s.value = over_items ? expressions() : expression();
  expect(":");
  ++loops_;
  s.body = block(inside);
  --loops_;
  s.otherwise = otherwise(inside);
  return s;
}

// Parses the `else` block of a loop or of `try`, if there is one.
std::vector<Statement> Parser::otherwise(Block inside) {
  if (!take_if("else")) return {};
  expect(":");
  return block(inside);
}

Statement Parser::with(Block inside) {
  Statement s = start(Statement::Kind::with);
  const Token at = take();
  std::vector<Expr> items;
  do {
    items.push_back(expression());
    s.targets.push_back(take_if("as") ? postfix() : Expr{});
  } while (take_if(","));
  s.value = make(Expr::Kind::tuple, at, std::move(items));
  expect(":");
  s.body = block(inside);
  return s;
}

Statement Parser::attempt(Block inside) {
  Statement s = start(Statement::Kind::attempt);
  while (s.body.empty() || peek().is("except")) {
    Statement arm = start(Statement::Kind::arm);
    expect(s.body.empty() ? "try" : "except");
    if (!s.body.empty() && !peek().is(":")) arm.value = expression();
    if (take_if("as")) arm.name = word("a name");
    expect(":");
    arm.body = block(inside);
    s.body.push_back(std::move(arm));
  }
  if (s.body.size() == 1 && !peek().is("finally")) fail_at(peek(), "`except` or `finally`");
  if (s.body.size() > 1) s.otherwise = otherwise(inside);
  if (take_if("finally")) {
    expect(":");
    s.last = block(inside);
  }
  return s;
}

Statement Parser::require(Statement s) {
  s.kind = Statement::Kind::require;
  s.value = expression();
  if (take_if(",")) s.extras.push_back(expression());
  return s;
}

Statement Parser::remove(Statement s) {
  s.kind = Statement::Kind::remove;
  do s.targets.push_back(postfix());
  while (take_if(","));
  return s;
}

Statement Parser::outer(Statement s) {
  s.kind = Statement::Kind::outer;
  s.name = take().text;
  do s.names.push_back(word("the name of a variable"));
  while (take_if(","));
  return s;
}

Statement Parser::produce(Statement s) {
  s.kind = Statement::Kind::produce;
  produces_ = true;
  if (take_if("from")) s.name = "from";
  if (peek().kind != Token::Kind::newline && !peek().is(";")) s.value = expressions();
  return s;
}

Statement Parser::decorated() {
  std::vector<Expr> decorators;
  while (take_if("@")) {
    decorators.push_back(expression());
    if (!take_if(Token::Kind::newline)) fail_at(peek(), "the end of the line");
  }
  if (!peek().is("def") && !peek().is("class")) fail_at(peek(), "def or class");
  Statement s = peek().is("def") ? define() : declare();
  s.extras = std::move(decorators);
  return s;
}

Parameter Parser::parameter(bool annotated) {
  Parameter p;
  if (take_if("**"))
    p.kind = Parameter::Kind::keywords;
  else if (take_if("*"))
    p.kind = Parameter::Kind::rest;
  if (p.kind == Parameter::Kind::rest && peek().is(",")) return p;  // the `*` of `*, name`
  p.name = word("the name of a parameter");
  if (annotated && take_if(":")) expression();  // annotations are ignored
  if (p.kind == Parameter::Kind::plain && take_if("=")) p.value = expression();
  return p;
}

void Parser::check_parameter(const std::vector<Parameter>& all, const Token& at) const {
  const Parameter& last = all.back();
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    if (!last.name.empty() && all[i].name == last.name) fail_at(at, "a different name for each parameter");
  if (all.size() > max_levels) fail_at(at, fmt::format("at most {} parameters", max_levels));
  if (all.size() < 2) return;
  const Parameter& before = all[all.size() - 2];
  if (before.kind == Parameter::Kind::keywords) fail_at(at, "`**` at the last parameter");
  if (last.kind == Parameter::Kind::plain && last.value.kind == Expr::Kind::absent &&
      before.value.kind != Expr::Kind::absent)
    fail_at(at, "a default value here as well");
}

std::vector<Parameter> Parser::parameters(std::string_view end, bool annotated) {
  std::vector<Parameter> all;
  bool keyword_only = false;
  while (!take_if(end)) {
    const Token at = peek();
    if (!all.empty() && !keyword_only && take_if("/")) {  // the parameters before it may also be given by their names
      if (!peek().is(end)) expect(",");
      continue;
    }
    all.push_back(parameter(annotated));
    Parameter& last = all.back();
    if (last.kind == Parameter::Kind::plain && keyword_only) last.kind = Parameter::Kind::keyword_only;
    if (last.kind == Parameter::Kind::rest && keyword_only) fail_at(at, "one parameter with `*`");
    keyword_only |= last.kind == Parameter::Kind::rest;
    check_parameter(all, at);
    if (!peek().is(end)) expect(",");
  }
  std::erase_if(all, [](const Parameter& p) { return p.name.empty(); });
  return all;
}

Statement Parser::define() {
  Statement s = start(Statement::Kind::define);
  take();
  s.name = word("the name of the function");
  expect("(");
  s.parameters = parameters(")", true);
  if (take_if("->")) expression();
  expect(":");
  const int loops = std::exchange(loops_, 0);
  const bool produces = std::exchange(produces_, false);
  s.body = block(Block::function);
  loops_ = loops;
  s.produces = std::exchange(produces_, produces);
  return s;
}

Statement Parser::declare() {
  Statement s = start(Statement::Kind::declare);
  take();
  s.name = word("the name of the class");
  if (take_if("("))
    while (!take_if(")")) {
      Expr base = expression();
      if (take_if("="))
        expression();  // metaclass=ABCMeta, which has no meaning here
      else
        s.targets.push_back(std::move(base));
      if (!peek().is(")")) expect(",");
    }
  expect(":");
  const int loops = std::exchange(loops_, 0);
  s.body = block(Block::type);
  loops_ = loops;
  return s;
}

std::string Parser::dotted_name() {
  std::string name(word("the name of a module"));
  while (take_if(".")) name.append(".").append(word("a name"));
  return name;
}

void Parser::imports(std::vector<Statement>& out) {
  take();
  do {
    Statement s = start(Statement::Kind::import);
    s.name = peek().text;
    s.module = dotted_name();
    if (take_if("as"))
      s.name = word("a name");
    else
      s.module = s.name;  // `import torch.nn` binds torch
    out.push_back(std::move(s));
  } while (take_if(","));
}

void Parser::from_import(std::vector<Statement>& out) {
  take();
  const std::string from = dotted_name();
  expect("import");
  const bool brackets = take_if("(");
  do {
    if (brackets && peek().is(")")) break;
    Statement s = start(Statement::Kind::import);
    s.name = word("a name");
    s.module = fmt::format("{}.{}", from, s.name);
    if (take_if("as")) s.name = word("a name");
    out.push_back(std::move(s));
  } while (take_if(","));
  if (brackets) expect(")");
}

std::vector<Statement> parse(std::string_view text, std::string_view where) { return Parser(text, where).program(); }

}  // namespace deplo::ir::torch::python
