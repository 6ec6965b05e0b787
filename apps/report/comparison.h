// Reports of strategy comparisons, from memory or from a file that `deplo compare` wrote.
#pragma once
#include <string>
#include <string_view>

#include "apps/report/comparison_result.h"
#include "apps/report/page.h"

namespace deplo::apps::report {

Page comparison_page(const Comparison&);

/// Parses the output of print_comparison_json(). The result has everything that a page shows. Its entrants have only
/// their labels. Throws Error, prefixed by `place`, for other text.
Comparison parse_comparison(std::string_view text, const std::string& place);

}  // namespace deplo::apps::report
