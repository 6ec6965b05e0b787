#include "search/strategies/race.h"

#include <algorithm>
#include <cmath>

namespace deplo::search::strategies {
namespace {

// Of an evaluation's cost, for a look to pay. Where launches are a third of it (convolution_milo/MI250X), looks gained
// nothing.
constexpr double least_launch_share = 0.5;
// The effort that overtime takes is bounded: the candidates that wait are not much slower than the best, and one of ten
// evaluations is one of theirs. With one of five, the score of short runs is lower (docs/strategies.md, "Races").
constexpr int looks_per_overtime = 10;
constexpr double overtime_deviations = 2;
constexpr std::size_t max_waiting = 64;  // a position holds a program

}  // namespace

void LookRatio::add(double log_ratio) {
  weight_ += 1;
  sum_ += log_ratio;
  squares_ += log_ratio * log_ratio;
}

double LookRatio::deviation() const { return std::sqrt(std::max(0.0, squares_ / weight_ - mean() * mean())); }

std::vector<Candidate> Race::ask(std::size_t n) {
  std::vector<Candidate> candidates;
  for (; candidates.size() < n && !to_finish_.empty(); to_finish_.pop_front()) candidates.push_back(to_finish_.front());
  if (candidates.size() < n && looks_ >= looks_per_overtime)
    if (auto candidate = overtime()) candidates.push_back(std::move(*candidate));
  if (candidates.size() == n) return candidates;
  for (Candidate& candidate : inside_->ask(n - candidates.size())) {
    if (pays()) candidate.effort = std::min(candidate.effort, effort_);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

void Race::tell(const Candidate& candidate, const Outcome& outcome) {
  account(outcome);
  candidate.effort < 1 ? tell_look(candidate, outcome) : tell_full(candidate, outcome);
}

void Race::account(const Outcome& outcome) {
  launch_seconds_ += outcome.launch_seconds + outcome.left_out_seconds;
  seconds_ += outcome.seconds + outcome.left_out_seconds;
}

bool Race::pays() const { return launch_seconds_ > least_launch_share * seconds_; }

void Race::tell_look(const Candidate& candidate, Outcome outcome) {
  const double speed = reward(outcome);
  if (speed == 0) return inside_->tell(candidate, outcome);
  ++looks_;
  const double log_time = -std::log(speed);
  if (log_time + ratio_.mean() < best_) {
    finishing_[print(candidate->trail())] = {log_time, false};
    to_finish_.emplace_back(candidate.position);
    return;
  }
  wait(candidate, log_time);
  outcome.microseconds *= std::exp(ratio_.mean());
  inside_->tell(candidate, outcome);
}

void Race::tell_full(const Candidate& candidate, const Outcome& outcome) {
  const double speed = reward(outcome), log_time = -std::log(speed);
  if (speed > 0) best_ = std::min(best_, log_time);
  const auto look = finishing_.find(print(candidate->trail()));
  if (look == finishing_.end()) {
    std::erase_if(waiting_, [&](const Waiting& one) { return one.position->trail() == candidate->trail(); });
    return inside_->tell(candidate, outcome);
  }
  if (speed > 0) ratio_.add(log_time - look->second.log_time);
  if (!look->second.passed_on) inside_->tell(candidate, outcome);
  finishing_.erase(look);
}

void Race::wait(const Candidate& candidate, double log_time) {
  waiting_.insert(std::ranges::upper_bound(waiting_, log_time, {}, &Waiting::log_time), {log_time, candidate.position});
  if (waiting_.size() > max_waiting) waiting_.pop_back();
}

std::optional<Candidate> Race::overtime() {
  const double reach = best_ - ratio_.mean() + overtime_deviations * ratio_.deviation();
  if (waiting_.empty() || waiting_.front().log_time > reach) return std::nullopt;
  looks_ = 0;
  const Waiting one = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  finishing_[print(one.position->trail())] = {one.log_time, true};
  return one.position;
}

std::unique_ptr<Searcher> racing(std::unique_ptr<Searcher> searcher, const Settings& settings) {
  const double effort = settings.number("race");
  if (effort == 1 || settings.trials() > 0) return searcher;
  return std::make_unique<Race>(std::move(searcher), effort);
}

}  // namespace deplo::search::strategies
