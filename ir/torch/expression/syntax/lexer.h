// Python's tokens, with newlines and indentation.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/expression/syntax/syntax.h"

namespace deplo::ir::torch::python {

struct Token {
  enum class Kind : std::uint8_t {
    name,
    integer,
    real,
    imaginary,
    string,
    raw,     // a string without escapes
    format,  // an f-string
    sign,
    newline,
    indent,
    dedent,
    end
  };
  Kind kind = Kind::end;
  std::string_view text;  // string, raw, format: the text between the quotes
  Place place;
  bool is(std::string_view sign_or_word) const {
    return (kind == Kind::sign || kind == Kind::name) && text == sign_or_word;
  }
};

/// Splits a text into tokens. Every logical line ends with a newline token, and the last token is `end`. The
/// indentation of the first line is that of the top level. Throws PlacedError.
std::vector<Token> tokenize(std::string_view text, std::string_view where);
/// Returns the tokens of an expression inside an f-string, ending with `end`. `begin`: the place of the expression.
std::vector<Token> tokenize_expression(std::string_view text, std::string_view where, Place begin);
/// Describes a token for messages: "`)`", "the end of the line".
std::string describe(const Token&);

}  // namespace deplo::ir::torch::python
