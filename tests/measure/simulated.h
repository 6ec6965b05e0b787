// A simulated device. Its results are right. Its times come from a model, with every disturbance that real devices
// show, drawn from a seed. Its clock is simulated, too. Tests use it for the protocol and the overhead of the
// framework. Users cannot open it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "core/rng.h"
#include "ir/interpret/interpret.h"
#include "measure/device.h"

namespace deplo::measure {

class HostArrays;

/// The disturbances, relative to the time of a launch except for drift_s. 0: no such disturbance.
struct Disturbances {
  double noise = 0;         // standard deviation of the log time
  double drift = 0;         // amplitude of a sine wave …
  double drift_s = 0.3;     // … and its period in seconds: about two confirmations of short kernels
  double outliers = 0;      // probability that a launch takes 2 to 10 times as long
  double throttle = 0;      // drop of the clock after 30 ms of work without a pause; it lasts 40 ms, or until a pause
  double first_launch = 0;  // extra time of a kernel's first launch after another kernel's
  bool says_clock = true;   // samples include the clock
};

/// Runs candidates of one kernel. A launch of a fraction of the grid writes the first elements of each output, and
/// takes the same fraction of the time. Not thread-safe.
class SimulatedDevice final : public Device {
 public:
  /// The time of an undisturbed launch of the whole grid, in microseconds.
  using Model = std::function<double(const KernelCode&)>;
  /// The outputs are those of `loop`. All arrays must have the same inputs. `watts`: the power during a launch; empty:
  /// the device has no energy counter.
  SimulatedDevice(ir::Program loop, Model model, Disturbances disturbances, std::uint64_t seed, Model watts = {});

  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::cuda; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>&) override;
  Result<std::unique_ptr<Executable>> build(const KernelCode&) override;
  void pause(double milliseconds) override;
  /// The counter steps every 100 ms of simulated time.
  EnergyCounter& energy() override;

  /// Returns the simulated microseconds since the start.
  double now() const { return now_; }

 private:
  class Kernel;
  class Counter;
  void run(double us, double watts);
  void compute(HostArrays& inputs);
  double launch_us(double undisturbed, bool first);
  double clock();

  ir::Program loop_;
  Model model_, watts_;
  Disturbances disturbances_;
  DeviceInfo info_;
  Rng rng_;
  ir::Memory answers_;  // contents of every buffer after a run; empty: not computed yet
  double now_ = 0;
  double taken_mj_ = 0, counted_mj_ = 0;  // the energy until now, and until the counter's last step
  std::unique_ptr<EnergyCounter> energy_;
  double busy_us_ = 0;  // time of launches since the last pause or throttling
  double throttled_until_ = 0;
  const Executable* last_ = nullptr;  // the kernel that ran last
};

}  // namespace deplo::measure
