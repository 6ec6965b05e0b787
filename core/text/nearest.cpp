#include "core/text/nearest.h"

#include <algorithm>
#include <utility>

#include "core/indices.h"

namespace deplo {
namespace {

// Levenshtein's distance, in which two swapped neighbours are one change, too (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last, row = indices(b.size() + 1);  // the rows for i - 1, i and i + 1 letters of a
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return "";
  const std::string* best = nullptr;
  // A candidate at a larger distance is another word.
  const std::size_t max_distance = word.size() <= 4 ? 1 : std::max<std::size_t>(2, word.size() / 3);
  std::size_t min_distance = std::min(word.size(), max_distance + 1);
  for (const std::string& candidate : candidates)
    if (const std::size_t d = distance(word, candidate); d < min_distance) {
      min_distance = d;
      best = &candidate;
    }
  return best ? "; did you mean '" + *best + "'?" : "";
}

}  // namespace deplo
