// Progress messages of long work: a line that is rewritten in place on a terminal, plain lines elsewhere.
#pragma once
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace deplo {

/// Writes to `out` (stderr, so that stdout has only results). Thread-safe.
class Progress {
 public:
  explicit Progress(std::FILE* out, bool quiet = false) : out_(out), quiet_(quiet) {}
  ~Progress() { end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows the current state: only on a terminal, and at most ten times per second. In a narrow window first the name
  /// is shortened, then the details.
  void status(std::string_view name, std::string_view details);
  /// Writes a permanent line, wrapped if the window is too narrow.
  void line(std::string_view text);
  /// Writes a line only if `out` is not a terminal, where the status would show the same information. At most one line
  /// per second.
  void news(std::string_view text);
  /// Removes the status from the terminal and shows nothing from now on, because results follow.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  // The caller of these functions must hold the lock.
  void clear();
  void write_line(std::string_view text);

  std::mutex mutex_;
  std::FILE* out_;
  bool quiet_;
  bool shown_ = false;  // the terminal's last line shows a status
  Clock::time_point last_status_{}, last_news_{};
};

/// The status line for a window of `width` columns; 0: no limit.
std::string fit_status(std::string_view name, std::string_view details, std::size_t width);

}  // namespace deplo
