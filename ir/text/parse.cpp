// Parses programs by recursive descent: the header, the symbols and the buffers. statements.h parses the statements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/error.h"
#include "core/text/text.h"
#include "ir/program.h"
#include "ir/text/statements.h"

namespace deplo::ir {
namespace {

using text::Lexer;
using text::max_extent;
using text::Terms;
using text::Token;

/// PoCL names its files after the kernel, and ends the process if a name is too long for the file system (255 bytes).
constexpr std::size_t max_kernel_name = 200;

/// The `=== level: name ===` line, the `allow tf32` line and the `symbols` line.
struct Header {
  Level level = Level::loop;
  std::string name;
  bool allow_tf32 = false;
  std::vector<std::string> symbols;
  std::string symbols_at;  // where:line:column of the `symbols` line, or of where it would be
};

Level level(Terms& in) {
  const Token word = in.take();
  for (const Level candidate : {Level::loop, Level::tile, Level::kernel})
    if (word.is(name(candidate))) return candidate;
  in.fail("loop, tile or kernel", word);
}

bool allow_tf32(Terms& in) {
  Lexer ahead = in;  // look ahead, because a value may be called `allow`
  if (in.done() || !ahead.take_if("allow") || ahead.peek().kind != Token::Kind::name) return false;
  in.take();
  in.expect("tf32");
  in.next_line();
  return true;
}

std::vector<std::string> symbols(Terms& in) {
  std::vector<std::string> declared;
  Lexer ahead = in;  // look ahead, because a value may be called `symbols`
  if (in.done() || !ahead.take_if("symbols") || ahead.peek().kind != Token::Kind::name) return declared;
  in.take();
  do {
    declared.push_back(in.new_name("a symbol"));
    if (std::count(declared.begin(), declared.end(), declared.back()) > 1)
      in.fail(fmt::format("`{}` to be declared once", declared.back()));
  } while (in.take_if(","));
  in.next_line();
  return declared;
}

Header header(Terms& in) {
  const char* form = "a header `=== loop: name ===` (or tile, kernel)";
  if (in.done() || in.indent() != 0) in.fail(form);
  for (const char* word : {"==", "="})
    if (!in.take_if(word)) in.fail(form);
  Header head;
  head.level = level(in);
  in.expect(":");
  if (in.peek().text.size() > max_kernel_name) in.fail(fmt::format("a name of at most {} bytes", max_kernel_name));
  head.name = in.new_name("a name");
  for (const char* word : {"==", "="})
    if (!in.take_if(word)) in.fail("`===`");
  in.next_line();
  head.allow_tf32 = allow_tf32(in);
  head.symbols_at = in.place();
  head.symbols = symbols(in);
  return head;
}

void bind(Terms& in, const Header& head, const Symbols& given) {
  bool fits = given.size() == head.symbols.size();
  for (const std::string& symbol : head.symbols) {
    const auto it = given.find(symbol);
    if (it == given.end())
      fits = false;
    else
      in.bind(symbol, it->second);
  }
  if (fits) return;
  std::vector<std::string> names;
  for (const auto& [symbol, value] : given) names.push_back(symbol);
  const auto list = [](const std::vector<std::string>& v) { return v.empty() ? std::string("none") : join(v, ", "); };
  throw Error(fmt::format("{}: expected values for the symbols {}, found {}", head.symbols_at, list(head.symbols),
                          list(names)));
}

// Reads `in (0.1, 1)`, `in normal(0, 1)`, `in randint(0, 9)`, `in constant(2)` or `in distinct(0, 9)`. A range without
// a word means whole numbers for integer types and real numbers for floats.
Fill fill(Terms& in, DType dtype) {
  const bool whole = !is_float(dtype);
  Fill f{whole ? Fill::Draw::integers : Fill::Draw::uniform, 0, 0};
  constexpr std::array draws = {Fill::Draw::normal, Fill::Draw::constant, Fill::Draw::integers, Fill::Draw::distinct};
  const auto* const draw = std::ranges::find_if(draws, [&](Fill::Draw d) { return in.take_if(word(d)); });
  if (draw != draws.end())
    f.draw = *draw;
  else if (!in.peek().is("("))
    in.fail("a range `(0.1, 1)`, `normal(0, 1)`, `randint(0, 9)`, `constant(2)` or `distinct(0, 9)`");
  in.expect("(");
  f.a = in.constant();
  if (f.draw != Fill::Draw::constant) {
    in.expect(",");
    f.b = in.constant();
  }
  in.expect(")");
  return f;
}

void strides(Terms& in, Buffer& b) {
  in.expect("=");
  in.expect("(");
  std::int64_t room = max_extent - 1;  // largest offset that remains for the last element
  std::size_t dim = 0;
  in.separated(")", [&] {
    if (dim == b.shape.size()) in.fail(fmt::format("{} strides", b.shape.size()));
    const std::int64_t steps = b.shape[dim] - 1;
    b.strides[dim] = in.integer("a stride", 0, steps == 0 ? max_extent : room / steps);
    room -= b.strides[dim++] * steps;
  });
  if (dim != b.shape.size()) in.fail(fmt::format("{} strides before this", b.shape.size()));
}

/// `strange`: set to the place of the first buffer type that no statement accepts.
Buffer buffer(Terms& in, Role role, std::optional<Terms>& strange) {
  Buffer b;
  b.role = role;
  b.name = in.new_name("a buffer");
  in.expect(":");
  const Terms type = in;
  b.dtype = in.stored_dtype();
  if (!is_kernel_type(b.dtype) && !strange) strange = type;
  in.expect("[");
  std::int64_t elements = 1;
  in.separated("]", [&] { b.shape.push_back(in.extent(elements)); });
  b.strides = row_major_strides(b.shape);
  if (in.take_if("strides")) strides(in, b);
  if (in.take_if("in")) b.fill = fill(in, b.dtype);
  return b;
}

std::vector<Buffer> buffers(Terms& in) {
  std::vector<Buffer> found;
  std::optional<Terms> strange;
  for (;;) {
    Lexer ahead = in;  // look ahead: `input[a0] = v0` is a statement, because a buffer may be called `input`
    const Token word = ahead.take();
    const bool declares = (word.is("input") || word.is("output")) && ahead.peek().kind == Token::Kind::name;
    if (in.done() || !declares || in.indent() != 0) {
      if (strange && !in.done()) strange->dtype();  // throws the error about that type
      return found;
    }
    in.take();
    found.push_back(buffer(in, word.is("input") ? Role::input : Role::output, strange));
    in.next_line();
  }
}

}  // namespace

Program parse(std::string_view text, const Symbols& symbols, std::string_view where) {
  Terms in(text, where);
  const Header head = header(in);
  bind(in, head, symbols);
  std::vector<Buffer> arguments = buffers(in);
  return {head.level, head.name, std::move(arguments), text::body(in, 0), head.allow_tf32};
}

std::vector<std::string> declared_symbols(std::string_view text, std::string_view where) {
  Terms in(text, where);
  return header(in).symbols;
}

}  // namespace deplo::ir
