// MCTS: single-player Monte Carlo tree search that measures few of its playouts.
//
// Playouts are cheap compared with measurements. So each ask makes many playouts, and measures the one with the highest
// upper bound:
//
//   design     the first evaluations: the candidate nearest to the middle, then those farthest from all before
//   climb      replaces the design if the untuned candidate is known: 20 random neighbours of the fastest until then
//   frontier   unmeasured playouts (model/pool.h): the siblings along the paths of the four fastest candidates;
//              playouts that follow a path of the eight fastest except for two to four choices; playouts with random
//              choices. The best stay in the frontier from ask to ask
//   random     one of twenty evaluations is a random one of the frontier
//   bound      Q + c/√N, of statistics that all branches share by similarity, with ranks as rewards
//              (shared_statistics.h)
//
// Following the best path with few changes: Cazenave, Nested Monte-Carlo Search, IJCAI 2009. A bound belongs to a whole
// trail, and is backed up as the largest bound below a node. So the descent from the root that takes the child with the
// highest bound ends at the best of the frontier, which is therefore taken directly. Only the sums are learned: `puct`
// is the search with a model. docs/strategies.md describes what was tried, and the results.
//
// With share=0 each node has statistics of its own (Kocsis and Szepesvári, Bandit based Monte-Carlo planning, ECML
// 2006), and each ask is one descent:
//
//   reward   r = 1/time, 0 for a failure;   backup   Q(node) = max r below,  N(node) = candidates asked below
//   select   argmax over visited children:  Q(child)/Q(root) + c * sqrt(ln N(node) / N(child))          (UCB1)
//   backup=mean   Q(child) = X, the mean of the rewards x told below, in place of the largest
//   D > 0         adds sqrt((Σ(x/Q(root))² - n (X/Q(root))² + D) / n), n of them told: the third term of SP-MCTS
//   widen    while fewer than widen * sqrt(N(node)) children are visited, visit a new one instead
//   rollout  a new child and every level below it: the best candidate's value of the same knob (probability follow),
//            options[0] (follow/4), else uniform among the unvisited
//
// share=0, c=0.5, backup=mean, D=0.1, widen=1000, follow=0, race=1 is SP-MCTS: Schadd et al., Single-Player Monte-Carlo
// Tree Search, CG 2008; but no candidate is measured twice. Progressive widening: Chaslot et al., Progressive
// Strategies for Monte-Carlo Tree Search, 2008: a fork of 40 options must not take 40 trials before anything deepens.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/mapped.h"
#include "core/rng.h"
#include "search/strategies/model_parameters.h"
#include "search/strategies/race.h"
#include "search/strategies/shared_statistics.h"
#include "search/strategies/tree.h"

namespace deplo::search::strategies {
namespace {

constexpr double heuristic_share = 0.25;  // relative to `follow`

constexpr std::array mcts_parameters = {
    number("c", "0.1", 0, 1000, "0.05 0.1 0.2 0.5", "exploration constant of the upper bound"),
    number("share", "0.2", 0, 10, "0.1 0.2 0.4",
           "distance over which similar candidates share statistics; 0: each node has its own"),
    with_default(pool_parameter, "300"),
    with_default(mutants_parameter, "200"),
    number("batch", "0.02", 0, 1, "0 0.02 0.04 0.08",
           "evaluations between two rankings, as a share of all before; 64 at most"),
    random_parameter,
    integer("design", "6", 1, 1000, "1 4 6 8", "first evaluations, chosen far apart from each other"),
    climb_parameter,
    race_parameter,
    word("backup", "max", "max mean", "share=0: value of a node: the fastest time below it, or the mean"),
    number("D", "0", 0, 1000, "0 0.01 0.1 1",
           "share=0: constant of the third term of SP-MCTS, for subtrees that vary; 0: no such term"),
    number("widen", "2", 0, 1000, "1 2 4", "share=0: new children are tried up to this number times √visits"),
    number("follow", "0.6", 0, 0.8, "0 0.4 0.6 0.8", "share=0: probability that a new branch follows the best"),
};

/// The search with share=0: each node has statistics of its own.
class Separate final : public Searcher {
 public:
  Separate(const Space& space, const Settings& settings)
      : tree_(space),
        rng_(settings.seed()),
        exploration_(settings.number("c")),
        variance_(settings.number("D")),
        widening_(settings.number("widen")),
        follow_(settings.number("follow")),
        mean_(settings.word("backup") == "mean") {}

  std::vector<Candidate> ask(std::size_t n) override {
    return ask_each(n, [this] { return tree_.descend([this](const Node& node) { return choose(node); }); });
  }

  void tell(const Candidate& candidate, const Outcome& outcome) override {
    const double value = reward(outcome);
    if (value > tree_.root().best) best_ = candidate->trail();
    tree_.tell(candidate, value);
  }

 private:
  std::size_t choose(const Node& node) {
    std::size_t visited = 0, visited_open = 0;
    fresh_.clear();
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const Node& child = node.children[i];
      if (child.visits == 0) {
        fresh_.push_back(i);
      } else {
        ++visited;
        visited_open += child.finished ? 0 : 1;
      }
    }
    const bool widen = static_cast<double>(visited) < widening_ * std::sqrt(node.visits);
    return !fresh_.empty() && (visited_open == 0 || widen) ? visit_new(node) : select(node);
  }

  /// Returns one of the unvisited children, which fresh_ lists.
  std::size_t visit_new(const Node& node) {
    const double draw = rng_.uniform();
    std::optional<std::size_t> wanted;
    if (draw < follow_)
      wanted = option_of_best(node.fork());
    else if (draw < follow_ * (1 + heuristic_share))
      wanted = 0;
    if (wanted && node.children[*wanted].visits == 0) return *wanted;
    return fresh_[rng_.below(fresh_.size())];
  }

  std::optional<std::size_t> option_of_best(const Fork& fork) const {
    const auto same = std::ranges::find(best_, fork.knob, &Choice::knob);
    return same == best_.end() ? std::nullopt : option_of(fork, *same);
  }

  std::size_t select(const Node& node) const {
    const double scale = tree_.root().best > 0 ? 1 / tree_.root().best : 0;
    const double log_visits = std::log(node.visits);
    std::size_t chosen = node.children.size();
    double highest = 0;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const Node& child = node.children[i];
      if (child.finished || child.visits == 0) continue;
      const double ucb = worth(child, scale) + exploration_ * std::sqrt(log_visits / child.visits);
      if (chosen == node.children.size() || ucb > highest) {
        chosen = i;
        highest = ucb;
      }
    }
    return chosen;
  }

  double worth(const Node& child, double scale) const {
    if (child.told == 0) return 0;
    const double n = child.told, mean = child.sum / n * scale;
    const double worth = mean_ ? mean : child.best * scale;
    if (variance_ == 0) return worth;
    const double spread = std::max(0.0, child.squares * scale * scale - n * mean * mean);
    return worth + std::sqrt((spread + variance_) / n);
  }

  Tree tree_;
  Rng rng_;
  double exploration_, variance_, widening_, follow_;
  bool mean_;
  Trail best_;  // trail of the fastest candidate told
  std::vector<std::size_t> fresh_;
};

/// The search with share > 0: all branches share their statistics.
class Shared final : public Searcher {
 public:
  Shared(const Space& space, const Settings& settings)
      : space_(space),
        tree_(space),
        rng_(settings.seed()),
        pool_(space, settings, encoding_, rng_),
        statistics_(encoding_, rng_, settings.number("share"), settings.number("c")),
        batch_(settings.number("batch")),
        random_(settings.number("random")) {}

  std::vector<Candidate> ask(std::size_t n) override {
    return ask_each(n, [this] {
      Candidate candidate = next();
      if (!candidate) return candidate;
      const model::Codes codes = encoding_.codes(candidate->trail());
      pool_.asked(codes);
      statistics_.ask(codes);
      return candidate;
    });
  }

  void tell(const Candidate& candidate, const Outcome& outcome) override {
    const double speed = reward(outcome);
    tree_.tell(candidate, speed);
    const model::Codes codes = encoding_.codes(candidate->trail());
    pool_.asked(codes);
    statistics_.tell(codes, speed > 0 ? 1 / speed : std::numeric_limits<double>::infinity());
    if (speed > 0) remember(candidate->trail(), 1 / speed);
  }

 private:
  Candidate next() {
    if (tree_.root().finished) return nullptr;
    // Samples may be told without being asked.
    const auto seen = [this](const model::SamplePtr& sample) { return pool_.seen(*sample); };
    std::erase_if(round_, seen);
    if (round_.empty()) round_ = pool_.beginning(trails());
    if (round_.empty()) round_ = fastest_.empty() ? pool_.design(1) : playouts();
    if (round_.empty()) return tree_.draw(rng_);
    Candidate candidate = follow(space_, *round_.front());
    round_.erase(round_.begin());
    tree_.tell(candidate, 0);
    return candidate;
  }

  std::vector<Trail> trails() const { return mapped(fastest_, &Fast::trail); }

  std::vector<model::SamplePtr> playouts() {
    const std::vector<model::SamplePtr> frontier = pool_.candidates(trails());
    std::vector<double> bounds = statistics_.bounds(frontier);
    for (double& bound : bounds) bound = -bound;  // the pool keeps the least
    pool_.ranked(bounds);
    const double batch = std::clamp(batch_ * static_cast<double>(pool_.count_asked()), 1.0, max_batch);
    return statistics_.pick(frontier, static_cast<std::size_t>(batch), random_);
  }

  void remember(const Trail& trail, double time) {
    if (std::ranges::find(fastest_, trail, &Fast::trail) != fastest_.end()) return;
    fastest_.insert(std::ranges::upper_bound(fastest_, time, {}, &Fast::time), {trail, time});
    if (fastest_.size() > model::Pool::parents) fastest_.pop_back();
  }

  struct Fast {
    Trail trail;
    double time;
  };

  const Space& space_;
  Tree tree_;
  Rng rng_;
  model::Encoding encoding_;
  model::Pool pool_;
  SharedStatistics statistics_;
  double batch_, random_;
  std::vector<model::SamplePtr> round_;  // samples to ask next
  std::vector<Fast> fastest_;            // the fastest first
};

std::unique_ptr<Searcher> make(const Space& space, const Settings& settings) {
  if (settings.number("share") > 0) return racing(std::make_unique<Shared>(space, settings), settings);
  return racing(std::make_unique<Separate>(space, settings), settings);
}

}  // namespace

namespace kinds {

extern constinit const SearcherKind mcts{"mcts", "Monte Carlo tree search; similar candidates share statistics",
                                         mcts_parameters, make};

}  // namespace kinds

}  // namespace deplo::search::strategies
