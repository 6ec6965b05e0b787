// Text to programs: the header, the symbols, the buffers. parse_stmt.cpp and parse_expr.cpp read the rest.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "ir/text/parser.h"

namespace deplo::ir {

std::vector<std::string> Parser::header(Program& out) {
  const char* form = "a header `=== loop: name ===` (or tile, kernel)";
  if (lex_.done() || lex_.indent() != 0) lex_.fail(form);
  for (const char* word : {"==", "="})
    if (!lex_.take_if(word)) lex_.fail(form);
  const Token level = lex_.take();
  if (level.is("loop"))
    out.level = Level::loop;
  else if (level.is("tile"))
    out.level = Level::tile;
  else if (level.is("kernel"))
    out.level = Level::kernel;
  else
    lex_.fail("loop, tile or kernel", level);
  lex_.expect(":");
  out.name = new_name("a name");
  for (const char* word : {"==", "="})
    if (!lex_.take_if(word)) lex_.fail("`===`");
  lex_.next_line();

  std::vector<std::string> declared;
  symbols_at_ = lex_.place();
  Lexer ahead = lex_;  // a value may be called `symbols`
  if (lex_.done() || !ahead.take_if("symbols") || ahead.peek().kind != Token::Kind::name) return declared;
  lex_.take();
  do {
    declared.push_back(new_name("a symbol"));
    if (std::count(declared.begin(), declared.end(), declared.back()) > 1)
      lex_.fail(fmt::format("`{}` to be declared once", declared.back()));
  } while (lex_.take_if(","));
  lex_.next_line();
  return declared;
}

void Parser::bind(const Symbols& given, const std::vector<std::string>& declared) {
  bool fits = given.size() == declared.size();
  for (const std::string& d : declared) {
    const auto it = given.find(d);
    if (it == given.end())
      fits = false;
    else
      symbols_.emplace_back(d, it->second);
  }
  if (fits) return;
  std::vector<std::string> names;
  for (const auto& [symbol_name, value] : given) names.push_back(symbol_name);
  const auto list = [](const std::vector<std::string>& v) {
    return v.empty() ? std::string("none") : fmt::format("{}", fmt::join(v, ", "));
  };
  throw Error(
      fmt::format("{}: expected values for the symbols {}, found {}", symbols_at_, list(declared), list(names)));
}

// `in (0.1, 1)`, `in normal(0, 1)`, `in randint(0, 9)`, `in constant(2)`; of integers a range has whole numbers.
Fill Parser::fill(DType dtype) {
  const bool whole = dtype == DType::i32 || dtype == DType::boolean;
  Fill f{whole ? Fill::Draw::integers : Fill::Draw::uniform, 0, 0};
  if (lex_.take_if("normal"))
    f.draw = Fill::Draw::normal;
  else if (lex_.take_if("constant"))
    f.draw = Fill::Draw::constant;
  else if (lex_.take_if("randint"))
    f.draw = Fill::Draw::integers;
  else if (!lex_.peek().is("("))
    lex_.fail("a range `(0.1, 1)`, `normal(0, 1)`, `randint(0, 9)` or `constant(2)`");
  lex_.expect("(");
  f.a = constant();
  if (f.draw != Fill::Draw::constant) {
    lex_.expect(",");
    f.b = constant();
  }
  lex_.expect(")");
  return f;
}

Buffer Parser::buffer(Role role) {
  Buffer b;
  b.role = role;
  b.name = new_name("a buffer");
  lex_.expect(":");
  b.dtype = dtype();
  lex_.expect("[");
  std::int64_t elements = 1;
  separated("]", [&] { b.shape.push_back(extent(elements)); });
  b.strides = row_major_strides(b.shape);
  if (lex_.take_if("strides")) strides(b);
  if (lex_.take_if("in")) b.fill = fill(b.dtype);
  return b;
}

void Parser::strides(Buffer& b) {
  lex_.expect("=");
  lex_.expect("(");
  std::int64_t room = kMaxExtent - 1;  // of the offset of the last element
  std::size_t dim = 0;
  separated(")", [&] {
    if (dim == b.shape.size()) lex_.fail(fmt::format("{} strides", b.shape.size()));
    const std::int64_t steps = b.shape[dim] - 1;
    b.strides[dim] = integer("a stride", 0, steps == 0 ? kMaxExtent : room / steps);
    room -= b.strides[dim++] * steps;
  });
  if (dim != b.shape.size()) lex_.fail(fmt::format("{} strides before this", b.shape.size()));
}

void Parser::content(Program& out) {
  for (;;) {
    Lexer ahead = lex_;  // a buffer may be called `input`: `input[a0] = v0` is a statement
    const Token word = ahead.take();
    const bool declares = (word.is("input") || word.is("output")) && ahead.peek().kind == Token::Kind::name;
    if (lex_.done() || !declares || lex_.indent() != 0) break;
    lex_.take();
    out.buffers.push_back(buffer(word.is("input") ? Role::input : Role::output));
    lex_.next_line();
  }
  out.body = body(0);
}

Program parse(std::string_view text, const Symbols& symbols, std::string_view where) {
  Program out;
  Parser parser(text, where);
  parser.bind(symbols, parser.header(out));
  parser.content(out);
  return out;
}

std::vector<std::string> declared_symbols(std::string_view text, std::string_view where) {
  Program out;
  return Parser(text, where).header(out);
}

}  // namespace deplo::ir
