// PUCT: Monte Carlo tree search with the learned model as its prior, in selection and in rollouts.
//
//   select   argmax over children of  Q(child)/Q(root) + c P(child) √N(node) / (1 + N(child)),  Q the largest 1/time
//   prior    P(child) = softmax(-bound/temperature) over children. The bound is the least one (surrogate.h) of the
//            pool's candidates below the child. If the pool has none there, the prior prefers the best trail's choice
//   rollout  below a new node, takes the child of largest P
//
// The pool is ranked again in every round of `batch` evaluations. Rosin, Multi-armed bandits with episode context
// (2011); Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017).
#include <algorithm>
#include <array>
#include <cmath>

#include "search/model/surrogate.h"
#include "search/strategies/model_parameters.h"
#include "search/strategies/race.h"
#include "search/strategies/tree.h"

namespace deplo::search::strategies {
namespace {

// c: Q is the ratio of two of the best times, and near 1 for most children of a good node. With c = 0.5, the search
// stays in the first good subtree (0.51 on dedispersion and GEMM instead of 0.89: docs/strategies.md, "Tuning the
// tuners").
constexpr std::array puct_parameters = {
    kappa_parameter,
    cost_parameter,
    clip_parameter,
    pool_parameter,
    mutants_parameter,
    number("c", "5", 0, 1000, "0.5 2 5 10", "exploration constant"),
    number("temperature", "0.2", 0.001, 1000, "0.1 0.2 0.5",
           "temperature of the prior, in standard deviations of the log times"),
    number("batch", "0.08", 0, 1, "0.04 0.06 0.08 0.12",
           "evaluations between two rankings, as a share of all before; 64 at most"),
    design_parameter,
    climb_parameter,
    race_parameter,
};

class Puct final : public Searcher {
 public:
  Puct(const Space& space, const Settings& settings)
      : tree_(space),
        surrogate_(space, settings),
        c_(settings.number("c")),
        temperature_(settings.number("temperature")),
        batch_(settings.number("batch")) {}

  std::vector<Candidate> ask(std::size_t n) override {
    return ask_each(n, [this] {
      Candidate candidate = next();
      if (candidate) surrogate_.asked(candidate);
      return candidate;
    });
  }

  void tell(const Candidate& candidate, const Outcome& outcome) override {
    tree_.tell(candidate, reward(outcome));
    surrogate_.tell(candidate, outcome);
  }

  bool learns() const override { return true; }
  bool warm_start(std::span<const SourceTask> sources) override { return surrogate_.warm_start(sources); }

 private:
  Candidate next() {
    if (tree_.root().finished) return nullptr;
    if (designed_.empty()) designed_ = surrogate_.beginning();
    if (designed_.empty() && !surrogate_.ready()) {
      designed_ = surrogate_.pool().design(1);
      if (designed_.empty()) return tree_.draw(surrogate_.rng());
    }
    if (designed_.empty()) {
      rank();
    } else {
      wish_ = *designed_.front();
      designed_.erase(designed_.begin());
    }
    level_ = 0;
    below_.resize(pool_.size());
    for (std::size_t i = 0; i < below_.size(); ++i) below_[i] = i;
    Candidate candidate = tree_.descend([this](const Node& node) { return choose(node); });
    wish_ = {};
    return candidate;
  }

  void rank() {
    if (left_ > 0) {
      --left_;
      return;
    }
    pool_ = surrogate_.candidates();
    bounds_ = pool_.empty() ? std::vector<double>() : surrogate_.rank(pool_);
    surrogate_.pool().ranked(bounds_);
    const std::vector<Trail> best = surrogate_.best(1);
    best_ = best.empty() ? Trail() : best[0];
    left_ =
        static_cast<std::size_t>(std::clamp(batch_ * static_cast<double>(surrogate_.count_told()), 1.0, max_batch)) - 1;
  }

  std::size_t choose(const Node& node) {
    std::size_t chosen = node.children.size();
    if (level_ < wish_.options.size()) {  // the choice of the design or the climb, unless it is finished
      if (!node.children[wish_.options[level_]].finished) chosen = wish_.options[level_];
    }
    if (chosen == node.children.size()) chosen = select(node, priors(node));
    std::erase_if(below_, [&](std::size_t i) { return pool_[i]->options[level_] != chosen; });
    ++level_;
    return chosen;
  }

  /// Returns one prior for each child. They sum to 1.
  std::vector<double> priors(const Node& node) const {
    std::vector<double> bound(node.children.size(), std::numeric_limits<double>::infinity());
    for (const std::size_t i : below_) {
      double& child_bound = bound[pool_[i]->options[level_]];
      child_bound = std::min(child_bound, bounds_[i]);
    }
    if (below_.empty()) bound[wanted_option(node.fork(), best_)] = 0;
    const double min_bound = *std::ranges::min_element(bound);
    double sum = 0;
    for (double& b : bound) sum += b = std::exp((min_bound - b) / temperature_);
    for (double& b : bound) b /= sum;
    return bound;
  }

  std::size_t select(const Node& node, const std::vector<double>& prior) const {
    const double scale = tree_.root().best > 0 ? 1 / tree_.root().best : 0;
    std::size_t chosen = node.children.size();
    double highest = 0;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const Node& child = node.children[i];
      if (child.finished) continue;
      const double worth = node.visits == 0 ? prior[i]
                                            : child.best * scale + c_ * prior[i] * std::sqrt(node.visits) /
                                                                       (1.0 + static_cast<double>(child.visits));
      if (chosen < node.children.size() && worth <= highest) continue;
      chosen = i;
      highest = worth;
    }
    return chosen;
  }

  Tree tree_;
  model::Surrogate surrogate_;
  double c_, temperature_, batch_;
  std::size_t left_ = 0, level_ = 0;
  std::vector<model::SamplePtr> designed_, pool_;
  std::vector<double> bounds_;
  std::vector<std::size_t> below_;  // indices of the pool's samples below the current node of the descent
  model::Sample wish_;
  Trail best_;
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind puct{"puct", "Monte Carlo tree search with the model as its prior", puct_parameters,
                                         construct_racing<Puct>};

}  // namespace kinds

}  // namespace deplo::search::strategies
