// Portfolio: several strategies share the evaluations, in proportion to what they yield.
//
//   next    the strategy of largest  AUC + C √(2 ln N / n);  n of the last N evaluations are its own
//   AUC     over its own of the last `window` evaluations, oldest first:  Σ i [the i-th was a new best] / (n (n + 1)/2)
//
// Every strategy is told all outcomes, so each builds on what the others find. Fialho, Da Costa, Schoenauer and Sebag,
// Analyzing bandit-based adaptive operator selection mechanisms, 2010; for autotuning: Ansel et al., OpenTuner, PACT
// 2014.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <string_view>
#include <unordered_set>

#include "search/strategies/race.h"
#include "search/strategies/tree.h"

namespace deplo::search::strategies {
namespace {

constexpr std::array portfolio_parameters = {
    number("c", "0.05", 0, 10, "0.02 0.05 0.2", "exploration constant of the bandit"),
    integer("window", "100", 1, 100000, "50 100 500", "evaluations that the bandit remembers"),
    race_parameter,
};
constexpr std::array<std::string_view, 3> members = {"model", "ils", "genetic"};

class Portfolio final : public Searcher {
 public:
  Portfolio(const Space& space, const Settings& settings)
      : c_(settings.number("c")), window_(settings.integer("window")) {
    for (const std::string_view name : members)
      searchers_.push_back(make_searcher(name, space, options(name, settings.seed() + searchers_.size())));
  }

  std::vector<Candidate> ask(std::size_t n) override {
    std::vector<Candidate> candidates;
    std::vector<bool> empty(members.size());
    while (candidates.size() < n) {
      const std::size_t member = choose(empty);
      if (member == members.size()) break;
      const std::vector<Candidate> one = searchers_[member]->ask(1);
      if (one.empty()) {
        empty[member] = true;
        continue;
      }
      // another strategy asked it, and it is not told yet
      if (!seen_.insert(deplo::print(one[0]->trail())).second) continue;
      history_.push_back({member, false, deplo::print(one[0]->trail())});
      if (history_.size() > window_) history_.pop_front();
      candidates.push_back(one[0]);
    }
    return candidates;
  }

  void tell(const Candidate& candidate, const Outcome& outcome) override {
    const std::string trail = deplo::print(candidate->trail());
    seen_.insert(trail);
    const double value = reward(outcome);
    if (value > best_) {
      best_ = value;
      for (Use& use : history_)
        if (use.trail == trail) use.yielded = true;
    }
    for (const auto& searcher : searchers_) searcher->tell(candidate, outcome);
  }

  bool learns() const override {
    return std::ranges::any_of(searchers_, [](const auto& searcher) { return searcher->learns(); });
  }

  bool warm_start(std::span<const SourceTask> sources) override {
    bool any = false;
    for (const auto& searcher : searchers_) any = searcher->warm_start(sources) || any;
    return any;
  }

 private:
  struct Use {
    std::size_t member;
    bool yielded;  // it was a new best
    std::string trail;
  };

  // The portfolio races as a whole.
  static SearchOptions options(std::string_view member, std::uint64_t seed) {
    SearchOptions options{.seed = seed};
    if (member == "model") options.parameters["race"] = "1";
    return options;
  }

  std::size_t choose(const std::vector<bool>& empty) const {
    std::size_t chosen = members.size();
    double highest = 0;
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (empty[m]) continue;
      const double worth = value(m);
      if (chosen < members.size() && worth <= highest) continue;
      chosen = m;
      highest = worth;
    }
    return chosen;
  }

  double value(std::size_t member) const {
    double uses = 0, area = 0;
    for (const Use& use : history_) {
      if (use.member != member) continue;
      ++uses;
      if (use.yielded) area += uses;
    }
    if (uses == 0) return std::numeric_limits<double>::infinity();
    const auto all = static_cast<double>(history_.size());
    return area / (uses * (uses + 1) / 2) + c_ * std::sqrt(2 * std::log(all) / uses);
  }

  double c_;
  std::size_t window_;
  std::vector<std::unique_ptr<Searcher>> searchers_;
  std::unordered_set<std::string> seen_;  // asked or told
  std::deque<Use> history_;
  double best_ = 0;
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind portfolio{"portfolio",
                                              "model, ils and genetic; a bandit prefers the most successful",
                                              portfolio_parameters, construct_racing<Portfolio>};

}  // namespace kinds

}  // namespace deplo::search::strategies
