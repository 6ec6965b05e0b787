// Ctrl-C, SIGTERM and a closed terminal as a flag that long work polls.
#pragma once
#include <functional>
#include <mutex>
#include <thread>

namespace deplo {

/// From now on SIGINT, SIGTERM and SIGHUP (unless ignored: nohup) set the flag and do nothing else: use a Deadline
/// beside long work. Call it before any other thread is started.
void catch_interrupts();
/// The number of the signal that came, 0: none.
int interrupted();

/// Ends the process when long work does not see the flag within 0.7 s: a build or a launch may take seconds, and what
/// is stored stays stored even so.
class Deadline {
 public:
  /// `report` is called once at most, from another thread, before the process ends with code 128 + signal.
  explicit Deadline(std::function<void()> report);
  /// From here on the work reports for itself; if `report` has begun this does not return.
  void lift();

 private:
  std::mutex claim_;  // held by the one that reports
  std::jthread thread_;
};

}  // namespace deplo
