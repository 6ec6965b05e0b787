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

}  // namespace deplo::ir::tile_program::text
