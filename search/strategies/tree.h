// The part of a decision tree that a searcher has seen. Ensures that no candidate is asked twice, and knows when the
// space is exhausted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/rng.h"
#include "search/searcher.h"

namespace deplo::search::strategies {

/// A subtree. Its position and children exist only from the first visit until it is finished. An unvisited subtree
/// takes 80 bytes; a finished one keeps only its statistics.
struct Node {
  double best = 0;              // highest reward told below
  double sum = 0, squares = 0;  // sums of the rewards told below, and of their squares
  std::uint32_t told = 0;
  std::uint32_t visits = 0;  // candidates below that were asked or told; outstanding ones count (virtual loss)
  bool finished = false;     // no candidate below is left to ask
  PositionPtr position;
  std::vector<Node> children;  // one per option of position->fork()

  const Fork& fork() const { return *position->fork(); }
};

class Tree {
 public:
  explicit Tree(const Space&);

  /// Chooses an unfinished child of an open, unfinished node.
  using Choose = std::function<std::size_t(const Node&)>;

  /// Descends from the root to a candidate that was not returned or told before, and counts it as asked. Opens the
  /// nodes on its path. nullptr: none is left. When `choose` sees a newly opened node, the node has visits == 0.
  Candidate descend(const Choose&);
  /// Like descend(), with a random unfinished child at each node: uniform over candidates if the space counts them,
  /// else uniform over children.
  Candidate draw(Rng&);

  /// Updates the statistics along the candidate's path. A candidate that was not asked now counts as asked.
  void tell(const Candidate&, double reward);

  const Node& root() const { return root_; }

 private:
  void finish(const std::vector<Node*>& path);

  Node root_;
};

}  // namespace deplo::search::strategies
