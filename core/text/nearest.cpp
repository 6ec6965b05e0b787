#include "core/text/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace deplo {
namespace {

// Levenshtein's distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return "";
  const std::string* best = nullptr;
  // A candidate at a larger distance is another word. Two swapped letters are a distance of 2.
  std::size_t min_distance = std::min(word.size(), std::max<std::size_t>(2, word.size() / 3) + 1);
  for (const std::string& candidate : candidates)
    if (const std::size_t d = distance(word, candidate); d < min_distance) {
      min_distance = d;
      best = &candidate;
    }
  return best ? "; did you mean '" + *best + "'?" : "";
}

}  // namespace deplo
