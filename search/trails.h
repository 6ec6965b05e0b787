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
Candidate replay(const Space&, const Trail& wish);

/// A wish for each other option of each fork on the way of the trail: its neighbours at Hamming distance 1.
std::vector<Trail> neighbours(const Space&, const Trail&);
/// A wish that differs in `changes` choices, drawn among the forks that have two options or more. With none of those:
/// the trail.
Trail mutate(const Space&, const Trail&, std::size_t changes, Rng&);
/// A wish with each knob's choice of one of the parents, evenly drawn; what one parent lacks is the other's.
Trail crossover(const Trail&, const Trail&, Rng&);

}  // namespace deplo::search
