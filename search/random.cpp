// Random: each descent takes an option that still leads to unseen candidates, in proportion to how many of them where
// the space knows that, P(o) = unseen(o) / sum: uniform over candidates without repetition. Elsewhere uniform over
// choices, P(o) = 1/#open. The baseline of every comparison: Bergstra and Bengio, Random Search for Hyper-Parameter
// Optimization, JMLR 13 (2012).
#include <algorithm>

#include "core/rng.h"
#include "search/searchers.h"
#include "search/tree.h"

namespace deplo::search {
namespace {

class Random final : public Searcher {
 public:
  Random(const Space& space, const Settings& settings) : tree_(space), rng_(settings.seed()) {}

  std::vector<Candidate> ask(std::size_t n) override {
    return tree_.descend(n, [this](const Node& node) { return choose(node); });
  }
  void tell(const Candidate& candidate, const Outcome& outcome) override { tree_.tell(candidate, reward(outcome)); }

 private:
  std::size_t choose(const Node& node) {
    unseen_.assign(node.children.size(), 0);
    double sum = 0;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const Node& child = node.children[i];
      // A space that does not know says 1, however many were seen.
      if (!child.finished) unseen_[i] = std::max(1.0, node.position->leaves(i) - child.visits);
      sum += unseen_[i];
    }
    double draw = rng_.uniform() * sum;
    std::size_t chosen = unseen_.size();
    for (std::size_t i = 0; i < unseen_.size(); ++i) {
      if (unseen_[i] == 0) continue;
      chosen = i;  // the last open one, should rounding leave some of the draw
      if (draw < unseen_[i]) break;
      draw -= unseen_[i];
    }
    return chosen;
  }

  Tree tree_;
  Rng rng_;
  std::vector<double> unseen_;  // candidates below each child
};

}  // namespace

constinit const SearcherKind kinds::random{
    "random",
    "uniform choices without repetition: the baseline of every comparison",
    {},
    [](const Space& space, const Settings& settings) -> std::unique_ptr<Searcher> {
      return std::make_unique<Random>(space, settings);
    }};

}  // namespace deplo::search
