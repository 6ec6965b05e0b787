// Decides when enough samples are taken: one small class per stage, with three methods. add() takes a measurement,
// done() returns true if no more are needed, value() returns the result.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "measure/protocol/protocol.h"

namespace deplo::measure {

/// The rule of screening. Discards the first sample, which is biased; but if it is far slower than the best, screening
/// ends with it. Then takes up to Protocol::samples more, and the value is their median. Most candidates are slower
/// than the best by more than the error of the samples, and need only one or two samples.
class ScreenRule {
 public:
  ScreenRule(const Protocol& protocol, double best_us) : protocol_(protocol), best_us_(best_us) {}
  void add(double us);
  bool done() const { return stopped_ || samples_.size() >= static_cast<std::size_t>(protocol_.samples); }
  double value() const;

  /// Returns true if screening ended early because the candidate is slow.
  bool stopped() const { return stopped_; }
  /// Returns the samples without the discarded one, unless it was the only one.
  const std::vector<double>& samples() const { return samples_; }

 private:
  const Protocol& protocol_;
  double best_us_;
  bool begun_ = false, stopped_ = false;
  std::vector<double> samples_;
};

/// The rule of confirmation, which runs in rounds of one sample of each contender. Done if the paired ratio of each
/// contender to the leader shows that the leader is faster, or that the difference does not matter. This is tested only
/// after every Protocol::rounds rounds, because frequent tests would find a difference by chance. Always done after
/// max_rounds.
class ConfirmRule {
 public:
  ConfirmRule(const Protocol& protocol, std::size_t contenders) : protocol_(protocol), times_(contenders) {}
  /// Adds a round: one time for each contender. NaN: the contender failed; it must be NaN in all later rounds, too.
  void add(std::span<const double> round);
  bool done() const;
  /// Returns the leader: the contender with the smallest median. At least one contender must not have failed.
  std::size_t value() const;

 private:
  bool decided() const;
  bool running(std::size_t contender) const;  // the contender has not failed
  const Protocol& protocol_;
  std::vector<std::vector<double>> times_;  // per contender
  int rounds_ = 0;
};

}  // namespace deplo::measure
