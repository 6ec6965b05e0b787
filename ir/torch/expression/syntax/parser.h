// A recursive-descent parser over the tokens. Private to the files parse_….cpp.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ir/torch/expression/syntax/lexer.h"

namespace deplo::ir::torch::python {

/// Parses with one function for each production of Python's grammar, by recursive descent.
class Parser {
 public:
  Parser(std::string_view text, std::string_view where) : tokens_(tokenize(text, where)), where_(where) {}
  std::vector<Statement> program();

 private:
  enum class Block : std::uint8_t { top, type, function };
  /// Counts a level of nesting. Throws PlacedError if there are more than max_levels.
  struct Level {
    explicit Level(Parser&);
    ~Level() { --parser.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Parser& parser;
  };
  Parser(std::vector<Token> tokens, std::string_view where, int level)
      : tokens_(std::move(tokens)), where_(where), level_(level) {}

  // parse_statement.cpp
  Statement start(Statement::Kind) const;  // a statement that begins at the next token
  void line(std::vector<Statement>& out, Block inside);
  std::vector<Statement> block(Block inside);
  std::vector<Statement> otherwise(Block inside);
  void simple_line(std::vector<Statement>& out, Block inside);
  Statement simple(Block inside);
  Statement assignment(Statement s);
  void annotation(Statement& s);
  Statement choose(Block inside);
  bool begins_match() const;
  Statement select(Block inside);
  Expr pattern();
  Statement loop(Block inside);
  Statement with(Block inside);
  Statement attempt(Block inside);
  Statement require(Statement s);
  Statement remove(Statement s);
  Statement outer(Statement s);
  Statement produce(Statement s);
  Statement decorated();
  Statement define();
  Statement declare();
  Parameter parameter(bool annotated);
  std::vector<Parameter> parameters(std::string_view end, bool annotated);
  void check_parameter(const std::vector<Parameter>&, const Token& at) const;
  void imports(std::vector<Statement>& out);
  void from_import(std::vector<Statement>& out);
  std::string dotted_name();
  std::string_view word(std::string_view expected);

  // parse_expression.cpp
  Expr expressions();  // a tuple if there is a comma: `a, b`
  Expr expression();
  Expr lambda();
  Expr logic(bool is_or);
  Expr inversion();
  Expr comparison();
  std::string_view comparison_operator();
  Expr target();  // the target of a `for`: `a, (b, c)`
  Expr comprehension(std::vector<Expr> element, const Token& bracket);
  Expr binary(int min_precedence);
  Expr unary();
  Expr postfix();
  Expr atom();
  Expr number();
  Expr parenthesised();
  Expr list();
  Expr braces();
  void braced_item(std::vector<Expr>& items, bool& is_dict);
  Expr call(Expr function);
  Expr subscript(Expr object);
  Expr slice();
  Expr starred();
  Expr argument(std::string_view& keyword);

  // parse_string.cpp
  Expr string();
  Expr literal(const Token&) const;  // a string or a part of one
  void format_parts(const Token&, std::vector<Expr>& parts);
  Expr placeholder(const Token&, std::size_t begin, std::size_t end);

  Expr make(Expr::Kind kind, const Token& at, std::vector<Expr> children = {}) const;
  template <class... Others>
  Expr make(Expr::Kind kind, const Token& at, Expr first, Others... others) const {
    std::vector<Expr> children;  // an initializer list would copy them
    children.push_back(std::move(first));
    (children.push_back(std::move(others)), ...);
    return make(kind, at, std::move(children));
  }
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
  int loops_ = 0;          // number of loops around the statement, within its function
  bool produces_ = false;  // whether the function has a `yield` so far
};

bool is_keyword(std::string_view);

}  // namespace deplo::ir::torch::python
