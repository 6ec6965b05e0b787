#include "search/loop.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

namespace deplo::search {
namespace {

// A time that nobody can have measured would win every comparison. Searchers need not guard against such times.
Outcome plausible(Outcome outcome) {
  if (!outcome.ok() || (std::isfinite(outcome.microseconds) && outcome.microseconds > 0)) return outcome;
  return {Status::implausible, 0, "measured " + std::to_string(outcome.microseconds) + " us"};
}

class Loop {
 public:
  Loop(Searcher& searcher, const Budget& budget, const Callbacks& callbacks)
      : searcher_(searcher), budget_(budget), callbacks_(callbacks) {
    CHECK(callbacks.measure);
  }

  LoopResult run(const std::vector<Candidate>& first) {
    result_.stop = search(first);
    return std::move(result_);
  }

 private:
  Stop search(const std::vector<Candidate>& first) {
    if (budget_.seconds < max_seconds)
      searcher_.set_end(started_ +
                        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(budget_.seconds)));
    if (const auto stop = try_all(first)) return *stop;
    for (;;) {
      // Checked before the ask, too, because a model-based searcher may think for a long time.
      if (const auto stop = spent()) return *stop;
      const std::size_t known_before = result_.trials.size();
      if (const auto stop = try_all(searcher_.ask(batch()))) return *stop;
      if (result_.trials.size() > known_before) continue;
      // The searcher asked for nothing, or only for known candidates. If it was interrupted, spent() returns the
      // reason.
      return spent().value_or(searcher_.has_ended() ? Stop::ended : Stop::exhausted);
    }
  }

  std::optional<Stop> try_all(const std::vector<Candidate>& candidates) {
    if (callbacks_.prepare) callbacks_.prepare(candidates);
    for (const Candidate& candidate : candidates) {
      if (const auto stop = spent()) return stop;
      try_one(candidate);
    }
    return std::nullopt;
  }

  void try_one(const Candidate& candidate) {
    const auto [seen, fresh] = index_.try_emplace(print(candidate->trail()), result_.trials.size());
    if (!fresh && candidate.effort <= result_.trials[seen->second].effort)
      return searcher_.tell(candidate, result_.trials[seen->second].outcome);
    seen->second = result_.trials.size();
    Measured measured = callbacks_.measure(candidate);
    result_.trials.push_back(
        {candidate->trail(), plausible(std::move(measured.outcome)), measured.known, candidate.effort});
    const Trial& trial = result_.trials.back();
    account(trial);
    searcher_.tell(candidate, trial.outcome);
    if (callbacks_.observe) callbacks_.observe(trial, result_);
  }

  void account(const Trial& trial) {
    const bool first = result_.trials.size() == 1;
    const bool new_best = trial.outcome.ok() && best_.is_beaten_by(trial.outcome.microseconds, trial.effort);
    if (new_best) {
      best_ = {trial.outcome.microseconds, trial.effort};
      result_.best = static_cast<std::ptrdiff_t>(result_.trials.size()) - 1;
    }
    if (!trial.known) bests_.push_back(best_);
    if (new_best || first)
      without_best_ = 0;
    else if (!trial.known)
      ++without_best_;
  }

  std::optional<Stop> spent() const {
    if (callbacks_.cancelled && callbacks_.cancelled()) return Stop::cancelled;
    if (measured() >= budget_.trials) return Stop::trials;
    if (!result_.trials.empty() && without_best_ >= budget_.patience) return Stop::patience;
    if (has_reached_goal()) return Stop::goal;
    if (elapsed() >= budget_.seconds) return Stop::seconds;
    if (callbacks_.enough && callbacks_.enough()) return Stop::little_gain;
    return std::nullopt;
  }

  // The best of n trials falls with the logarithm of n (engine/tune/shares.cpp), so as many trials again are expected
  // to gain what the later half of the trials gained.
  bool has_reached_goal() const {
    constexpr std::size_t min_measurements = 16;  // measurements; with fewer, the halves are too noisy
    if (budget_.goal <= 1 || bests_.size() < min_measurements) return false;
    const Incumbent &before = bests_[bests_.size() / 2 - 1], &now = bests_.back();
    return before.effort == now.effort && before.microseconds < budget_.goal * now.microseconds;
  }

  std::int64_t measured() const { return std::ssize(bests_); }

  /// The size of the next batch. It is at most the number of trials that are left, so that every asked candidate is
  /// also told.
  std::size_t batch() const {
    const auto left = static_cast<std::uint64_t>(budget_.trials - measured());
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(budget_.batch, 1, left));
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

  using Clock = std::chrono::steady_clock;
  static constexpr double max_seconds = 1e9;  // a longer budget has no end: not every number is a time of the clock
  Searcher& searcher_;
  const Budget& budget_;
  const Callbacks& callbacks_;
  Clock::time_point started_ = Clock::now();
  LoopResult result_;
  std::unordered_map<std::string, std::size_t> index_;  // printed trail → its latest trial
  Incumbent best_;
  std::vector<Incumbent> bests_;   // the best result after each new measurement
  std::int64_t without_best_ = 0;  // new measurements in a row without a new best
};

}  // namespace

std::string_view name(Stop stop) {
  constexpr std::array<std::string_view, 8> names = {"exhausted", "ended", "trials",      "seconds",
                                                     "patience",  "goal",  "little_gain", "cancelled"};
  return names.at(static_cast<std::size_t>(stop));
}

LoopResult run(const Space& space, Searcher& searcher, const Budget& budget, const Callbacks& callbacks,
               std::vector<Candidate> first) {
  first.insert(first.begin(), heuristic(space));
  return Loop(searcher, budget, callbacks).run(first);
}

}  // namespace deplo::search
