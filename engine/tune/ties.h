// Which of several schedules that are as fast as each other is the winner: the rule of the store (docs/database.md,
// "Ties"), for times that are not yet in it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/trail.h"

namespace deplo::engine {

/// The number of decisions of `trail` that differ from the heuristic's: other values, and knobs that the heuristic does
/// not decide about. 0 only for the heuristic's own trail.
std::int64_t changes(const Trail& trail, const Trail& heuristic);

struct Timed {
  double microseconds = 0;
  std::int64_t changes = 0;
  std::string trail;
};

/// The slowest time that is equal to the fastest one: the difference is noise.
double slowest_of_equals(double fastest);

/// The index of the winner: of all times that differ from the fastest by less than Protocol::tie, the one with the
/// fewest changes; of several such, the one whose trail comes first in the order of text. At least one time is given.
std::size_t winner(std::span<const Timed>);

}  // namespace deplo::engine
