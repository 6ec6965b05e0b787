// A child process that may die or may have to be killed. Reading and writing never block, and the child always ends.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptors.h"
#include "measure/work_folder.h"
#include "measure/worker/frame.h"
#include "measure/worker/step.h"

namespace deplo::measure::worker {

/// The command of a worker: the program's file, and the arguments after argv[0].
struct WorkerCommand {
  std::string program = "/proc/self/exe";
  std::vector<std::string> arguments;
};

/// The descriptors that are open in a worker in addition to the standard streams.
inline constexpr int worker_socket = 3, worker_page = 4;

/// A child process. It has its own process group, so that it does not receive Ctrl-C. Its standard output and error go
/// to one pipe, and the last lines are kept. Its temporary files, and those of PoCL, are removed with it. The system
/// kills the child if the thread that created this object ends, so that thread must outlive the object. Not
/// thread-safe.
class Process {
 public:
  /// Throws Error(environment) if the child cannot be started.
  explicit Process(const WorkerCommand&);
  /// Kills the process.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits until the child has written or read something, at most `seconds` (less if a signal arrives). Reads the
  /// child's output, and sends the rest of the frames given to send().
  void wait(double seconds);
  /// Queues a request. Drops the kept lines of output, which belong to earlier requests.
  void send(const Frame&);
  bool sending() const { return outgoing_.size() > 0; }

  /// Returns the next whole frame that was read; nullopt if there is none.
  std::optional<Frame> next() { return reader_.next(); }
  /// Returns true if no more frames will come: the child closed its end, or wrote something that is not a frame.
  bool closed() const { return closed_ || !reader_.fault().empty(); }
  const std::string& fault() const { return reader_.fault(); }
  StepPage::Now step() const { return page_.read(); }

  /// How a process ended.
  struct End {
    int signal = 0;    // the signal that ended it, unless end() sent it
    std::string text;  // "ended with code 3", "was ended by signal 11 (Segmentation fault)", "was ended: …"
    std::string said;  // the last lines of its output
  };
  /// Kills the rest of the process group, and reaps the child. `why`: the reason in End::text if the child had not
  /// ended before. May be called only once.
  End end(std::string_view why);

 private:
  void read_socket();
  void read_log();
  std::string last_lines() const;

  const WorkFolder folder_;  // for the child's temporary files; removed after the child
  StepPage page_ = StepPage::create();
  int socket_ = -1, log_ = -1;
  pid_t child_ = -1;
  bool closed_ = false;
  FrameReader reader_;
  Outgoing outgoing_;
  std::string log_tail_;
};

}  // namespace deplo::measure::worker
