// Random: each descent takes an option that still leads to unseen candidates. If the space knows their numbers, P(o) =
// unseen(o) / sum, which is uniform over candidates without repetition. Otherwise the draw is uniform over choices,
// P(o) = 1/#open. This is the baseline of every comparison: Bergstra and Bengio, Random Search for Hyper-Parameter
// Optimization, JMLR 13 (2012).
#include "core/rng.h"
#include "search/strategies/tree.h"

namespace deplo::search::strategies {
namespace {

class Random final : public Searcher {
 public:
  Random(const Space& space, const Settings& settings) : tree_(space), rng_(settings.seed()) {}

  std::vector<Candidate> ask(std::size_t n) override {
    return ask_each(n, [this] { return tree_.draw(rng_); });
  }
  void tell(const Candidate& candidate, const Outcome& outcome) override { tree_.tell(candidate, reward(outcome)); }

 private:
  Tree tree_;
  Rng rng_;
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind random{
    "random", "uniform choices without repetition: the baseline of every comparison", {}, construct<Random>};

}  // namespace kinds

}  // namespace deplo::search::strategies
