// A searcher decides what to try next and is told the outcome. It does not measure and does not know about kernels.
#pragma once
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/outcome.h"
#include "search/hyperparameters.h"
#include "search/space.h"

namespace deplo::search {

/// A candidate to evaluate: a position without a fork, and the effort of its evaluation.
struct Candidate {
  // Converts implicitly from and to a position, because most searchers use only positions.
  // NOLINTBEGIN(google-explicit-constructor)
  Candidate() = default;
  Candidate(std::nullptr_t) {}
  Candidate(PositionPtr complete, double share = 1) : position(std::move(complete)), effort(share) {}
  operator const PositionPtr&() const { return position; }
  // NOLINTEND(google-explicit-constructor)
  explicit operator bool() const { return position != nullptr; }
  const Position* operator->() const { return position.get(); }
  const Position& operator*() const { return *position; }
  bool operator==(const Candidate&) const = default;

  PositionPtr position;
  /// The share of a full evaluation's samples that are taken, in (0, 1], but at least one sample. Building and checking
  /// do not depend on it. Unrelated to a stored trial's `fidelity`, which is the part of the grid that ran.
  double effort = 1;
};

/// A candidate's time on another device, or for a similar kernel.
struct Experience {
  Trail trail;
  double microseconds = 0;  // infinite: it failed
};
using SourceTask = std::vector<Experience>;  // the times of one kernel on one device

/// Deterministic for a given seed. Not thread-safe.
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Returns up to n candidates. None was asked or told before, unless with less effort. Empty: the space is exhausted,
  /// or the searcher has ended.
  virtual std::vector<Candidate> ask(std::size_t n) = 0;
  /// True after an empty ask() if the searcher asks for nothing more although candidates may be left.
  virtual bool has_ended() const { return false; }
  /// The search's time ends at `end`. A searcher that waits for something in ask() does not wait longer than that.
  virtual void set_end([[maybe_unused]] std::chrono::steady_clock::time_point end) {}
  /// Tells the outcome of an asked candidate, failures included. The order may differ from the asks. Candidates that
  /// were not asked may be told, too (known from a store, or the heuristic's); they then count as asked.
  /// Candidate::effort is the evaluation's effort.
  virtual void tell(const Candidate&, const Outcome&) = 0;
  /// True if warm_start() can teach the searcher's model.
  virtual bool learns() const { return false; }
  /// Teaches the model measurements from elsewhere, one SourceTask per source. Must be called before the first ask and
  /// tell. The trails need not exist in this space. Returns false if the searcher did not learn from them.
  virtual bool warm_start(std::span<const SourceTask>) { return false; }
};

/// Returns the results of next(), called n times or until it returns nullptr.
template <class Next>
std::vector<Candidate> ask_each(std::size_t n, const Next& next) {
  std::vector<Candidate> candidates;
  for (Candidate one; candidates.size() < n && (one = next());) candidates.push_back(std::move(one));
  return candidates;
}

/// The quantity that searchers maximise: 1/time, and 0 for a failure.
inline double reward(const Outcome& outcome) {
  const bool valid = outcome.ok() && std::isfinite(outcome.microseconds) && outcome.microseconds > 0;
  return valid ? 1 / outcome.microseconds : 0;
}

/// A strategy. Each searcher's file defines one, and gives the reasons for the defaults of its parameters.
struct SearcherKind {
  std::string_view name;                       // the name that --search takes
  std::string_view summary;                    // one line, shown by `deplo strategies`
  std::span<const Hyperparameter> parameters;  // all parameters that the searcher reads
  std::unique_ptr<Searcher> (*make)(const Space&, const Settings&);
  bool takes_any = false;  // takes parameters with other names, too, with any values
  bool walks_all = false;  // tries every candidate: a small expected gain does not end its search
};

/// SearcherKind::make of a searcher of class S.
template <class S>
std::unique_ptr<Searcher> construct(const Space& space, const Settings& settings) {
  return std::make_unique<S>(space, settings);
}

/// Throws Error `place: expected …, found …` unless the strategy has this parameter and the value is legal.
void check_hyperparameter(const SearcherKind&, std::string_view name, const std::string& value, std::string_view place);

/// Thrown by a searcher that cannot go on: a strategy in another process that died, hung or broke the protocol. What
/// was measured remains valid.
class StrategyFailed : public Error {
 public:
  using Error::Error;
};

/// All strategies, listed in searchers.cpp.
std::span<const SearcherKind* const> searchers();
/// True for "exec:COMMAND", a strategy in another process (docs/protocol.md). It is not in the list of searchers().
bool is_program(std::string_view name);
/// The strategy of that name, or the strategy that runs a program. "default" is the strategy that the results in
/// docs/strategies.md favour. Throws Error that lists the known names if the name is unknown.
const SearcherKind& find_searcher(std::string_view name);
/// Throws Error for an unknown name or bad parameters, and StrategyFailed if a program does not start.
std::unique_ptr<Searcher> make_searcher(std::string_view name, const Space&, const SearchOptions&);

}  // namespace deplo::search
