// A strategy in another process: lines that go to its standard input and come from its standard output.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/descriptors.h"

namespace deplo::search::exec {

/// The process has its own process group, so that it does not receive Ctrl-C. Its standard error is passed on to
/// deplo's, and its last line becomes part of a failure's message. Not thread-safe. The system kills the process if the
/// thread that created this object ends.
class Child {
 public:
  /// Runs `command` by /bin/sh, with the folder of deplo_search.py at the end of PYTHONPATH. Throws StrategyFailed if
  /// no process can be started.
  explicit Child(std::string command);
  /// Closes the process's standard input, and kills its process group if it has not ended within a second. After a
  /// failure, kills it at once.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Queues a line, without its newline. Never blocks. Throws StrategyFailed if the process does not read its lines.
  void send(std::string_view line);
  /// Queues the last line before the process has to end.
  void send_last(std::string_view line) noexcept;
  /// The process's next line, without its newline; nullopt: none was complete at `deadline`. Throws StrategyFailed if
  /// the process ended, if its line is longer than 16 MiB, or if it does not read what it was sent. Throws Interrupted
  /// (core/interrupt.h).
  std::optional<std::string> line(std::chrono::steady_clock::time_point deadline);
  /// Throws StrategyFailed if the process has written anything that line() did not return.
  void expect_silence();
  /// Throws StrategyFailed with the command, `what` it did, and its last line on standard error.
  [[noreturn]] void fail(std::string_view what);

 private:
  void wait(int milliseconds);
  void read_output();
  void read_errors();
  void write_input();
  [[noreturn]] void fail_ended();
  std::string last_error_line() const;

  const std::string command_;
  pid_t process_ = -1;
  int input_ = -1, output_ = -1, errors_ = -1;
  bool failed_ = false;
  bool ended_ = false;  // the process closed its standard output
  Outgoing outgoing_;
  std::string incoming_;
  std::size_t searched_ = 0;  // bytes of incoming_ that have no newline
  std::string error_tail_;
};

/// Thrown if a signal arrives (core/interrupt.h), or the search's time ends, while waiting.
struct Interrupted {};

}  // namespace deplo::search::exec
