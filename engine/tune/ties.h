// Picks the winner among equally fast schedules by the store's rule (docs/database.md, "Ties"), for times that are not
// in the store yet.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/trail.h"

namespace deplo::engine {

/// Returns the number of decisions in `trail` that differ from the heuristic's: other values, and knobs that are not in
/// the heuristic's trail. Only the heuristic's own trail gives 0.
std::int64_t changes(const Trail& trail, const Trail& heuristic);

struct Timed {
  double microseconds = 0;
  std::int64_t changes = 0;
  std::string trail;
};

/// Returns the slowest time that counts as equal to the fastest one, because the difference is noise.
double slowest_of_equals(double fastest);

/// Returns the index of the winner. The candidates are all times that differ from the fastest by at most Protocol::tie.
/// The candidate with the fewest changes wins; among those, the one whose trail comes first in text order. There must
/// be at least one time.
std::size_t winner(std::span<const Timed>);

}  // namespace deplo::engine
