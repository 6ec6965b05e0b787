// The ask-measure-tell loop: the one owner of budget, patience and dedupe.
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
  std::size_t batch = 1;                                             // asked at a time
};

struct Trial {
  Trail trail;
  Outcome outcome;
  bool known = false;  // answered from the store: uses up neither trials nor patience
  double effort = 1;   // of its candidate
};

/// What a run believes in. Times count against others of the same effort, and more effort replaces less: of many noisy
/// times one is too low by luck.
struct Incumbent {
  double microseconds = std::numeric_limits<double>::infinity();
  double effort = 0;
  bool is_beaten_by(double us, double share) const { return share > effort || (share == effort && us < microseconds); }
};

enum class Stop { exhausted, trials, seconds, patience, cancelled };
std::string_view name(Stop);

struct LoopResult {
  std::vector<Trial> trials;  // in the order they were told
  std::ptrdiff_t best = -1;   // index of the fastest ok trial of those with the most effort, -1: none
  Stop stop = Stop::exhausted;
};

/// `measure` answers each candidate (it may say the answer was known); `observe` sees each trial as it is told;
/// `cancelled` is polled before each measurement, and so is `enough`, which ends the search as if its seconds were over
/// once it says that others need them more; `prepare` gets the next candidates in order, so that they can be
/// built ahead.
/// The heuristic's candidate (options[0] all the way) is always measured first and told to the searcher, then `first`
/// in their order: candidates that are good elsewhere. No strategy has to know of them.
struct Measured {
  Outcome outcome;
  bool known = false;
};

struct Callbacks {
  std::function<Measured(const Candidate&)> measure;
  std::function<void(const Trial&, const LoopResult& so_far)> observe;
  std::function<bool()> cancelled;
  std::function<void(std::span<const Candidate>)> prepare = {};
  std::function<bool()> enough = {};
};
LoopResult run(const Space&, Searcher&, const Budget&, const Callbacks&, std::vector<Candidate> first = {});

}  // namespace deplo::search
