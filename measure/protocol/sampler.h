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

/// Takes the samples of one stage (screening or confirmation) of one kernel on one device.
class Sampler {
 public:
  /// `least_clock`: a sample is taken again if its clock is below this share of the median clock of the stage's last
  /// samples. After three such samples in a row the device rests for 50 ms. Each further rest is 1.5 times as long, at
  /// most 500 ms. A sample whose clock is still low after two rests counts: the candidate itself lowers the clock.
  Sampler(Device& device, double least_clock) : device_(device), least_clock_(least_clock) {}

  struct Taken {
    Sample sample;
    std::vector<double> rejected = {};  // µs
  };
  /// Takes a sample on rotating sets. Fails with the executable's failure, or noop.
  Result<Taken> take(Executable&, OperandSets&, std::int64_t blocks, int batch);
  /// Like take(), but with all launches on the first set.
  Result<Taken> take_warm(Executable&, OperandSets&, std::int64_t blocks, int batch);
  /// Takes a sample of one launch of a reference kernel. If the device does not report its clock, the kernel's speed is
  /// used as the clock.
  Result<Taken> watch(Executable&, Arrays&, std::int64_t blocks);
  /// If there was no sample for 20 ms, launches the kernel until the GPU's clock has risen again (warm_up.h). Does
  /// nothing on CPUs.
  std::optional<Failure> wake(Executable&, OperandSets&, std::int64_t blocks, int batch);

 private:
  using Draw = std::function<Result<Sample>()>;
  Result<Taken> settle(const Draw&);
  bool is_low(double clock_mhz);
  void rest();

  Device& device_;
  double least_clock_;
  std::deque<double> clocks_;  // of the last samples, even rejected ones, so that the median follows lasting changes
  double woken_mhz_ = 0;       // the clock at the end of the last wake()
  double rest_ms_ = 0;         // length of the last rest; 0: a sample had a normal clock since
  std::chrono::steady_clock::time_point last_{};
};

/// Returns noop if the time is not a positive number.
std::optional<Failure> check_time(double us);

}  // namespace deplo::measure
