// What a comparison of strategies found: `deplo compare` makes it, and a report shows it.
#pragma once
#include <vector>

#include "search/compare/contest.h"

namespace deplo::apps {

/// Of one order of levels.
struct Ordered {
  search::compare::Order order;
  std::vector<search::compare::SpaceResult> spaces;
  std::vector<search::compare::Standing> standings;  // none where no space was finished
};
struct Comparison {
  search::compare::Contest contest;
  std::vector<Ordered> orders;
  bool interrupted = false;  // spaces that were not finished are left out
};

}  // namespace deplo::apps
