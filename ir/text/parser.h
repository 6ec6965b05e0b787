// Recursive descent over the lines of a program text. Private to ir/text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "ir/text/lexer.h"

namespace deplo::ir {

/// Limits that keep every product of a shape inside 64 bits and every recursion inside the stack.
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;
inline constexpr int kMaxExprNodes = 256;
inline constexpr int kMaxBodyDepth = 64;

class Parser {
 public:
  Parser(std::string_view text, std::string_view where) : lex_(text, where) {}

  /// The `=== level: name ===` line and the `symbols` line.
  std::vector<std::string> header(Program& out);
  void bind(const Symbols& given, const std::vector<std::string>& declared);
  /// All that follows the header.
  void content(Program& out);

 private:
  // parse_expr.cpp: numbers, names, lists, index expressions
  std::int64_t integer(std::string_view what, std::int64_t low, std::int64_t high);
  std::int64_t extent(std::int64_t& product);   // keeps the product of all extents of a list in range
  std::string name(std::string_view what);      // a use
  std::string new_name(std::string_view what);  // a definition
  Op op();
  Op op_field();  // `op=add`
  DType dtype();
  Type type();  // after `:`
  int lanes_of(const Token& word, std::string_view digits);
  double constant();
  Arg argument();
  Expr expression();
  Expr binary(int precedence);
  Expr primary();
  Expr call(ExprOp);
  std::vector<Expr> indices(std::string_view close);
  template <class F>
  void separated(std::string_view close, F&& item);  // `item, item close`

  // parse_stmt.cpp
  Body body(std::size_t depth);
  Body nested(std::size_t depth);
  Stmt statement(std::size_t depth);
  Stmt line();
  Stmt for_loop(std::size_t depth);
  Stmt strided_loop(std::size_t depth);
  Stmt marked(Loop, std::size_t depth);
  Stmt if_statement(std::size_t depth);
  Stmt tile(std::size_t depth);
  Stmt combine();
  Stmt named(std::string name);
  Stmt assignment(std::string dst, Type);
  Stmt accum(std::string dst, Type);
  Stmt write(std::string buffer);
  Bind bind_word(Bind first, Bind last, std::string_view expected);
  std::vector<Arg> operands(Op);

  // parse_shared.cpp
  Stmt stage(std::string buffer);
  void stage_options(Stage&);
  Stmt async_wait();
  Stmt smem(), init(), tree_halve();
  Stmt warp_shuffle();
  Stmt prefetch(), cp_async_copy(), cp_async_wait();
  Stmt mbarrier_init(), mbarrier_arrive(), mbarrier_wait();
  Stmt tma_descriptor(), tma_load();
  std::int64_t option(const char* word, std::int64_t otherwise, std::int64_t high);
  std::int64_t field(const char* word, std::int64_t low, std::int64_t high);
  std::string element(std::vector<Expr>& index);
  std::string slot_of(Expr& slot);

  // parse.cpp
  Buffer buffer(Role);
  void strides(Buffer&);
  Fill fill(DType);

  Lexer lex_;
  std::string symbols_at_;  // where:line:column of the `symbols` line, or of the place for it
  std::vector<std::pair<std::string, std::int64_t>> symbols_;  // few: searched in order
  const std::int64_t* symbol(std::string_view name) const;
  int nodes_ = 0;  // of the expression being read
};

template <class F>
void Parser::separated(std::string_view close, F&& item) {
  if (lex_.take_if(close)) return;
  do item();
  while (lex_.take_if(","));
  if (!lex_.take_if(close)) lex_.fail(std::string("`,` or `").append(close).append("`"));
}

}  // namespace deplo::ir
