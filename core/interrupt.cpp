#include "core/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <utility>

#include "core/error.h"

namespace deplo {
namespace {

std::atomic<int> signal_seen = 0;

bool ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

// The signals are blocked in all threads and waited for, not handled. A compiler in the process (PoCL's LLVM) installs
// handlers that delete the files it works on, and Ctrl-C would also kill its child processes. In both cases a correct
// candidate would be stored as one that does not build.
void catch_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (!ignored(SIGHUP)) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    for (int number = 0;;)
      if (sigwait(&signals, &number) == 0) signal_seen = number;
  }).detach();
}

int interrupted() { return signal_seen; }

Deadline::Deadline(std::function<void()> report)
    : thread_([this, report = std::move(report)](const std::stop_token& stop) {
        using namespace std::chrono_literals;
        while (!interrupted() && !stop.stop_requested()) std::this_thread::sleep_for(20ms);
        const auto end = std::chrono::steady_clock::now() + 700ms;
        while (std::chrono::steady_clock::now() < end && !stop.stop_requested()) std::this_thread::sleep_for(20ms);
        const std::unique_lock lock(claim_, std::try_to_lock);
        if (stop.stop_requested() || !lock.owns_lock()) return;
        try {
          report();
        } catch (const Error&) {
          // Standard output is gone (a closed terminal), so nobody can be told.
        }
        _exit(128 + interrupted());
      }) {}

void Deadline::lift() {
  thread_.request_stop();
  claim_.lock();
  claim_.unlock();
}

}  // namespace deplo
