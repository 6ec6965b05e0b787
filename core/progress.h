// What long work says while it runs: one line rewritten in place on a terminal, plain lines elsewhere.
#pragma once
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace deplo {

/// Writes to `out` (stderr, so that stdout holds results only). Thread-safe.
class Progress {
 public:
  explicit Progress(std::FILE* out, bool quiet = false) : out_(out), quiet_(quiet) {}
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The present state; shown on a terminal only, at most ten times a second. In a narrow window first the name is
  /// shortened, then the details.
  void status(std::string_view name, std::string_view details);
  /// A line that stays, wrapped in a window that is too narrow for it.
  void line(std::string_view text);
  /// A line that stays off a terminal, where no status shows the same, at most one a second.
  void news(std::string_view text);
  /// Takes the status from the terminal and shows nothing from now on: results come next.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  // Both of one who has the lock.
  void clear();
  void write_line(std::string_view text);

  std::mutex mutex_;
  std::FILE* out_;
  bool quiet_;
  bool shown_ = false;  // a status stands on the terminal's last line
  Clock::time_point last_status_{}, last_news_{};
};

/// The status line for a window of that many columns; 0: no limit.
std::string fit_status(std::string_view name, std::string_view details, std::size_t width);

}  // namespace deplo
