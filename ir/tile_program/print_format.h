// The format strings of prints in tile programs, with the conversions of C's printf.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace deplo::ir::tile_program {

/// Literal text, or the conversion of value number `value`: "%+08.3f", "%lld". "%" alone prints a number according to
/// its type.
struct FormatPiece {
  std::string text;
  int value = -1;  // -1: literal text
};
std::vector<FormatPiece> split_format(std::string_view text);

}  // namespace deplo::ir::tile_program
