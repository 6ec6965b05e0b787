// The result of a strategy comparison. `deplo compare` makes it, and a report shows it.
#pragma once
#include <vector>

#include "search/compare/contest.h"

namespace deplo::apps {

/// The results for one order of levels.
struct Ordered {
  search::compare::Order order;
  std::vector<search::compare::SpaceResult> spaces;
  std::vector<search::compare::Standing> standings;  // empty if no space was finished
};
struct Comparison {
  search::compare::Contest contest;
  std::vector<Ordered> orders;
  bool interrupted = false;  // true: unfinished spaces are left out
};

}  // namespace deplo::apps
