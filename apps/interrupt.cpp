#include "apps/interrupt.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <utility>

namespace deplo::apps {
namespace {

volatile std::sig_atomic_t signal_seen = 0;

void remember(int number) { signal_seen = number; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
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
        report();
        _exit(128 + interrupted());
      }) {}

void Deadline::lift() {
  thread_.request_stop();
  claim_.lock();
  claim_.unlock();
}

}  // namespace deplo::apps
