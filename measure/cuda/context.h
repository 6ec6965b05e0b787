// Private to measure/cuda: a device's primary context, and the one stream that everything here goes through.
#pragma once
#include <string>

#include "measure/cuda/driver.h"

namespace deplo::measure::cuda {

/// The driver must outlive it, and it all that was made in it. Not copied.
class Context {
 public:
  /// Throws Error(environment).
  Context(const Driver&, int device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  int device() const { return device_; }
  Stream stream() const { return stream_; }
  /// Makes it the calling thread's; every use of the driver needs that.
  void enter() const;
  /// The same for destructors: after a sticky error it fails, which changes nothing, because the process is to end.
  void enter_to_free() const { driver_.context_set(handle_); }
  /// Until all that was enqueued is done. The driver's code, of whatever failed since the last wait.
  int wait() const { return driver_.stream_wait(stream_); }
  /// Microseconds on the device between the two marks, once all is done.
  enum class Mark { start, middle, end };
  int mark(Mark m) const { return driver_.event_record(events_[static_cast<int>(m)], stream_); }
  double elapsed_us(Mark from, Mark to) const;

 private:
  const Driver& driver_;
  int device_;
  ContextHandle handle_ = nullptr;
  Stream stream_ = nullptr;
  Event events_[3] = {};
};

}  // namespace deplo::measure::cuda
