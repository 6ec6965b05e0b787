// The text that a tile program prints, with the conversions of C's printf.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace deplo::ir::tile_program {

/// Text as it is, or a conversion ("%+08.3f", "%lld"; "%" alone prints a number as its type says) of value number `value`.
struct FormatPiece {
  std::string text;
  int value = -1;  // of a conversion
};
std::vector<FormatPiece> split_format(std::string_view text);

}  // namespace deplo::ir::tile_program
