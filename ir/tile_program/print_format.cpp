#include "ir/tile_program/print_format.h"

#include <cctype>

namespace deplo::ir::tile_program {
namespace {

/// Returns the end of the conversion that begins at `%`. Returns the position after the `%` if there is no conversion,
/// or if it is too long or its width has more than two digits.
std::size_t conversion_end(std::string_view text, std::size_t begin) {
  std::size_t at = text.find_first_not_of("+-# 0123456789.hlqjzt", begin + 1);
  const bool known =
      at != std::string_view::npos && std::string_view("fFeEgGaAdiuxXocsp").find(text[at]) != std::string_view::npos;
  if (!known || at - begin >= 16) return begin + 1;
  std::size_t digits = 0;
  for (std::size_t i = begin; i < at; ++i) {
    digits = std::isdigit(static_cast<unsigned char>(text[i])) != 0 ? digits + 1 : 0;
    if (digits > 2) return begin + 1;
  }
  return at + 1;
}

}  // namespace

std::vector<FormatPiece> split_format(std::string_view text) {
  std::vector<FormatPiece> pieces;
  const auto add_text = [&](char c) {
    if (pieces.empty() || pieces.back().value >= 0) pieces.emplace_back();
    pieces.back().text += c;
  };
  int values = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '%') {
      add_text(text[i++]);
    } else if (text.substr(i, 2) == "%%") {
      add_text('%');
      i += 2;
    } else {
      const std::size_t end = conversion_end(text, i);
      pieces.push_back({std::string(text.substr(i, end - i)), values++});
      i = end;
    }
  }
  return pieces;
}

}  // namespace deplo::ir::tile_program
