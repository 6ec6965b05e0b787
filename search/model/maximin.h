// Finds points far from each other, for maximin designs.
// Johnson, Moore and Ylvisaker, Minimax and maximin distance designs, J. Stat. Planning and Inference 26 (1990).
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "search/model/gp.h"

namespace deplo::search::model {

/// The squared distance of each point to the nearest point given so far.
class Nearest {
 public:
  explicit Nearest(const Points& points)
      : points_(points), away_(points.size(), std::numeric_limits<float>::infinity()) {}
  void give(const float* x) {
    const float* p = points_.values.data();
    for (float& away : away_) {
      float sum = 0;
      for (std::size_t d = 0; d < points_.dimensions; ++d, ++p) sum += (*p - x[d]) * (*p - x[d]);
      away = std::min(away, sum);
    }
  }
  void give(std::size_t point) { give(points_.values.data() + point * points_.dimensions); }
  std::size_t nearest() const { return static_cast<std::size_t>(std::ranges::min_element(away_) - away_.begin()); }
  std::size_t farthest() const { return static_cast<std::size_t>(std::ranges::max_element(away_) - away_.begin()); }

 private:
  const Points& points_;
  std::vector<float> away_;
};

inline std::vector<float> middle(const Points& points) {
  std::vector<float> mean(points.dimensions);
  for (std::size_t i = 0; i < points.values.size(); ++i) mean[i % points.dimensions] += points.values[i];
  for (float& m : mean) m /= static_cast<float>(points.size());
  return mean;
}

}  // namespace deplo::search::model
