#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/torch/expression/syntax/parser.h"

namespace deplo::ir::torch::python {
namespace {

struct Keyword {
  std::string_view word, note;
};
constexpr std::string_view about_loops = "loops and comprehensions are not supported: write the steps out";
constexpr std::string_view about_conditions = "conditions are not supported: use torch.where";
constexpr std::string_view about_logic = "on tensors use & | ~";
constexpr std::string_view about_others =
    "supported are expressions, assignments, def, class, return, pass and import: docs/expressions.md";
constexpr std::array keywords = {Keyword{"for", about_loops},
                                 Keyword{"while", about_loops},
                                 Keyword{"break", about_loops},
                                 Keyword{"continue", about_loops},
                                 Keyword{"if", about_conditions},
                                 Keyword{"elif", about_conditions},
                                 Keyword{"else", about_conditions},
                                 Keyword{"and", about_logic},
                                 Keyword{"or", about_logic},
                                 Keyword{"not", about_logic},
                                 Keyword{"in", about_logic},
                                 Keyword{"is", about_logic},
                                 Keyword{"lambda", "use def"},
                                 Keyword{"with", about_others},
                                 Keyword{"try", about_others},
                                 Keyword{"except", about_others},
                                 Keyword{"finally", about_others},
                                 Keyword{"raise", about_others},
                                 Keyword{"assert", about_others},
                                 Keyword{"del", about_others},
                                 Keyword{"global", about_others},
                                 Keyword{"nonlocal", about_others},
                                 Keyword{"async", about_others},
                                 Keyword{"await", about_others},
                                 Keyword{"yield", about_others},
                                 Keyword{"as", about_others},
                                 Keyword{"class", about_others},
                                 Keyword{"def", about_others},
                                 Keyword{"return", about_others},
                                 Keyword{"pass", about_others},
                                 Keyword{"import", about_others},
                                 Keyword{"from", about_others},
                                 Keyword{"{", "dicts and sets are not supported"},
                                 Keyword{":=", "assign in a statement of its own"},
                                 Keyword{"^", "use != on truth values"},
                                 Keyword{"->", about_others}};

const Keyword* find_keyword(const Token& t) {
  const auto* const k = std::find_if(keywords.begin(), keywords.end(), [&](const Keyword& w) { return t.is(w.word); });
  return k == keywords.end() ? nullptr : k;
}

constexpr std::array<std::string_view, 8> augmented_signs = {"+=", "-=", "*=", "/=", "//=", "%=", "**=", "@="};

}  // namespace

bool is_keyword(std::string_view word) { return find_keyword({Token::Kind::name, word, {}}) != nullptr; }

void Parser::fail_at(const Token& t, std::string_view expected) const {
  const Keyword* k = find_keyword(t);
  fail(where_, t.place,
       fmt::format("expected {}, found {}{}{}", expected, describe(t), k ? ": " : "", k ? k->note : ""));
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

std::vector<Statement> Parser::program() {
  std::vector<Statement> out;
  while (peek().kind != Token::Kind::end) line(out, Block::top);
  return out;
}

void Parser::line(std::vector<Statement>& out, Block inside) {
  if (peek().is("def") && inside != Block::function)
    out.push_back(define());
  else if (peek().is("class") && inside == Block::top)
    out.push_back(declare());
  else
    simple_line(out, inside);
}

// After the `:`: statements on the same line, or lines further to the right.
std::vector<Statement> Parser::block(Block inside) {
  std::vector<Statement> out;
  if (!take_if(Token::Kind::newline)) {
    simple_line(out, inside);
    return out;
  }
  if (!take_if(Token::Kind::indent)) fail_at(peek(), "a line further to the right");
  while (!take_if(Token::Kind::dedent)) line(out, inside);
  return out;
}

void Parser::simple_line(std::vector<Statement>& out, Block inside) {
  do {
    if (peek().kind == Token::Kind::newline && !out.empty()) break;  // `a = 1;`
    if (peek().is("import"))
      imports(out);
    else if (peek().is("from"))
      from_import(out);
    else
      out.push_back(simple(inside));
  } while (take_if(";"));
  if (!take_if(Token::Kind::newline)) fail_at(peek(), "an operator, `;` or the end of the line");
}

Statement Parser::simple(Block inside) {
  Statement s;
  s.place = peek().place;
  if (take_if("pass")) return s;
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
  const auto* const augmented =
      std::find_if(augmented_signs.begin(), augmented_signs.end(), [&](std::string_view w) { return peek().is(w); });
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

Parameter Parser::parameter() {
  Parameter p;
  p.name = word("the name of a parameter (*args and **kwargs are not supported)");
  if (take_if(":")) expression();  // what an annotation says is not needed
  if (take_if("=")) p.value = expression();
  return p;
}

Statement Parser::define() {
  Statement s;
  s.kind = Statement::Kind::define;
  s.place = take().place;
  s.name = word("the name of the function");
  expect("(");
  while (!take_if(")")) {
    const Token at = peek();
    s.parameters.push_back(parameter());
    const Parameter& last = s.parameters.back();
    for (std::size_t i = 0; i + 1 < s.parameters.size(); ++i)
      if (s.parameters[i].name == last.name) fail_at(at, "another name for each parameter");
    if (s.parameters.size() > most_levels) fail_at(at, fmt::format("at most {} parameters", most_levels));
    if (last.value.kind == Expr::Kind::absent && s.parameters.size() > 1 &&
        s.parameters[s.parameters.size() - 2].value.kind != Expr::Kind::absent)
      fail_at(at, "a default value here as well");
    if (!peek().is(")")) expect(",");
  }
  if (take_if("->")) expression();
  expect(":");
  s.body = block(Block::function);
  return s;
}

Statement Parser::declare() {
  Statement s;
  s.kind = Statement::Kind::declare;
  s.place = take().place;
  s.name = word("the name of the class");
  expect("(");
  s.value = expression();
  expect(")");
  expect(":");
  s.body = block(Block::type);
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
    Statement s;
    s.kind = Statement::Kind::import;
    s.place = peek().place;
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
  do {
    Statement s;
    s.kind = Statement::Kind::import;
    s.place = peek().place;
    s.name = word("a name");
    s.module = fmt::format("{}.{}", from, s.name);
    if (take_if("as")) s.name = word("a name");
    out.push_back(std::move(s));
  } while (take_if(","));
}

std::vector<Statement> parse(std::string_view text, std::string_view where) { return Parser(text, where).program(); }

}  // namespace deplo::ir::torch::python
