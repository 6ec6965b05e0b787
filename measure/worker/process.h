// A child process that may die or has to: spawned, read from and written to without ever waiting for it, ended for
// sure.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/work_folder.h"
#include "measure/worker/frame.h"
#include "measure/worker/step.h"

namespace deplo::measure::worker {

/// What to run: the file, and its words behind argv[0].
struct WorkerCommand {
  std::string program = "/proc/self/exe";
  std::vector<std::string> arguments;
};

/// The descriptors that a worker finds open, beside the standard streams.
inline constexpr int worker_socket = 3, worker_page = 4;

/// Of its own process group, so that Ctrl-C is not for it. Its standard output and error are one pipe, of which the
/// last lines are kept. Its temporary files, and PoCL's, go with it. Not thread-safe. The system kills the child when
/// the thread that made this ends: that thread must live as long.
class Process {
 public:
  /// Throws Error(environment) when there can be none.
  explicit Process(const WorkerCommand&);
  /// Ends the process.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits until the child has written or taken something, at most `seconds` (less after a signal): reads what it
  /// wrote, sends what is left of `send()`.
  void wait(double seconds);
  /// A request: what was said before belongs to another.
  void send(const Frame&);
  bool sending() const { return !outgoing_.empty(); }

  /// The next whole frame that was read.
  std::optional<Frame> next() { return reader_.next(); }
  /// Nothing more will come: the child closed its end, or wrote what is no frame.
  bool closed() const { return closed_ || !reader_.fault().empty(); }
  const std::string& fault() const { return reader_.fault(); }
  StepPage::Now step() const { return page_.read(); }

  /// How a process ended.
  struct End {
    int signal = 0;    // that ended it, if it was not ours
    std::string text;  // "ended with code 3", "was ended by signal 11 (Segmentation fault)", "was ended: …"
    std::string said;  // its last lines
  };
  /// Kills what is left of the process group, and reaps. `why`: the reason where the child did not end by itself.
  /// To be called once.
  End end(std::string_view why);

 private:
  void read_socket();
  void read_log();
  void write_socket();
  std::string last_lines() const;

  const WorkFolder folder_;  // of the child's temporary files; removed when it is gone
  StepPage page_ = StepPage::create();
  int socket_ = -1, log_ = -1;
  pid_t child_ = -1;
  bool closed_ = false;
  FrameReader reader_;
  std::string outgoing_;
  std::string log_tail_;
};

}  // namespace deplo::measure::worker
