// Recursive descent over the tokens. Private to parse_statement.cpp and parse_expression.cpp.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ir/torch/expression/syntax/lexer.h"

namespace deplo::ir::torch::python {

class Parser {
 public:
  Parser(std::string_view text, std::string_view where) : tokens_(tokenize(text, where)), where_(where) {}
  std::vector<Statement> program();

 private:
  enum class Block : std::uint8_t { top, type, function };

  // parse_statement.cpp
  void line(std::vector<Statement>& out, Block inside);
  std::vector<Statement> block(Block inside);
  void simple_line(std::vector<Statement>& out, Block inside);
  Statement simple(Block inside);
  Statement assignment(Statement s);
  Statement define();
  Statement declare();
  Parameter parameter();
  void imports(std::vector<Statement>& out);
  void from_import(std::vector<Statement>& out);
  std::string dotted_name();
  std::string_view word(std::string_view expected);

  // parse_expression.cpp
  Expr expressions();  // `a, b`: a tuple
  Expr expression();
  Expr binary(int precedence);
  Expr unary();
  Expr postfix();
  Expr atom();
  Expr number();
  Expr parenthesised();
  Expr list();
  Expr call(Expr function);
  Expr subscript(Expr object);
  Expr slice();
  Expr starred();
  Expr make(Expr::Kind kind, const Token& at, std::vector<Expr> children = {}) const;
  bool ends_expressions() const;

  const Token& peek() const { return tokens_[at_]; }
  Token take() { return tokens_[peek().kind == Token::Kind::end ? at_ : at_++]; }
  bool take_if(std::string_view word);
  bool take_if(Token::Kind kind);
  void expect(std::string_view word);
  [[noreturn]] void fail_at(const Token&, std::string_view expected) const;

  std::vector<Token> tokens_;
  std::string_view where_;
  std::size_t at_ = 0;
  int level_ = 0;
};

bool is_keyword(std::string_view);

}  // namespace deplo::ir::torch::python
