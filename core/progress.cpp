#include "core/progress.h"

#include <algorithm>

#include "core/text/text.h"
#include "core/text/wrap.h"

namespace deplo {
namespace {

constexpr auto status_interval = std::chrono::milliseconds(100);
constexpr auto news_interval = std::chrono::seconds(1);
constexpr std::size_t least_name = 8;  // columns: a shorter name would say nothing, so the details are cut instead

}  // namespace

std::string fit_status(std::string_view shown_name, std::string_view shown_details, std::size_t width) {
  const std::string name = printable(shown_name), details = printable(shown_details);
  if (width == 0) return name + "  " + details;
  const std::size_t rest = columns(details) + 2;
  const std::size_t for_name = std::max(least_name, width > rest ? width - rest : 0);
  return cut(cut(name, for_name) + "  " + details, width);
}

void Progress::status(std::string_view name, std::string_view details) {
  const std::lock_guard lock(mutex_);
  const std::size_t width = quiet_ ? 0 : terminal_width(fileno(out_));
  const auto now = Clock::now();
  if (width == 0 || now - last_status_ < status_interval) return;
  last_status_ = now;
  // One column stays free: a full last line makes some terminals wrap.
  std::fprintf(out_, "\r\x1b[K%s", fit_status(name, details, width - 1).c_str());
  std::fflush(out_);
  shown_ = true;
}

void Progress::line(std::string_view text) {
  const std::lock_guard lock(mutex_);
  write_line(text);
}

void Progress::news(std::string_view text) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (quiet_ || terminal_width(fileno(out_)) > 0 || now - last_news_ < news_interval) return;
  last_news_ = now;
  write_line(text);
}

void Progress::end() {
  const std::lock_guard lock(mutex_);
  clear();
  quiet_ = true;
}

void Progress::write_line(std::string_view text) {
  if (quiet_) return;
  clear();
  constexpr std::size_t indent = 4;  // indentation of continuation lines
  std::fprintf(out_, "%s\n", wrap(printable_lines(text), terminal_width(fileno(out_)), indent).c_str());
  std::fflush(out_);
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", out_);
  std::fflush(out_);
  shown_ = false;
}

}  // namespace deplo
