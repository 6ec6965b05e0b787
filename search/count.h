// How large a space is, and what its levels look like, from random paths through it.
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

/// A candidate, and how many options each fork on the way to it had.
struct Path {
  PositionPtr leaf;
  std::vector<std::size_t> options;
};

/// Takes one option of each fork, all equally likely: a candidate c is drawn with probability 1 / weight(c).
Path random_path(const Space&, Rng&);
/// options[0] all the way.
Path heuristic_path(const Space&);
/// The product of its options: an unbiased estimate of the number of candidates where the path is random.
double weight(const Path&);

/// Every candidate, the tree's first options first, until `visit` returns false. Whether it never did.
bool for_each_path(const Space&, const std::function<bool(const Path&)>& visit);

/// The candidate that differs in one choice, drawn, and in what follows from it: later choices stay where they fit,
/// else they are options[0]. No leaf: the path has no fork with two options.
struct Sibling {
  std::size_t level = 0;  // of the choice, in the path's trail
  PositionPtr leaf;
};
Sibling random_sibling(const Space&, const Path&, Rng&);

struct Estimate {
  std::size_t paths = 0;
  double leaves = 0;         // the mean
  double low = 0, high = 0;  // mean ± 1.96 standard errors, of at least as many leaves as were seen
  double largest_share = 0;  // of one path in the sum; weights have a heavy tail: above a few percent, draw more
};

/// Of the paths' weights (at least one). `seen`: distinct candidates among them.
Estimate estimate_leaves(const std::vector<double>& weights, std::size_t seen);

/// What the forks on one knob looked like.
struct Level {
  std::string knob;
  std::size_t paths = 0;            // that came by it
  std::size_t least = 0, most = 0;  // options
  double sum = 0;                   // of options over these paths
  double mean() const { return sum / static_cast<double>(paths); }
};

/// A knob counts once a path.
class Levels {
 public:
  void add(const Path&);
  /// In an order that agrees with every path, where there is one; what no path puts in order, by how late it comes.
  std::vector<Level> ordered() const;

 private:
  struct Node {
    Level level;
    double places = 0;             // sum over its paths: 0 at the root to 1 at the leaf
    std::set<std::size_t> before;  // nodes that some path has directly before it
  };
  std::size_t find(const std::string& knob);
  std::vector<Node> nodes_;
};

}  // namespace deplo::search
