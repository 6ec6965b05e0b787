#include "ir/tile_program/text/literal.h"

#include <fmt/format.h>

#include <cmath>

namespace deplo::ir::tile_program::text {

std::string print_literal(std::uint64_t bits, DType e) {
  if (e == DType::boolean) return bits != 0 ? "true" : "false";
  if (is_integral(e)) return std::to_string(as_signed(bits, width(e)));
  const double value = decode_float(bits, e);
  if (!std::isfinite(value)) return fmt::format("{:#X}", bits);
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (const std::size_t exponent = text.find('e'); exponent != std::string::npos && text.find('.') == std::string::npos)
    text.insert(exponent, ".0");
  return text;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F)
      out += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace deplo::ir::tile_program::text
