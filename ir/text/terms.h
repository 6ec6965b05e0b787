// The parts of statements: names, numbers, types, arguments, index expressions. Private to ir/text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/stmt.h"
#include "ir/text/lexer.h"

namespace deplo::ir::text {

/// Largest number of elements of a shape. This limit keeps all products of extents within 64 bits.
inline constexpr std::int64_t max_extent = std::int64_t{1} << 40;

/// Reads the tokens of a text as terms, with one method for each kind of term. Each call reads one term, or fails with
/// a message about what was expected.
class Terms : public Lexer {
 public:
  Terms(std::string_view text, std::string_view where) : Lexer(text, where) {}

  /// Makes `symbol` stand for `value` from here on.
  void bind(std::string symbol, std::int64_t value) { symbols_.emplace_back(std::move(symbol), value); }

  std::int64_t integer(std::string_view what, std::int64_t low, std::int64_t high);
  std::int64_t extent(std::int64_t& product);   // multiplies `product` by the extent; the result is at most max_extent
  std::string name(std::string_view what);      // the name of something defined before
  std::string new_name(std::string_view what);  // a name that is defined here
  std::vector<std::string> names(std::string_view what);  // reads `name, name`
  Op op();
  DType dtype();
  DType any_dtype();     // also a type that only tile programs have
  DType stored_dtype();  // also a type that only arrays of users' own kernels have
  Type type();           // the type after a `:`
  int lanes();           // lanes in the form `x4`
  Bind bind_word(Bind first, Bind last, std::string_view expected);
  double constant();
  Arg argument();
  std::vector<Arg> arguments(Op);  // as many arguments as the operation takes, and `)`
  Expr expression();
  std::vector<Expr> indices(std::string_view close);
  std::uint64_t bits();  // the bits of a value, as a signed integer

  std::int64_t field(std::string_view word, std::int64_t low, std::int64_t high);  // reads `word=n`
  /// Reads `word=n`. Returns `otherwise` if the option is absent.
  std::int64_t option(std::string_view word, std::int64_t otherwise, std::int64_t high);

  template <class F>
  void separated(std::string_view close, F&& item);  // reads `item, item close`

 private:
  class Expressions;
  int lanes_of(const Token& word, std::string_view digits);
  const std::int64_t* symbol(std::string_view name) const;

  std::vector<std::pair<std::string, std::int64_t>> symbols_;  // few enough for a linear search
};

template <class F>
void Terms::separated(std::string_view close, F&& item) {
  if (take_if(close)) return;
  do item();
  while (take_if(","));
  if (!take_if(close)) fail(std::string("`,` or `").append(close).append("`"));
}

}  // namespace deplo::ir::text
