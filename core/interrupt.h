// Turns Ctrl-C, SIGTERM and a closed terminal into a flag that long work polls.
#pragma once
#include <functional>
#include <mutex>
#include <thread>

namespace deplo {

/// From now on SIGINT, SIGTERM and SIGHUP (unless ignored: nohup) only set the flag, so use a Deadline during long
/// work. Call it before starting any other thread.
void catch_interrupts();
/// The number of the last signal that arrived; 0: none.
int interrupted();

/// Ends the process if long work does not react to the flag within 0.7 s, because a build or a launch may take seconds.
/// Stored results are not lost.
class Deadline {
 public:
  /// `report` is called at most once, from another thread, before the process ends with code 128 + signal.
  explicit Deadline(std::function<void()> report);
  /// Lifts the deadline: from here on the work itself reports. Does not return if `report` has started.
  void lift();

 private:
  std::mutex claim_;  // held by the thread that reports
  std::jthread thread_;
};

}  // namespace deplo
