// Private to measure/cuda: a device's primary context, and the only stream that measure/cuda uses.
#pragma once

#include "measure/cuda/driver.h"

namespace deplo::measure::cuda {

/// The driver must outlive the context, and the context must outlive everything created in it. Not copyable.
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
  /// Makes this the calling thread's context, which every use of the driver requires.
  void enter() const;
  /// The same as enter(), for destructors. Ignores failures: after a sticky error the call always fails, and the
  /// process must end anyway.
  void enter_to_free() const { driver_.context_set(handle_); }
  /// Waits until everything enqueued is done. Returns the driver's code, which also reports failures since the last
  /// wait.
  int wait() const { return driver_.stream_wait(stream_); }
  /// Records a mark on the stream, and returns the driver's code. elapsed_us() returns the microseconds on the device
  /// between two marks; call it after wait().
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
