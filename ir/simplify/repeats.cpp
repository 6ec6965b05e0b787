#include "ir/simplify/repeats.h"

#include <algorithm>

namespace deplo::ir {

std::int64_t repeats_of(const std::vector<Expr>& index, const std::string& variable, std::int64_t extent) {
  const auto walks = [&](const Expr& e) { return depends_on(e, variable); };
  if (index.empty() || !walks(index.back()) || std::any_of(index.begin(), index.end() - 1, walks)) return 0;
  // No axis and no value has such a name.
  const std::string group = "group of " + variable, place = "place of " + variable;
  for (std::int64_t size = extent / 2; size > 1; size /= 2) {
    const Ranges ranges = {{group, {0, extent / size - 1}}, {place, {0, size - 1}}};
    const Expr grouped = simplify(substitute(index.back(), {{variable, var(group) * size + var(place)}}), ranges);
    if (!depends_on(grouped, place)) return coefficient(grouped, group) == 1 ? size : 0;
  }
  return 0;
}

}  // namespace deplo::ir
