// When enough samples are taken: one small class per stage, each of three methods. add() takes what was measured,
// done() says whether more is wanted, value() what it came to.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "measure/protocol/protocol.h"

namespace deplo::measure {

/// Screening. The first sample is discarded (a first one is biased) unless it is far off; a few more; their median.
/// Most candidates are slower than the best by more than the samples may err, and cost one or two.
class ScreenRule {
 public:
  ScreenRule(const Protocol& protocol, double best_us) : protocol_(protocol), best_us_(best_us) {}
  void add(double us);
  bool done() const { return stopped_ || samples_.size() >= static_cast<std::size_t>(protocol_.samples); }
  double value() const;

  /// Ended early as slow.
  bool stopped() const { return stopped_; }
  /// Without the discarded one, unless that was the only one.
  const std::vector<double>& samples() const { return samples_; }

 private:
  const Protocol& protocol_;
  double best_us_;
  bool begun_ = false, stopped_ = false;
  std::vector<double> samples_;
};

/// Confirmation: rounds of one sample of each contender. Done when each paired ratio to the leader says that the leader
/// is faster, or that the difference does not matter; looked at every `rounds` rounds, so that looking often does not
/// find a difference by chance; and at last after max_rounds.
class ConfirmRule {
 public:
  ConfirmRule(const Protocol& protocol, std::size_t contenders) : protocol_(protocol), times_(contenders) {}
  /// One time for each contender; NaN for one that failed, now and in all later rounds.
  void add(std::span<const double> round);
  bool done() const;
  /// The leader: the contender with the smallest median. At least one must not have failed.
  std::size_t value() const;

 private:
  bool decided() const;
  bool running(std::size_t contender) const;  // it has not failed
  const Protocol& protocol_;
  std::vector<std::vector<double>> times_;  // of each contender
  int rounds_ = 0;
};

}  // namespace deplo::measure
