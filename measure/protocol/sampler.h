// Samples under conditions that compare: at the clock of the others, on operands that are as cold as theirs.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "measure/device.h"
#include "measure/protocol/operand_sets.h"

namespace deplo::measure {

/// Of one stage of one kernel on one device.
class Sampler {
 public:
  /// `least_clock`: a sample below this part of the median clock of the stage's last samples is taken again; after
  /// three in a row the device rests for 50 ms, the next time for 1.5 times that, at most 500 ms. A sample that is as
  /// slow after two rests counts: it is this candidate's clock.
  Sampler(Device& device, double least_clock) : device_(device), least_clock_(least_clock) {}

  struct Taken {
    Sample sample;
    std::vector<double> rejected = {};  // µs
  };
  /// Fails with what the executable says, or noop.
  Result<Taken> take(Executable&, OperandSets&, std::int64_t blocks, int batch);
  /// All launches on the first set.
  Result<Taken> take_warm(Executable&, OperandSets&, std::int64_t blocks, int batch);
  /// A launch of a reference kernel, whose speed is the clock of a device that does not say it.
  Result<Taken> watch(Executable&, Arrays&, std::int64_t blocks);
  /// After 20 ms without a sample the clocks of a GPU are down: launches bring them up again (warm_up.h). Nothing on
  /// CPUs.
  std::optional<Failure> wake(Executable&, OperandSets&, std::int64_t blocks, int batch);

 private:
  using Draw = std::function<Result<Sample>()>;
  Result<Taken> settle(const Draw&);
  bool is_low(double clock_mhz);
  void rest();

  Device& device_;
  double least_clock_;
  std::deque<double> clocks_;  // of the last samples, rejected ones too, so that a lasting change is got used to
  double woken_mhz_ = 0;       // where the last wake() ended
  double rest_ms_ = 0;         // the last rest since a sample that was not low
  std::chrono::steady_clock::time_point last_{};
};

/// noop where the time is not a positive number.
std::optional<Failure> check_time(double us);

}  // namespace deplo::measure
