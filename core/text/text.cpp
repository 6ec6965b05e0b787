#include "core/text/text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/text/code_point.h"

namespace deplo {
namespace {

// DEL and C1 are control characters, too. The last two ranges change the direction of the text after them.
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

std::string whole_lines(std::string text) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string join(std::span<const std::string> texts, std::string_view separator) {
  return fmt::format("{}", fmt::join(texts, separator));
}

std::string join(std::span<const std::int64_t> numbers, std::string_view separator) {
  return fmt::format("{}", fmt::join(numbers, separator));
}

std::string duration(double seconds) {
  const auto total = static_cast<long>(std::clamp(std::ceil(seconds), 0.0, 1e9));
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

}  // namespace deplo
