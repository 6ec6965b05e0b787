// Splits a text into tokens, line by line, and keeps their places for messages. Private to ir/text.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace deplo::ir::text {

struct Token {
  enum class Kind : std::uint8_t { name, integer, real, string, sign, end };  // a string's text includes its quotes
  Kind kind = Kind::end;
  std::string_view text;
  std::size_t column = 1;
  bool is(std::string_view word) const { return text == word; }
};

/// Skips comments and blank lines. Tokens are views into the text, which must outlive the lexer.
class Lexer {
 public:
  Lexer(std::string_view text, std::string_view where);

  bool done() const { return done_; }             // whether no line is left
  std::size_t indent() const { return indent_; }  // spaces at the start of the current line
  const Token& peek() const { return token_; }
  Token take();  // returns the current token and moves to the next one of the line
  bool take_if(std::string_view word);
  void expect(std::string_view word);
  void expect(std::initializer_list<std::string_view> words);  // takes all words, in this order
  bool take_marker();                                          // takes the `#` of `# free`
  void next_line();                                            // fails if the current line has tokens left
  std::string place() const;                                   // where:line:column of the current token
  /// Throws `where:line:column: expected …, found …` about the current token.
  [[noreturn]] void fail(std::string_view expected) const;
  [[noreturn]] void fail(std::string_view expected, const Token& found) const;

 private:
  void open_line();
  void scan();
  std::size_t number_end(std::size_t i) const;
  std::size_t string_end(std::size_t i) const;
  std::string place(const Token&) const;
  std::string found(const Token&) const;

  std::string_view rest_, line_, where_;
  std::size_t number_ = 0, at_ = 0, indent_ = 0;
  bool done_ = false;
  Token token_;
};

}  // namespace deplo::ir::text
