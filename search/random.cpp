// Random: each descent takes an option uniformly among those that still lead to unseen candidates, P(o) = 1/#open.
// Uniform over choices, so over candidates only where subtrees are equally large. The baseline of every comparison:
// Bergstra and Bengio, Random Search for Hyper-Parameter Optimization, JMLR 13 (2012).
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
  // Rejection would be slow where one child in many is left, so the open ones are listed.
  std::size_t choose(const Node& node) {
    open_.clear();
    for (std::size_t i = 0; i < node.children.size(); ++i)
      if (!node.children[i].finished) open_.push_back(i);
    return open_[rng_.below(open_.size())];
  }

  Tree tree_;
  Rng rng_;
  std::vector<std::size_t> open_;
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
