// Model: Bayesian optimisation. A Gaussian process over the candidates' knobs (surrogate.h) ranks unseen candidates by
//
//   mean - kappa σ + cost sd(log seconds) z        the least is asked first
//
// The design comes first: the candidate nearest to the middle, then those farthest from all chosen. If the untuned
// candidate is known, a climb from it replaces the design (pool.h, beginning()). Then come rounds of clamp(batch n, 1,
// 64) evaluations of the best in a pool (pool.h): random unseen candidates, the neighbours of the fastest and mutants
// of them. If the pool has nothing unseen, the rest of the space is asked in random order.
//
// Jones, Schonlau and Welch, Efficient global optimization of expensive black-box functions, J. Glob. Opt. 13 (1998);
// Srinivas et al., Gaussian process optimization in the bandit setting, ICML 2010. The constants come from recorded
// spaces (docs/strategies.md).
#include <array>

#include "search/strategies/model_searcher.h"
#include "search/strategies/race.h"

namespace deplo::search::strategies {
namespace {

constexpr std::array model_parameters = {kappa_parameter,   cost_parameter,   clip_parameter,  pool_parameter,
                                         mutants_parameter, design_parameter, climb_parameter, batch_parameter,
                                         random_parameter,  race_parameter};

class Model final : public ModelSearcher {
 public:
  using ModelSearcher::ModelSearcher;

 private:
  std::vector<model::SamplePtr> propose(std::size_t count) override {
    const std::vector<model::SamplePtr> pool = surrogate().candidates();
    if (pool.empty()) return {};
    surrogate().pool().ranked(surrogate().rank(pool));
    return surrogate().pick(pool, count, random_share());
  }
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind model{"model", "Bayesian optimisation: Gaussian process, lower confidence bound",
                                          model_parameters, construct_racing<Model>};

}  // namespace kinds

}  // namespace deplo::search::strategies
