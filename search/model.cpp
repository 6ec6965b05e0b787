// Model: Bayesian optimisation. A Gaussian process over the candidates' knobs (surrogate.h) ranks unseen candidates by
//
//   mean - kappa σ + cost sd(log seconds) z        the least is asked first
//
// Design first: the candidate nearest to the middle, then those farthest from all chosen. Then, in rounds of
// clamp(batch n, 1, 64) evaluations, the best of a pool: random unseen candidates and the Hamming-1 neighbours of the
// four fastest. A space without anything unseen in its pool is asked to the end in random order.
//
// Jones, Schonlau and Welch, Efficient global optimization of expensive black-box functions, J. Glob. Opt. 13 (1998);
// Srinivas et al., Gaussian process optimization in the bandit setting, ICML 2010. The constants come from recorded
// spaces (docs/strategies.md): centre and maximin in place of random seeds gain 0.1 of score, clipping 0.07, factors of
// two as a coordinate 0.04.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "search/searchers.h"
#include "search/surrogate.h"
#include "search/tree.h"

namespace deplo::search {
namespace {

constexpr double most_batch = 64;

constexpr std::array parameters = {
    kappa_parameter,
    cost_parameter,
    clip_parameter,
    pool_parameter,
    integer("design", "6", 1, 1000, "4 6 8", "evaluations before the model decides"),
    number("batch", "0.06", 0, 1, "0.04 0.06 0.08 0.16", "evaluations of a round, over all before it; 64 at most"),
    number("random", "0.05", 0, 1, "0 0.05 0.1", "share of evaluations that are drawn"),
};

class Model final : public Searcher {
 public:
  Model(const Space& space, const Settings& settings)
      : space_(space),
        tree_(space),
        surrogate_(space, settings),
        design_(static_cast<std::size_t>(settings.integer("design"))),
        batch_(settings.number("batch")),
        random_(settings.number("random")) {}

  std::vector<Candidate> ask(std::size_t n) override {
    std::vector<Candidate> candidates;
    while (candidates.size() < n) {
      Candidate candidate = next();
      if (!candidate) break;
      surrogate_.asked(candidate);
      candidates.push_back(std::move(candidate));
    }
    return candidates;
  }

  void tell(const Candidate& candidate, const Outcome& outcome) override {
    tree_.tell(candidate, reward(outcome));
    surrogate_.tell(candidate, outcome);
  }

 private:
  Candidate next() {
    if (queue_.empty()) propose();
    while (!queue_.empty()) {
      const Sample sample = std::move(queue_.front());
      queue_.pop_front();
      if (surrogate_.seen(sample)) continue;  // told by others meanwhile
      Candidate candidate = follow(space_, sample);
      tree_.tell(candidate, 0);
      return candidate;
    }
    return tree_.descend([this](const Node& node) { return random_unfinished(node, surrogate_.rng()); });
  }

  void propose() {
    const std::size_t asked = surrogate_.count_asked();
    if (asked < design_ || !surrogate_.ready()) {
      const std::vector<Sample> design = surrogate_.design(asked < design_ ? design_ - asked : 1);
      queue_.assign(design.begin(), design.end());
      return;
    }
    const std::vector<Sample> pool = surrogate_.pool();
    if (pool.empty()) return;
    surrogate_.rank(pool);
    const double batch = std::clamp(batch_ * static_cast<double>(surrogate_.count_told()), 1.0, most_batch);
    for (const std::size_t i : surrogate_.pick(static_cast<std::size_t>(batch), random_)) queue_.push_back(pool[i]);
  }

  const Space& space_;
  Tree tree_;
  Surrogate surrogate_;
  std::size_t design_;
  double batch_, random_;
  std::deque<Sample> queue_;
};

}  // namespace

constinit const SearcherKind kinds::model{
    "model", "Gaussian process with a lower confidence bound (Bayesian optimisation)", parameters,
    [](const Space& space, const Settings& settings) -> std::unique_ptr<Searcher> {
      return std::make_unique<Model>(space, settings);
    }};

}  // namespace deplo::search
