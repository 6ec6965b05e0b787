// Takes samples under comparable conditions: at the same clock, and with equally cold operands.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "measure/device.h"
#include "measure/protocol/operand_sets.h"

namespace deplo::measure {

/// For one stage of one kernel on one device.
class Sampler {
 public:
  /// `least_clock`: a sample whose clock is below this share of the median clock of the stage's last samples is taken
  /// again. After three such samples in a row the device rests for 50 ms; each further rest is 1.5 times as long, at
  /// most 500 ms. A sample that is still slow after two rests counts: the low clock is this candidate's own.
  Sampler(Device& device, double least_clock) : device_(device), least_clock_(least_clock) {}

  struct Taken {
    Sample sample;
    std::vector<double> rejected = {};  // µs
  };
  /// Takes a sample on rotating sets. Fails with the executable's failure, or noop.
  Result<Taken> take(Executable&, OperandSets&, std::int64_t blocks, int batch);
  /// The same with all launches on the first set.
  Result<Taken> take_warm(Executable&, OperandSets&, std::int64_t blocks, int batch);
  /// Takes a sample of one launch of a reference kernel. On a device that does not report its clock, the kernel's speed
  /// stands for the clock.
  Result<Taken> watch(Executable&, Arrays&, std::int64_t blocks);
  /// If there was no sample for 20 ms, launches the kernel until the GPU's clock is up again (warm_up.h). Does nothing
  /// on CPUs.
  std::optional<Failure> wake(Executable&, OperandSets&, std::int64_t blocks, int batch);

 private:
  using Draw = std::function<Result<Sample>()>;
  Result<Taken> settle(const Draw&);
  bool is_low(double clock_mhz);
  void rest();

  Device& device_;
  double least_clock_;
  std::deque<double> clocks_;  // of the last samples; rejected ones count, so that the median follows a lasting change
  double woken_mhz_ = 0;       // the clock at the end of the last wake()
  double rest_ms_ = 0;         // the last rest; 0: the clock was not low since
  std::chrono::steady_clock::time_point last_{};
};

/// Returns noop if the time is not a positive number.
std::optional<Failure> check_time(double us);

}  // namespace deplo::measure
