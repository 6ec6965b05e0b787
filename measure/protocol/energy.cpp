#include "measure/protocol/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace deplo::measure {
namespace {

// The usual time of a batch. The counter is read once per batch, so a step is noticed up to one batch late. Between
// batches a GPU rests for some 20 µs, which is less than half a percent of a batch.
constexpr double usual_batch_us = 5000;
// Ratio of a batch's time to that of a reading. The batch keeps the device busy during the reading.
constexpr double batch_per_reading = 2;
// Upper bound on the launches of a batch. The shortest launches of a graph take 1.2 µs, so that 5 ms hold about this
// many.
constexpr int max_launches = 4096;
// Ratio of the delay with which a step may be noticed to the measured time.
constexpr double max_relative_delay = 0.02;
// If the counter does not step for this long, the measurement fails. Sixteen times the step of the slowest counter.
constexpr double standstill_us = 2e6;

/// The counter's value after this number of launches.
struct Reading {
  double millijoules = 0;
  std::int64_t launches = 0;
};

/// Finds two steps of the counter that are far enough apart.
class EnergyMeter {
 public:
  /// `delay_us`: upper bound on the delay with which a step is noticed.
  EnergyMeter(double launch_us, double delay_us)
      : launch_us_(launch_us), required_us_(std::max(energy_seconds * 1e6, delay_us / max_relative_delay)) {}

  /// Returns the energy of a launch once both steps are known; nullopt: more readings are needed.
  std::optional<Result<double>> add(const Reading& reading) {
    if (steps_ >= 0 && reading.millijoules == last_.millijoules) {
      if (us(last_, reading) < standstill_us) return std::nullopt;
      return Failure{Status::no_energy,
                     fmt::format("the device's energy counter stood still at {:.0f} mJ for {:.0f} s of launches",
                                 reading.millijoules, us(last_, reading) * 1e-6)};
    }
    last_ = reading;
    if (++steps_ == 1) first_ = reading;  // the first reading lies between two steps
    if (steps_ <= 1 || us(first_, reading) < required_us_) return std::nullopt;
    if (reading.millijoules <= first_.millijoules)
      return Failure{Status::no_energy, fmt::format("the device's energy counter went back from {:.0f} to {:.0f} mJ",
                                                    first_.millijoules, reading.millijoules)};
    return (reading.millijoules - first_.millijoules) / static_cast<double>(reading.launches - first_.launches);
  }

 private:
  double us(const Reading& from, const Reading& to) const {
    return static_cast<double>(to.launches - from.launches) * launch_us_;
  }

  double launch_us_, required_us_;
  Reading first_, last_;  // the reading at the first step, and the latest reading
  int steps_ = -1;        // -1: nothing was read; 0: one reading
};

/// Returns how long a batch should take, in microseconds.
Result<double> batch_time(EnergyCounter& counter) {
  double reading_us = 0;
  for (int i = 0; i < 2; ++i) {  // the first reading may take longer than the next one
    const auto start = std::chrono::steady_clock::now();
    if (const auto reading = counter.millijoules(); !reading.ok()) return reading.failure();
    reading_us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  }
  return std::max(usual_batch_us, batch_per_reading * reading_us);
}

}  // namespace

Result<double> energy_of_launch(Executable& executable, OperandSets& sets, std::int64_t blocks, double launch_us,
                                EnergyCounter& counter) {
  const auto batch_us = batch_time(counter);
  if (!batch_us.ok()) return batch_us.failure();
  const auto all = static_cast<int>(sets.size());
  int batch = static_cast<int>(std::clamp(batch_us.value() / launch_us, 1.0, static_cast<double>(max_launches)));
  if (batch > all) batch -= batch % all;  // every batch begins with the same set, so that one graph serves all batches
  EnergyMeter meter(launch_us, std::min(batch * launch_us, counter.step_us()));
  for (std::int64_t launches = 0;; launches += batch) {
    std::optional<Result<double>> reading;
    const auto read = [&] { reading = counter.millijoules(); };
    if (auto failure = executable.repeat(sets.next(batch), blocks, batch, read)) return *failure;
    CHECK(reading);
    if (!reading->ok()) return reading->failure();
    if (auto energy = meter.add({reading->value(), launches})) return *energy;
  }
}

}  // namespace deplo::measure
