// A child process that answers requests, and the reason if it does not answer.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "core/outcome.h"
#include "measure/device.h"
#include "measure/worker/process.h"

namespace deplo::measure::worker {

/// The seconds after which a step fails and its worker is killed.
struct Deadlines {
  double prepare = 120;   // inputs and reference of a large problem take a minute at most
  double build = 15;      // NVRTC took 1.6 s for the slowest of 120 random kernels; its own soft limit is 5 s
  double launch = 2;      // the backend's watchdog, which polls the device, acts earlier
  double sample = 2;      // a batch of launches takes about a millisecond, or is a single launch
  double check = 10;      // reading back and comparing 100 MB takes less than a second
  double candidate = 10;  // the whole screening after the build

  /// Returns the deadlines for a device. They are longer for CPUs: the first launch compiles (PoCL: up to 0.6 s on a
  /// quiet machine, several seconds if both cores are busy), and a launch shares the cores with other programs. They
  /// are longest for the interpreter, which is a hundred times slower than the slowest kernel, and the PTX machine.
  static Deadlines of(const DeviceInfo&);
};

/// The reason why a request has no answer.
struct Lost {
  enum class Cause { died, late, corrupt, cancelled };
  Cause cause = Cause::died;
  StepPage::Now at;
  Process::End end;
};

/// Returns true if the worker was killed by a signal that no fault of a program raises. Such a signal comes from
/// outside: from the system (because memory ran out), a batch system, or a person. Such a loss says nothing about the
/// candidate.
bool ended_from_outside(const Lost&);
/// Returns how often the worker's current candidate is tried, each time in a new worker, before the loss becomes the
/// candidate's result: 3 if the worker was ended from outside, 2 if it died during a build, else 1.
int tries(const Lost&);
/// Returns the loss as a failure of the worker's current candidate. Throws CannotBuild if the compiler ended the worker
/// because a disk is full.
Failure failure_of(const Lost&);
std::string describe(const Lost&);

/// A child process that answers one request at a time. Not thread-safe; see Process.
class Worker {
 public:
  /// Starts the process, without waiting for its first frame.
  explicit Worker(const WorkerCommand& command) : process_(command) {}

  /// Waits for the worker's first frame and returns its payload. If the worker sent an Error instead, throws it.
  std::variant<std::string, Lost> hello(const Deadlines&);

  struct Request {
    FrameType type = FrameType::screen;
    std::string_view payload;
    Deadlines deadlines;
    std::function<bool()> cancelled = {};  // polled while waiting; may be empty
  };
  /// Sends a request and returns the payload of the answer. If the worker sent an Error instead, throws it. After a
  /// loss the process is gone, and this object cannot be used any more.
  std::variant<std::string, Lost> ask(const Request&);

 private:
  std::variant<std::string, Lost> await(const Request&);
  Lost lose(Lost::Cause, std::string_view why);

  Process process_;
  std::uint64_t job_ = 0;
};

}  // namespace deplo::measure::worker
