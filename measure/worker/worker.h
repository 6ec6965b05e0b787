// One child process that answers requests, and how it was lost where it does not.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "core/outcome.h"
#include "measure/device.h"
#include "measure/worker/process.h"

namespace deplo::measure::worker {

/// Seconds after which a step of a worker is given up, and with it the worker.
struct Deadlines {
  double prepare = 120;   // inputs and reference of a large problem, allocated, drawn and computed: a minute at most
  double build = 15;      // NVRTC's slowest of 120 random kernels took 1.6 s; its own soft limit is 5 s
  double launch = 2;      // the backend's watchdog, which polls the device, comes before
  double sample = 2;      // a batch of launches takes a millisecond or is one launch
  double check = 10;      // reading 100 MB back and comparing takes less than a second
  double candidate = 10;  // all of a screening behind the build

  /// Of a CPU, the first launch compiles (PoCL: up to 0.6 s on a quiet machine, several where both cores are busy), and
  /// a launch shares the cores with whatever else runs. The interpreter is a hundred times slower than the slowest
  /// kernel.
  static Deadlines of(const DeviceInfo&);
};

/// Why a request has no answer.
struct Lost {
  enum class Cause { died, late, corrupt, cancelled };
  Cause cause = Cause::died;
  StepPage::Now at;
  Process::End end;
};

/// Whether another process ended it by a signal that no fault raises: the system where memory runs out, a batch system,
/// a person. It says nothing of the candidate.
bool ended_from_outside(const Lost&);
/// How often the candidate that the worker was at is tried, each time in a new worker, before the loss is its result:
/// again where it was ended from outside, and once again where it died while it built.
int tries(const Lost&);
/// As the failure of the candidate that the worker was at.
Failure failure_of(const Lost&);
std::string describe(const Lost&);

/// Not thread-safe; see Process.
class Worker {
 public:
  /// Starts the process; it need not have said a word yet.
  explicit Worker(const WorkerCommand& command) : process_(command) {}

  /// The payload of the worker's first frame. Throws the Error that the worker had instead.
  std::variant<std::string, Lost> hello(const Deadlines&);

  struct Request {
    FrameType type = FrameType::screen;
    std::string_view payload;
    Deadlines deadlines;
    std::function<bool()> cancelled = {};  // polled meanwhile; may be empty
  };
  /// The payload of the answer. After a loss the process is gone: destroy this. Throws the Error that the worker had
  /// instead of an answer.
  std::variant<std::string, Lost> ask(const Request&);

 private:
  std::variant<std::string, Lost> await(const Request&);
  std::string open(const Frame&) const;
  Lost lose(Lost::Cause, std::string_view why);

  Process process_;
  std::uint64_t job_ = 0;
};

}  // namespace deplo::measure::worker
