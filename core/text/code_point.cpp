#include "core/text/code_point.h"

namespace deplo {

CodePoint code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t value = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (starts_code_point(text[i])) return {};
    value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const std::uint32_t min_value = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return value < min_value || value > 0x10FFFF || surrogate ? CodePoint{} : CodePoint{value, bytes};
}

}  // namespace deplo
