#include "apps/interrupt.h"

#include <csignal>

namespace deplo::apps {
namespace {

volatile std::sig_atomic_t signal_seen = 0;

void remember(int number) { signal_seen = number; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupted() { return signal_seen; }

}  // namespace deplo::apps
