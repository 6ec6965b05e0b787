// A device that only pretends: right results, times from a model, and every disturbance that real ones show, from a
// seed and by a clock of its own. It tests the protocol, and what the framework costs beside the device. No user can
// open it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "core/rng.h"
#include "ir/interpret/interpret.h"
#include "measure/device.h"

namespace deplo::measure {

/// All relative to the time of a launch; 0: not there.
struct Disturbances {
  double noise = 0;         // standard deviation of its logarithm
  double drift = 0;         // amplitude of a wave of drift_s seconds
  double drift_s = 0.3;     // about two confirmations of short kernels
  double outliers = 0;      // probability of a launch that takes 2 to 10 times as long
  double throttle = 0;      // how much the clock falls after 30 ms of work without a pause, until one or for 40 ms
  double first_launch = 0;  // what the first launch of a kernel after another's takes more
  bool says_clock = true;
};

/// Runs candidates of one kernel. Launches of a part of the grid write the first part of each output and take that part
/// of the time. Not thread-safe.
class SimulatedDevice final : public Device {
 public:
  /// Microseconds of an undisturbed launch of the whole grid.
  using Model = std::function<double(const KernelCode&)>;
  /// The outputs are those of `loop`; the inputs of all arrays must be the same.
  SimulatedDevice(ir::Program loop, Model model, Disturbances disturbances, std::uint64_t seed);

  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::cuda; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>&) override;
  Result<std::unique_ptr<Executable>> build(const KernelCode&) override;
  void pause(double milliseconds) override;

  /// Microseconds since the start.
  double now() const { return now_; }

 private:
  class HostArrays;
  class Kernel;
  void compute(const HostArrays& inputs);
  double launch_us(double undisturbed, bool first);
  double clock();

  ir::Program loop_;
  Model model_;
  Disturbances disturbances_;
  DeviceInfo info_;
  Rng rng_;
  ir::Memory answers_;  // contents of every buffer after a run; empty: not computed yet
  double now_ = 0;
  double busy_us_ = 0;  // since the last pause
  double throttled_until_ = 0;
  const Executable* last_ = nullptr;  // to run
};

}  // namespace deplo::measure
