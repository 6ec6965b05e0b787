#include "ir/tile_program/text/quoted.h"

#include <fmt/format.h>

namespace deplo::ir::tile_program::text {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

bool is_hex_digit(char c) { return is_decimal(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
int value_of_hex(char c) { return is_decimal(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

}  // namespace

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

std::string unquoted(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (is_hex_digit(c) && i + 1 < text.size() && is_hex_digit(text[i + 1])) {
      out += static_cast<char>(16 * value_of_hex(c) + value_of_hex(text[i + 1]));
      ++i;
    } else {
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
  return out;
}

}  // namespace deplo::ir::tile_program::text
