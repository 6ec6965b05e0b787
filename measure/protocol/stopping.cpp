#include "measure/protocol/stopping.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "measure/protocol/interval.h"

namespace deplo::measure {

void ScreenRule::add(double us) {
  if (!begun_) {
    begun_ = true;
    stopped_ = us > protocol_.discard_stop * best_us_;
    if (stopped_) samples_.push_back(us);
    return;
  }
  samples_.push_back(us);
  stopped_ = *std::min_element(samples_.begin(), samples_.end()) > protocol_.early_stop * best_us_;
}

double ScreenRule::value() const { return median(samples_); }

void ConfirmRule::add(std::span<const double> round) {
  CHECK(round.size() == times_.size());
  ++rounds_;
  for (std::size_t i = 0; i < times_.size(); ++i)
    if (!std::isnan(round[i])) times_[i].push_back(round[i]);
}

bool ConfirmRule::running(std::size_t contender) const {
  return times_[contender].size() == static_cast<std::size_t>(rounds_);
}

bool ConfirmRule::done() const {
  bool any = false;
  for (std::size_t i = 0; i < times_.size(); ++i) any = any || running(i);
  if (!any || rounds_ >= protocol_.max_rounds) return true;
  return rounds_ > 0 && rounds_ % protocol_.rounds == 0 && decided();
}

std::size_t ConfirmRule::value() const {
  std::size_t leader = times_.size();
  double fastest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (!running(i)) continue;
    if (const double median_time = median(times_[i]); median_time < fastest) leader = i, fastest = median_time;
  }
  CHECK(leader < times_.size());
  return leader;
}

bool ConfirmRule::decided() const {
  const std::size_t leader = value();
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (i == leader || !running(i)) continue;
    const Interval ratio = ratio_interval(times_[i], times_[leader]);
    const bool slower = ratio.low > 1;
    const bool tied = ratio.low > 1 - protocol_.tie && ratio.high < 1 + protocol_.tie;
    if (!slower && !tied) return false;
  }
  return true;
}

}  // namespace deplo::measure
