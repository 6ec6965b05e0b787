#include "core/text/text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace deplo {
namespace {

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// The code point at the front and how many bytes it has; 0 bytes: no UTF-8 (RFC 3629: shortest form, no surrogates).
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;
};

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
  const std::uint32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return value < least || value > 0x10FFFF || surrogate ? CodePoint{} : CodePoint{value, bytes};
}

// DEL and C1 are controls, too; the last two ranges turn the direction of what stands behind them.
bool is_hidden(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string escape(std::string_view text, std::string_view kept) {
  std::string out;
  while (!text.empty()) {
    const auto [value, bytes] = code_point(text);
    const std::string_view taken = text.substr(0, std::max<std::size_t>(bytes, 1));
    if (bytes == 0 || (value < 0x20 && kept.find(text[0]) == std::string_view::npos))
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (value >= 0x20 && is_hidden(value))
      out += fmt::format("\\u{:04x}", value);
    else
      out += taken;
    text.remove_prefix(taken.size());
  }
  return out;
}

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string cut(std::string_view text, std::size_t width) {
  if (columns(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end)
    if (starts_code_point(text[end]) && ++seen == width) break;
  return std::string(text.substr(0, end)) + "…";
}

std::size_t terminal_width(int descriptor) {
  winsize size{};
  if (!isatty(descriptor)) return 0;
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string significant(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size < 1 ? 3 : size < 10 ? 2 : size < 100 ? 1 : 0);
}

std::string printable(std::string_view text) { return escape(text, ""); }
std::string printable_lines(std::string_view text) { return escape(text, "\n\t"); }

std::string counted(std::int64_t count, std::string_view one) {
  const bool hisses = one.ends_with("ch");
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : hisses ? "es" : "s");
}

std::string duration(double seconds) {
  const auto total = static_cast<long>(std::clamp(std::ceil(seconds), 0.0, 1e9));
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

}  // namespace deplo
