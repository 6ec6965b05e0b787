// Picks the winner of several equally fast schedules: the store's rule (docs/database.md, "Ties"), for times that are
// not in the store yet.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/trail.h"

namespace deplo::engine {

/// The number of decisions in `trail` that differ from the heuristic's: other values, and knobs that the heuristic's
/// trail does not have. 0 only for the heuristic's own trail.
std::int64_t changes(const Trail& trail, const Trail& heuristic);

struct Timed {
  double microseconds = 0;
  std::int64_t changes = 0;
  std::string trail;
};

/// The slowest time that counts as equal to the fastest one, because the difference is noise.
double slowest_of_equals(double fastest);

/// The index of the winner. Candidates are all times that differ from the fastest one by at most Protocol::tie. The one
/// with the fewest changes wins; of several, the one whose trail comes first in text order. There must be at least one
/// time.
std::size_t winner(std::span<const Timed>);

}  // namespace deplo::engine
