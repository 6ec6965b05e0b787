// Measures the device's frequency during a sample with the device's own counters. This needs neither NVML nor special
// rights.
#pragma once
#include <span>

#include "measure/cuda/compiler/nvrtc.h"
#include "measure/cuda/context.h"

namespace deplo::measure::cuda {

/// The counters of one multiprocessor: its number (%smid), %globaltimer in nanoseconds, and %clock64 in cycles.
struct ClockReading {
  std::uint64_t unit = 0, nanoseconds = 0, cycles = 0;
};

/// Returns the median frequency of the multiprocessors that are in both readings, in MHz. Each multiprocessor has its
/// own cycle counter. Returns 0 if no multiprocessor is in both.
double clock_mhz(std::span<const ClockReading> before, std::span<const ClockReading> after);

/// A tiny kernel that is launched before and after a sample. It has one block per multiprocessor; the block reads the
/// counters.
class ClockProbe {
 public:
  /// Builds the kernel with NVRTC, or takes it from the cache. Throws Error(environment).
  ClockProbe(const Context&, const Nvrtc&, const std::string& architecture, int units);
  ~ClockProbe();
  ClockProbe(const ClockProbe&) = delete;
  ClockProbe& operator=(const ClockProbe&) = delete;

  /// These enqueue a reading and return the driver's code. before() also keeps the device busy until the sample's
  /// launches are enqueued. Otherwise the sample would include the host's time for enqueueing.
  int before() const { return launch(0, hold_cycles); }
  int after() const { return launch(units_, 0); }
  /// Waits, and returns the frequency in MHz between the last two readings. Throws Error(environment).
  double mhz() const;

 private:
  // About 50 us, which is ten times as long as a driver takes to start a graph.
  static constexpr long long hold_cycles = 100'000;
  int launch(std::size_t first, long long cycles) const;
  const Context& context_;
  std::size_t units_;
  Module module_ = nullptr;
  Function function_ = nullptr;
  Address readings_ = 0;
};

}  // namespace deplo::measure::cuda
