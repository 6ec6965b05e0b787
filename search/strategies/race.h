// A race: a candidate is not launched again if its first launches are slower than those of the best.
//
//   look      a candidate is evaluated with the effort `race`. The time of a look is corrected by the mean log ratio of
//             the times of full evaluations to the times of their looks: a device is often faster or slower at first
//   finish    if its corrected time is below the best time of a full evaluation, it is evaluated in full at once
//   overtime  every tenth evaluation is a full one of the candidate that came closest, as long as it is within two
//             standard deviations of that log ratio
//
// The searcher inside learns one outcome of each candidate: that of the look, or of the full evaluation at once. A race
// pays if the launches are most of an evaluation's cost. Nobody knows this before the first outcome, so the first
// candidates are evaluated in full. Only `compare` tells the cost of launches. In `tune` there are no races: screening
// itself stops launching a slow candidate (docs/measurement.md).
//
// Maron and Moore, Hoeffding races, NIPS 1993; López-Ibáñez et al., The irace package, Operations Research Perspectives
// 3 (2016).
#pragma once
#include <cstddef>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/searcher.h"

namespace deplo::search::strategies {

// 1/16: two of the 32 launches of a Kernel Tuner cache. On four recorded spaces whose launches are most of the cost, a
// single launch scores less in long runs, and four score less in short ones (docs/strategies.md, "Races").
constexpr Hyperparameter race_parameter =
    number("race", "0.0625", 0.001, 1, "0.03125 0.0625 0.125 1",
           "effort of a candidate's first look on a recorded space whose launches are most of the cost; 1: no looks");

/// The ratio of a full evaluation's time to that of the look before it: mean and standard deviation of its log.
class LookRatio {
 public:
  void add(double log_ratio);
  double mean() const { return sum_ / weight_; }
  double deviation() const;

 private:
  // Before the first ratio: a mean of 0 and a deviation of 1 %, with the weight of one ratio. Launches of a kernel on a
  // GPU vary by about 1 % (convolution_milo and dedispersion_milo of the benchmark hub).
  static constexpr double first_deviation = 0.01;
  double weight_ = 1, sum_ = 0, squares_ = first_deviation * first_deviation;
};

class Race final : public Searcher {
 public:
  /// `effort`: of a look, below 1.
  Race(std::unique_ptr<Searcher> inside, double effort) : inside_(std::move(inside)), effort_(effort) {}
  std::vector<Candidate> ask(std::size_t n) override;
  bool has_ended() const override { return inside_->has_ended(); }
  void tell(const Candidate&, const Outcome&) override;
  bool learns() const override { return inside_->learns(); }
  bool warm_start(std::span<const SourceTask> sources) override { return inside_->warm_start(sources); }

 private:
  struct Look {
    double log_time = 0;  // as measured, of the look
    bool passed_on = false;
  };
  struct Waiting {
    double log_time = 0;  // of the look
    PositionPtr position;
  };

  bool pays() const;
  void tell_look(const Candidate&, Outcome);
  void tell_full(const Candidate&, const Outcome&);
  void account(const Outcome&);
  void wait(const Candidate&, double log_time);
  std::optional<Candidate> overtime();

  std::unique_ptr<Searcher> inside_;
  double effort_;
  double best_ = std::numeric_limits<double>::infinity();  // log time, of a full evaluation
  double seconds_ = 0, launch_seconds_ = 0;                // of all outcomes, had their evaluations been full
  LookRatio ratio_;
  std::unordered_map<std::string, Look> finishing_;  // by printed trail: looked at, its full evaluation is not told yet
  std::deque<Candidate> to_finish_;
  std::vector<Waiting> waiting_;  // looked at and not finished, the fastest first
  int looks_ = 0;                 // since the latest overtime
};

/// The searcher in a race. The searcher alone if the setting race is 1, or if the budget limits the trials: a look and
/// the full evaluation after it are two.
std::unique_ptr<Searcher> racing(std::unique_ptr<Searcher>, const Settings&);

/// SearcherKind::make of a searcher of class S that races.
template <class S>
std::unique_ptr<Searcher> construct_racing(const Space& space, const Settings& settings) {
  return racing(std::make_unique<S>(space, settings), settings);
}

}  // namespace deplo::search::strategies
