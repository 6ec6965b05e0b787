// Moves in a space: the functions with which all searchers follow, change and mix candidates.
//
// Any trail can serve as a wish. At each fork, replay() takes the wish's value if it is offered, else the nearest
// number, else options[0]. So any mixture of trails becomes a legal candidate (repair by replay).
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "core/rng.h"
#include "search/searcher.h"

namespace deplo::search {

/// Chooses an option at a fork.
using Pick = std::function<std::size_t(const Position&)>;
Candidate follow(const Space&, const Pick&);

/// Draws an option with probability proportional to the number of candidates below it (uniform over candidates). If the
/// space does not know these numbers, all options are equally likely.
std::size_t random_option(const Position&, Rng&);
Candidate random_candidate(const Space&, Rng&);

/// The fork's option that is nearest to the wish. Numbers above 0 are compared by ratio: 6 is nearer to 8 than to 4.
std::size_t wanted_option(const Fork&, const Trail& wish);
/// Returns a Pick that gives wanted_option() for each fork of one path from the root. Fast if the wish has its choices
/// in the forks' order. The wish must outlive the Pick.
Pick towards(const Trail& wish);
Candidate replay(const Space&, const Trail& wish);

/// The other options of each fork along a trail. Walks the trail only once, because a walk through a kernel's space is
/// slow.
class Moves {
 public:
  Moves(const Space&, Trail);
  const Trail& trail() const { return trail_; }
  /// A wish for each other option of each fork: the neighbours at Hamming distance 1.
  std::vector<Trail> neighbours() const;
  /// A wish that differs in `changes` choices, drawn from the forks with at least two options. If there are no such
  /// forks, the wish is the trail.
  Trail mutate(std::size_t changes, Rng&) const;

 private:
  Trail trail_;
  std::vector<std::vector<Value>> others_;  // the other options of each fork
  std::vector<std::size_t> open_;           // the forks that have other options
};

/// A wish with each knob's value from one of the parents, drawn with equal probability. Knobs that only one parent has
/// are taken from it.
Trail crossover(const Trail&, const Trail&, Rng&);

}  // namespace deplo::search
