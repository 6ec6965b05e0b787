// PTX text → tokens (PTX ISA, "Lexical Elements").
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace deplo::measure::ptx {

struct Token {
  enum class Kind { word, number, text, mark, end };
  Kind kind = Kind::end;
  /// A word with its dots and double colons ("ld.global.nc.v4.f32", "%tid.x", "%r"), the contents of a string, or one
  /// character. It is a view of the source.
  std::string_view text;
  std::uint64_t bits = 0;  // for a number: its value, or the bits of a float
  int float_bits = 0;      // for a number: 32 or 64 if it is a float, else 0
  int line = 0;            // counts from 1
  bool is(std::string_view what) const { return (kind == Kind::word || kind == Kind::mark) && text == what; }
};

/// Returns the tokens, followed by one of Kind::end. Their texts are views of `source`. Throws Error that names the
/// line.
std::vector<Token> tokens_of(std::string_view source);

}  // namespace deplo::measure::ptx
