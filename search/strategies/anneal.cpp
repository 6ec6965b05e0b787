// Anneal: simulated annealing on trails.
//
//   a change of one choice is accepted with probability  min(1, exp(-(log t_new - log t_now) / T)),
//   T = first · fall^k after k evaluations, restarted from the best when it falls below `last`
//
// Uses the logs of times: a step to twice the time is the same at any scale. A failure is never accepted.
// Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 220 (1983).
#include <array>
#include <cmath>

#include "search/strategies/proposer.h"
#include "search/trails.h"

namespace deplo::search::strategies {
namespace {

constexpr std::array anneal_parameters = {
    number("first", "0.2", 0.001, 100, "0.2 0.5 1", "starting temperature, in log time"),
    number("last", "0.005", 0.0001, 100, "0.005 0.01 0.05", "temperature at which it restarts from the best"),
    number("fall", "0.98", 0.1, 0.9999, "0.95 0.98 0.99", "cooling factor per evaluation"),
};

class Anneal final : public Proposer {
 public:
  Anneal(const Space& space, const Settings& settings)
      : Proposer(space, settings.seed()),
        first_(settings.number("first")),
        last_(settings.number("last")),
        fall_(settings.number("fall")),
        temperature_(first_) {}

 private:
  std::optional<Trail> wish() override {
    if (!now_) return random_candidate(space(), rng())->trail();
    return Moves(space(), *now_).mutate(1, rng());
  }

  void learn(const Trail& trail, double time) override {
    temperature_ *= fall_;
    if (temperature_ < last_) {
      temperature_ = first_;
      now_ = best();
      time_ = best_time();
    }
    if (!std::isfinite(time)) return;
    const double rise = now_ ? std::log(time / time_) : 0;
    if (rise > 0 && rng().uniform() >= std::exp(-rise / temperature_)) return;
    now_ = trail;
    time_ = time;
  }

  double first_, last_, fall_, temperature_;
  std::optional<Trail> now_;
  double time_ = 0;
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind anneal{"anneal", "simulated annealing", anneal_parameters, construct<Anneal>};

}  // namespace kinds

}  // namespace deplo::search::strategies
