// Moves in a space: every searcher that changes, mixes or follows candidates does it by these.
//
// A trail is also a wish: replay() takes what it wants where that is offered, else the nearest number, else options[0],
// so that any mixture of trails becomes a legal candidate (repair by replay).
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "core/rng.h"
#include "search/searcher.h"

namespace deplo::search {

/// Decides at a fork.
using Pick = std::function<std::size_t(const Position&)>;
Candidate follow(const Space&, const Pick&);

/// In proportion to the candidates below where the space knows how many (uniform over candidates), else uniform.
std::size_t random_option(const Position&, Rng&);
Candidate random_candidate(const Space&, Rng&);

/// The option of the fork that the wish comes nearest to; the numbers 6 and 8 are nearer than 2 and 4.
std::size_t wanted_option(const Fork&, const Trail& wish);
/// wanted_option of each fork on one way from the root; quick where the wish has its choices in the forks' order. The
/// wish must outlive it.
Pick towards(const Trail& wish);
Candidate replay(const Space&, const Trail& wish);

/// What else each fork on the way of a trail offers: a way through a kernel's space is slow, and this goes it once.
class Moves {
 public:
  Moves(const Space&, Trail);
  const Trail& trail() const { return trail_; }
  /// A wish for each other option of each fork: the neighbours at Hamming distance 1.
  std::vector<Trail> neighbours() const;
  /// A wish that differs in `changes` choices, drawn among the forks that have two options or more. With none of those:
  /// the trail.
  Trail mutate(std::size_t changes, Rng&) const;

 private:
  Trail trail_;
  std::vector<std::vector<Value>> others_;  // of each fork
  std::vector<std::size_t> open_;           // forks that have some
};

/// A wish with each knob's choice of one of the parents, evenly drawn; what one parent lacks is the other's.
Trail crossover(const Trail&, const Trail&, Rng&);

}  // namespace deplo::search
