// The ask-measure-tell loop. Only this loop handles the budget, patience and repeated candidates.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "search/searcher.h"

namespace deplo::search {

struct Budget {
  std::int64_t trials = std::numeric_limits<std::int64_t>::max();  // new measurements
  double seconds = std::numeric_limits<double>::infinity();
  std::int64_t patience = std::numeric_limits<std::int64_t>::max();  // new measurements in a row without a new best
  // The search ends if as many measurements again are not expected to make the best this many times faster; 1: never.
  double goal = 1;
  std::size_t batch = 1;  // candidates per ask
};

struct Trial {
  Trail trail;
  Outcome outcome;
  bool known = false;  // answered from the store: does not count towards trials or patience
  double effort = 1;   // Candidate::effort
};

/// The best result of a run so far. A time competes only with times of the same effort; a time with more effort
/// replaces one with less. Otherwise a noisy time with little effort could win by luck.
struct Incumbent {
  double microseconds = std::numeric_limits<double>::infinity();
  double effort = 0;
  bool is_beaten_by(double us, double share) const { return share > effort || (share == effort && us < microseconds); }
};

enum class Stop {
  exhausted,  // every candidate was tried
  ended,      // the searcher asked for nothing more, although candidates may be left
  trials,
  seconds,
  patience,
  goal,
  little_gain,  // Callbacks::enough returned true
  cancelled
};
std::string_view name(Stop);

struct LoopResult {
  std::vector<Trial> trials;  // in the order they were told
  std::ptrdiff_t best = -1;   // index of the fastest ok trial among those with the most effort; -1: none
  Stop stop = Stop::exhausted;
};

struct Measured {
  Outcome outcome;
  bool known = false;  // the store had the outcome
};

struct Callbacks {
  std::function<Measured(const Candidate&)> measure;                    // evaluates a candidate; required
  std::function<void(const Trial&, const LoopResult& so_far)> observe;  // called for each trial after it was told
  std::function<bool()> cancelled;                                      // polled before each measurement
  /// Gets the next candidates, in the order in which they will be measured, so that they can be built ahead.
  std::function<void(std::span<const Candidate>)> prepare = {};
  /// Polled before each measurement. Returns true to end the search with Stop::little_gain, because more time is not
  /// expected to be worth it.
  std::function<bool()> enough = {};
};
/// First measures the heuristic's candidate (options[0] at every fork) and tells it to the searcher. Then does the same
/// with the candidates `first`, which are good elsewhere, in their order. Then runs the searcher. Strategies need no
/// code for these candidates.
LoopResult run(const Space&, Searcher&, const Budget&, const Callbacks&, std::vector<Candidate> first = {});

}  // namespace deplo::search
