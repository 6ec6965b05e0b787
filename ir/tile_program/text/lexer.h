// Splits the text of a tile program into tokens. Private to this folder.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "ir/tile_program/program.h"
#include "ir/tile_program/type.h"

namespace deplo::ir::tile_program::text {

struct Token {
  /// value: `%x` or `%x#1`; symbol: `@x`. The text of both excludes the sign. The text of a name excludes a leading
  /// `cuda_tile.`, `!` or `#`.
  enum class Kind : std::uint8_t { name, value, symbol, number, string, sign, end };
  Kind kind = Kind::end;
  std::string_view text;
  std::size_t begin = 0;  // offset in the text
  std::uint32_t line = 1, column = 1;
  char prefix = '\0';  // `#` or `!` if it precedes a name
  bool is(std::string_view word) const {
    return text == word && kind != Kind::string && kind != Kind::value && kind != Kind::symbol;
  }
};

/// Looks one token ahead. Tokens are views into the text, which must outlive the lexer. Has a method for each kind of
/// token.
class Lexer {
 public:
  Lexer(std::string_view text, std::string_view where);

  const Token& peek() const { return token_; }
  bool at(Token::Kind kind) const { return token_.kind == kind; }
  bool at(std::string_view word) const { return token_.is(word); }
  Token take();
  bool take_if(std::string_view word);
  void expect(std::string_view word);
  void expect(std::initializer_list<std::string_view> words);  // takes all words, in this order
  /// Reads `item, item CLOSE`, each item by a call of item().
  template <class F>
  void items(std::string_view close, F&& item) {
    for (bool first = true; !take_if(close); first = false) {
      if (!first) expect(",");
      item();
    }
  }
  Token expect(Token::Kind kind, std::string_view what);
  /// Reads a decimal or hexadecimal integer.
  std::int64_t integer(std::string_view what);
  /// Reads `128x?x` before an element, or `128x64` before a sign. Scans the current token again, because `0xf32` looks
  /// like a number.
  Extents extents(bool before_element);
  Location location() const;

  /// Throws `WHERE:LINE:COLUMN: expected …, found …` for the current token.
  [[noreturn]] void fail(std::string_view expected) const { fail_at(token_, expected); }
  [[noreturn]] void fail_at(const Token&, std::string_view expected) const;
  /// Throws `WHERE:LINE:COLUMN: MESSAGE`.
  [[noreturn]] void fail_with(const Token&, const std::string& message) const;

 private:
  void skip_blank();
  void scan();
  void scan_string();
  std::size_t number_end(std::size_t at) const;
  std::size_t name_end(std::size_t at) const;
  std::size_t suffix_end(std::size_t at) const;
  char next(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view text_, where_;
  std::size_t at_ = 0, line_begin_ = 0;
  std::uint32_t line_ = 1;
  Token token_;
};

/// An integer with a sign and a magnitude of at most 64 bits: `-7`, `0xFFFF`.
struct Integer {
  bool negative = false, hexadecimal = false;
  std::uint64_t magnitude = 0;
};
std::optional<Integer> read_integer(std::string_view);

}  // namespace deplo::ir::tile_program::text
