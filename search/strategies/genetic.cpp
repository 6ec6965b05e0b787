// Genetic: a steady-state genetic algorithm on trails.
//
//   The first `population` candidates are random. Then each child is the crossover of two parents (each knob from
//   either parent, made legal by replay). Each parent is the fastest of `tournament` drawn members. With probability
//   `mutation`, one choice of the child changes. A child that is faster than the slowest member replaces it.
//
// Holland, Adaptation in Natural and Artificial Systems (1975); steady state: Whitley, The GENITOR algorithm, ICGA
// 1989, which needs no generations and so no waiting for outstanding evaluations.
#include <algorithm>
#include <array>
#include <cmath>

#include "search/strategies/proposer.h"
#include "search/trails.h"

namespace deplo::search::strategies {
namespace {

constexpr std::array genetic_parameters = {
    integer("population", "20", 2, 10000, "10 20 40", "candidates that may be parents"),
    integer("tournament", "3", 1, 1000, "2 3 5", "candidates drawn per parent; the fastest is chosen"),
    number("mutation", "0.5", 0, 1, "0.2 0.5 0.8", "probability that one choice of a child changes"),
};

class Genetic final : public Proposer {
 public:
  Genetic(const Space& space, const Settings& settings)
      : Proposer(space, settings.seed()),
        size_(settings.integer("population")),
        tournament_(settings.integer("tournament")),
        mutation_(settings.number("mutation")) {}

 private:
  struct Individual {
    Trail trail;
    double time;
  };

  std::optional<Trail> wish() override {
    if (population_.size() < size_ && drawn_ < 2 * size_) {  // failures do not join, so at most twice as many are drawn
      ++drawn_;
      return random_candidate(space(), rng())->trail();
    }
    if (population_.size() < 2) return std::nullopt;
    Trail child = crossover(parent(), parent(), rng());
    if (rng().uniform() >= mutation_) return child;
    return Moves(space(), replay(space(), child)->trail()).mutate(1, rng());
  }

  const Trail& parent() {
    std::size_t best = rng().below(population_.size());
    for (std::size_t i = 1; i < tournament_; ++i) {
      const std::size_t other = rng().below(population_.size());
      if (population_[other].time < population_[best].time) best = other;
    }
    return population_[best].trail;
  }

  void learn(const Trail& trail, double time) override {
    const auto same = [&](const Individual& one) { return one.trail == trail; };
    if (!std::isfinite(time) || std::ranges::any_of(population_, same)) return;
    if (population_.size() < size_) return population_.push_back({trail, time});
    const auto slowest = std::ranges::max_element(population_, {}, &Individual::time);
    if (time < slowest->time) *slowest = {trail, time};
  }

  std::size_t size_, tournament_;
  double mutation_;
  std::size_t drawn_ = 0;
  std::vector<Individual> population_;
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind genetic{"genetic", "steady-state genetic algorithm with repair by replay",
                                            genetic_parameters, construct<Genetic>};

}  // namespace kinds

}  // namespace deplo::search::strategies
