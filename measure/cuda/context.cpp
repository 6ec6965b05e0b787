#include "measure/cuda/context.h"

namespace deplo::measure::cuda {

Context::Context(const Driver& driver, int device) : driver_(driver), device_(device) {
  driver_.require(driver_.context_retain(&handle_, device_), "create a context");
  enter();
  // The stream does not synchronize with the legacy stream, which a library may use. deplo's copies and fills use this
  // stream, too.
  constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING
  driver_.require(driver_.stream_create(&stream_, non_blocking), "create a stream");
  for (Event& event : events_) driver_.require(driver_.event_create(&event, 0), "create an event");
}

// After a sticky error each of these calls fails. That does not matter, because the process has to end anyway.
Context::~Context() {
  driver_.context_set(handle_);
  for (Event event : events_) driver_.event_destroy(event);
  driver_.stream_destroy(stream_);
  driver_.context_release(device_);
}

void Context::enter() const { driver_.require(driver_.context_set(handle_), "use the context"); }

double Context::elapsed_us(Mark from, Mark to) const {
  float milliseconds = 0;
  driver_.require(driver_.event_elapsed(&milliseconds, events_[static_cast<int>(from)], events_[static_cast<int>(to)]),
                  "read the device's clock");
  return static_cast<double>(milliseconds) * 1e3;
}

}  // namespace deplo::measure::cuda
