// The result of a strategy comparison, and its report. `deplo compare` makes the result, or a file has it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "apps/report/page.h"
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

namespace report {

Page comparison_page(const Comparison&);

/// Parses the output of print_comparison_json(). The result has everything that a page shows. Its entrants have only
/// their labels. Throws Error, prefixed by `place`, for other text.
Comparison parse_comparison(std::string_view text, const std::string& place);

}  // namespace report
}  // namespace deplo::apps
