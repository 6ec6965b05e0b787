// The device's frequency while something runs, by its own counters: no NVML, no rights needed.
#pragma once
#include <memory>
#include <span>

#include "measure/cuda/compiler/nvrtc.h"
#include "measure/cuda/context.h"

namespace deplo::measure::cuda {

/// What one multiprocessor's counters said: its number, %globaltimer in nanoseconds, %clock64 in cycles.
struct ClockReading {
  std::uint64_t unit = 0, nanoseconds = 0, cycles = 0;
};

/// Each multiprocessor counts cycles for itself: those that both readings have are compared, the median counts. 0:
/// none.
double clock_mhz(std::span<const ClockReading> before, std::span<const ClockReading> after);

/// A tiny kernel launched before and after a sample: one block for each multiprocessor reads its counters.
class ClockProbe {
 public:
  /// Builds it through NVRTC (and its cache). Throws Error(environment).
  ClockProbe(const Context&, const Nvrtc&, const std::string& architecture, int units);
  ~ClockProbe();
  ClockProbe(const ClockProbe&) = delete;
  ClockProbe& operator=(const ClockProbe&) = delete;

  /// Enqueue a reading. The driver's code. The first holds the device meanwhile: what is enqueued behind it is there
  /// when it starts, else the host's time for that would be measured.
  int before() const { return launch(0, hold_cycles); }
  int after() const { return launch(units_, 0); }
  /// Of the last two, once they are done; waits. Throws Error(environment).
  double mhz() const;

 private:
  // About 50 us: ten times what a driver takes to start a graph.
  static constexpr long long hold_cycles = 100'000;
  int launch(std::size_t first, long long cycles) const;
  const Context& context_;
  std::size_t units_;
  Module module_ = nullptr;
  Function function_ = nullptr;
  Address readings_ = 0;
};

}  // namespace deplo::measure::cuda
