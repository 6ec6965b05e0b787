#include "measure/protocol/warm_up.h"

namespace deplo::measure {
namespace {

constexpr double window_us = 10e3;  // ten samples of a confirmation, so that one outlier has little effect
constexpr double steady_for_us = 100e3, longest_us = 1e6;
constexpr double rise = 1.01;       // a smaller rise is the noise of a settled clock
constexpr double as_before = 0.97;  // Protocol::confirm_clock: samples at this clock count
// Below this share of its highest clock, a GPU is idle or only begins to wake up, however steady the clock is. At full
// load, even a GPU at its power limit runs faster.
constexpr double idle = 0.5;

}  // namespace

void WarmUp::add(double us, double clock_mhz) {
  spent_us_ += us;
  steady_us_ += us;
  window_us_ += us;
  cycles_ += us * clock_mhz;
  if (window_us_ < window_us) return;
  mhz_ = cycles_ / window_us_;
  window_us_ = cycles_ = 0;
  if (mhz_ <= rise * reached_mhz_) return;
  reached_mhz_ = mhz_;
  steady_us_ = 0;
}

bool WarmUp::done() const {
  if (spent_us_ < window_us) return false;
  if (mhz_ == 0 || spent_us_ >= longest_us) return true;
  if (before_mhz_ > 0 && mhz_ >= as_before * before_mhz_) return true;
  return steady_us_ >= steady_for_us && mhz_ >= idle * highest_mhz_;
}

}  // namespace deplo::measure
