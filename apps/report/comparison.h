// Comparisons of strategies as a report: from memory or from the file that `deplo compare` wrote.
#pragma once
#include <string>
#include <string_view>

#include "apps/report/comparison_result.h"
#include "apps/report/page.h"

namespace deplo::apps::report {

Page comparison_page(const Comparison&);

/// What print_comparison_json() wrote: all of it that a page shows (of each entrant its label). Throws Error, prefixed
/// by `place`, where it is something else.
Comparison parse_comparison(std::string_view text, const std::string& place);

}  // namespace deplo::apps::report
