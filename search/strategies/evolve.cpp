// Evolve: evolutionary search guided by a cost model, as in Ansor.
//
//   population   the `population` best-ranked of the unseen candidates (model/pool.h)
//   generation   `population` children are added. A child is a member with one choice changed, or the crossover of a
//                member with one of the four fastest told. Members are drawn by 2^(-rank/8) of the model's bound
//                (surrogate.h). The best `population` of parents and children stay
//   round        after `generations`, the best unseen candidates of the last population, some of them random
//
// Nothing is measured within a round: the model takes the place of the device. Zheng et al., Ansor: generating
// high-performance tensor programs for deep learning, OSDI 2020, section 5.1.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/indices.h"
#include "search/strategies/model_searcher.h"
#include "search/strategies/race.h"

namespace deplo::search::strategies {
namespace {

constexpr double rank_scale = 8;  // ranks after which a member is half as likely a parent

constexpr std::array evolve_parameters = {
    kappa_parameter,
    cost_parameter,
    clip_parameter,
    // smaller, because the pool only starts a round and the generations add candidates
    with_default(pool_parameter, "300"),
    with_default(mutants_parameter, "200"),
    design_parameter,
    climb_parameter,
    batch_parameter,
    random_parameter,
    integer("population", "32", 2, 10000, "16 32 64", "members of a generation"),
    integer("generations", "2", 1, 100, "1 2 3 5", "generations between two rounds of evaluations"),
    race_parameter,
};

class Evolve final : public ModelSearcher {
 public:
  Evolve(const Space& space, const Settings& settings)
      : ModelSearcher(space, settings),
        size_(settings.integer("population")),
        generations_(settings.integer("generations")) {}

 private:
  std::vector<model::SamplePtr> propose(std::size_t count) override {
    std::vector<model::SamplePtr> members = surrogate().candidates();
    if (members.empty()) return {};
    for (std::size_t generation = 0; generation < generations_; ++generation) {
      const std::vector<double> bounds = surrogate().rank(members);
      if (generation == 0) surrogate().pool().ranked(bounds);
      select(members, bounds);
      breed(members);
    }
    surrogate().rank(members);
    return surrogate().pick(members, count, random_share());
  }

  void select(std::vector<model::SamplePtr>& members, const std::vector<double>& bounds) {
    const std::vector<std::size_t> order = indices_by(members.size(), [&](std::size_t i) { return bounds[i]; });
    std::vector<model::SamplePtr> best;
    for (std::size_t i = 0; i < std::min(size_, order.size()); ++i) best.push_back(members[order[i]]);
    members = std::move(best);
  }

  void breed(std::vector<model::SamplePtr>& members) {
    const std::vector<Trail> fastest = surrogate().best(4);
    // made when first drawn; the first few have most of the children
    std::vector<std::optional<Moves>> parents(members.size());
    Rng& rng = surrogate().rng();
    for (std::size_t i = 0; i < size_; ++i) {
      const std::size_t drawn = parent(parents.size());
      std::optional<Moves>& one = parents[drawn];
      if (!one) one.emplace(space(), follow(space(), *members[drawn])->trail());
      const Trail wish = fastest.empty() || rng.below(2) == 0
                             ? one->mutate(1, rng)
                             : crossover(one->trail(), fastest[rng.below(fastest.size())], rng);
      members.push_back(surrogate().pool().sample(wish));
    }
    members = surrogate().pool().unseen(members);
  }

  std::size_t parent(std::size_t count) {
    const double rank = -rank_scale * std::log2(1 - surrogate().rng().uniform());
    return rank < static_cast<double>(count) ? static_cast<std::size_t>(rank) : surrogate().rng().below(count);
  }

  std::size_t size_, generations_;
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind evolve{"evolve", "evolutionary search guided by the model, as in Ansor",
                                           evolve_parameters, construct_racing<Evolve>};

}  // namespace kinds

}  // namespace deplo::search::strategies
