// Local: multi-start hill climbing on trails.
//
//   start   a random candidate
//   climb   its Hamming-1 neighbours in random order; the first that is faster becomes the centre (first improvement)
//   stop    when no neighbour is faster: a local optimum; start again
//
// With `perturbation` > 0 the next start is instead the best optimum with `perturbation` choices changed: iterated
// local search (ils). Neighbours are asked before earlier ones are told, so batches need no waiting. A faster neighbour
// becomes the centre when it is told.
//
// Hoos and Stützle, Stochastic Local Search (2004); Lourenço, Martin and Stützle, Iterated Local Search (2003). First
// improvement in random order is what the published comparisons of kernel tuners found best of the simple ones
// (Schoonhoven et al., Benchmarking optimization algorithms for auto-tuning GPU kernels, IEEE TEC 2022).
#include <array>
#include <cmath>

#include "search/strategies/proposer.h"
#include "search/trails.h"

namespace deplo::search::strategies {
namespace {

class Local final : public Proposer {
 public:
  Local(const Space& space, std::uint64_t seed, std::size_t perturbation)
      : Proposer(space, seed), perturbation_(perturbation) {}

 private:
  std::optional<Trail> wish() override {
    if (wishes_.empty() && centre_ && !climbed_) list_neighbours();
    if (wishes_.empty()) return restart();
    const Trail next = std::move(wishes_.back());
    wishes_.pop_back();
    return next;
  }

  void list_neighbours() {
    wishes_ = Moves(space(), *centre_).neighbours();
    shuffle(wishes_, rng());
    climbed_ = true;  // until a faster neighbour is told
  }

  Trail restart() {
    centre_.reset();
    centre_time_ = std::numeric_limits<double>::infinity();
    if (perturbation_ > 0 && best()) return Moves(space(), *best()).mutate(perturbation_, rng());
    return random_candidate(space(), rng())->trail();
  }

  void learn(const Trail& trail, double time) override {
    if (!std::isfinite(time) || time >= centre_time_) return;
    centre_ = trail;
    centre_time_ = time;
    climbed_ = false;
    wishes_.clear();
  }

  std::size_t perturbation_;
  std::optional<Trail> centre_;
  double centre_time_ = std::numeric_limits<double>::infinity();
  bool climbed_ = false;  // the centre's neighbours were listed
  std::vector<Trail> wishes_;
};

constexpr std::array ils_parameters = {
    integer("perturbation", "2", 1, 100, "2 3 4", "choices of the best optimum that each new start changes"),
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind local{
    "local",
    "hill climbing from random starts: a strong simple baseline",
    {},
    [](const Space& space, const Settings& settings) -> std::unique_ptr<Searcher> {
      return std::make_unique<Local>(space, settings.seed(), 0);
    }};

extern constinit const SearcherKind ils{
    "ils", "iterated local search: hill climbing from changed copies of the best optimum", ils_parameters,
    [](const Space& space, const Settings& settings) -> std::unique_ptr<Searcher> {
      return std::make_unique<Local>(space, settings.seed(), settings.integer("perturbation"));
    }};

}  // namespace kinds

}  // namespace deplo::search::strategies
