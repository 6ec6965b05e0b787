// Tabu: the worked example of docs/strategies.md, "Add a searcher in one file".
//
//   next    the fastest told candidate, less the tabu ones, is the centre; its neighbours are asked
//   tabu    a centre whose neighbours were all asked, for the next `tenure` centres
//
// Glover, Tabu search, part I, ORSA Journal on Computing 1 (1989).
#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "search/strategies/proposer.h"
#include "search/trails.h"

namespace deplo::search::strategies {

class Tabu final : public Proposer {
 public:
  Tabu(const Space& space, const Settings& settings)
      : Proposer(space, settings.seed()), tenure_(settings.integer("tenure")) {}

 private:
  std::optional<Trail> wish() override {
    if (wishes_.empty()) move();
    if (wishes_.empty()) return std::nullopt;  // nothing told yet: a random candidate
    Trail next = std::move(wishes_.back());
    wishes_.pop_back();
    return next;
  }
  void move() {
    for (const auto& [time, trail] : told_) {
      if (std::ranges::count(tabu_, trail) > 0) continue;
      tabu_.push_back(trail);
      if (tabu_.size() > tenure_) tabu_.pop_front();
      wishes_ = Moves(space(), trail).neighbours();
      return shuffle(wishes_, rng());
    }
  }
  void learn(const Trail& trail, double time) override { told_.emplace(time, trail); }

  std::size_t tenure_;
  std::multimap<double, Trail> told_;
  std::deque<Trail> tabu_;
  std::vector<Trail> wishes_;
};

inline constexpr std::array tabu_parameters = {integer("tenure", "50", 1, 1000, "20 50", "centres that are tabu")};

}  // namespace deplo::search::strategies
