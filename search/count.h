// Estimates the size of a space, and describes its levels, from random paths.
//   estimate of the leaves = mean over paths of (options of the 1st fork x options of the 2nd x …)
// D. E. Knuth: Estimating the efficiency of backtrack programs, Mathematics of Computation 29 (1975).
#pragma once
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/rng.h"
#include "search/space.h"

namespace deplo::search {

/// A candidate, and the number of options of each fork on the path to it.
struct Path {
  PositionPtr leaf;
  std::vector<std::size_t> options;
};

/// Takes one option of each fork, all equally likely: a candidate c is drawn with probability 1 / weight(c).
Path random_path(const Space&, Rng&);
/// The product of the path's numbers of options. For a random path, it is an unbiased estimate of the number of
/// candidates.
double weight(const Path&);

/// Visits every candidate in depth-first order until `visit` returns false. Returns true if it visited all of them.
bool for_each_path(const Space&, const std::function<bool(const Path&)>& visit);

/// A candidate that differs from a path in one randomly drawn choice. The path's other choices are kept if they are
/// offered; otherwise options[0] is taken. leaf is null if no fork of the path has two options.
struct Sibling {
  std::size_t level = 0;  // the index of the drawn choice in the path's trail
  PositionPtr leaf;
};
Sibling random_sibling(const Space&, const Path&, Rng&);

struct Estimate {
  std::size_t paths = 0;
  double leaves = 0;         // the mean, but at least `low`
  double low = 0, high = 0;  // mean ± 1.96 standard errors, but at least the number of distinct candidates seen
  double largest_share = 0;  // the largest weight's share of the sum. Above a few percent, draw more: the tail is heavy
};

/// `weights`: weight() of each path, at least one. `seen`: the number of distinct candidates among the paths.
Estimate estimate_leaves(const std::vector<double>& weights, std::size_t seen);

/// Statistics of the forks on one knob.
struct Level {
  std::string knob;
  std::size_t paths = 0;         // the number of paths with this knob
  std::size_t min = 0, max = 0;  // the smallest and largest number of options
  double sum = 0;                // the sum of the numbers of options over these paths
  double mean() const { return sum / static_cast<double>(paths); }
};

/// Collects a Level for each knob of the paths.
class Levels {
 public:
  void add(const Path&);
  /// The levels in an order that agrees with every path, if such an order exists. Levels that no path orders are sorted
  /// by their mean relative depth.
  std::vector<Level> ordered() const;

 private:
  struct Node {
    Level level;
    double places = 0;             // the sum of the relative depths over its paths: 0 at the root, 1 at the last fork
    std::set<std::size_t> before;  // nodes that come directly before this one in some path
  };
  std::size_t find(const std::string& knob);
  std::vector<Node> nodes_;
};

}  // namespace deplo::search
