// The part of a decision tree that a searcher has seen: never-asks-twice and exhaustion, solved once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/rng.h"
#include "search/searcher.h"

namespace deplo::search::strategies {

/// A subtree. Its position and children exist only between the first visit and the end: untouched subtrees cost 80
/// bytes, finished ones keep just their statistics.
struct Node {
  double best = 0;              // highest reward told below
  double sum = 0, squares = 0;  // of the rewards told below
  std::uint32_t told = 0;
  std::uint32_t visits = 0;  // candidates below that were asked or told: an outstanding ask counts (virtual loss)
  bool finished = false;     // no candidate below is left to ask
  PositionPtr position;
  std::vector<Node> children;  // one per option of position->fork()

  const Fork& fork() const { return *position->fork(); }
};

class Tree {
 public:
  explicit Tree(const Space&);

  /// An unfinished child of the (open, unfinished) node that it is given.
  using Choose = std::function<std::size_t(const Node&)>;

  /// Descends from the root, opening nodes on the way, to a candidate never returned or told before and counts it
  /// as asked. nullptr: everything was. Nodes on a path that is new have visits == 0 while `choose` sees them.
  Candidate descend(const Choose&);
  /// Repeats descend up to n times.
  std::vector<Candidate> descend(std::size_t n, const Choose&);

  /// Raises `best` along the candidate's path; a candidate that was not asked counts as asked from now on.
  void tell(const Candidate&, double reward);

  const Node& root() const { return root_; }

 private:
  void finish(const std::vector<Node*>& path);

  Node root_;
};

/// A child with something left, uniform over candidates where the space counts them, else over children.
std::size_t random_unfinished(const Node&, Rng&);

}  // namespace deplo::search::strategies
