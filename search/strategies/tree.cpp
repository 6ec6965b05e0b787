#include "search/strategies/tree.h"

#include <algorithm>

namespace deplo::search::strategies {
namespace {

// Gives a node its position, and one unvisited child per option.
void open(Node& node, PositionPtr position) {
  node.position = std::move(position);
  if (!node.position->fork()) return;
  CHECK(!node.fork().options.empty());
  node.children.resize(node.fork().options.size());
}

Node& child(Node& node, std::size_t option) {
  CHECK(option < node.children.size());
  Node& next = node.children[option];
  if (!next.position && !next.finished) open(next, node.position->choose(option));
  return next;
}

std::size_t random_unfinished(const Node& node, Rng& rng) {
  // A space that does not know the number of candidates returns 1, however many were seen.
  const auto unseen = [&](std::size_t i) {
    const Node& child = node.children[i];
    return child.finished ? 0.0 : std::max(1.0, node.position->leaves(i) - child.visits);
  };
  double sum = 0;
  for (std::size_t i = 0; i < node.children.size(); ++i) sum += unseen(i);
  double draw = rng.uniform() * sum;
  std::size_t chosen = node.children.size();
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const double here = unseen(i);
    if (here == 0) continue;
    chosen = i;  // the last open child is chosen if rounding leaves a rest of the draw
    if (draw < here) break;
    draw -= here;
  }
  return chosen;
}

}  // namespace

Tree::Tree(const Space& space) { open(root_, space.root()); }

Candidate Tree::descend(const Choose& choose) {
  if (root_.finished) return nullptr;
  std::vector<Node*> path{&root_};
  while (!path.back()->children.empty()) {
    path.push_back(&child(*path.back(), choose(*path.back())));
    CHECK(!path.back()->finished);
  }
  Candidate candidate = path.back()->position;
  finish(path);
  return candidate;
}

Candidate Tree::draw(Rng& rng) {
  return descend([&](const Node& node) { return random_unfinished(node, rng); });
}

void Tree::tell(const Candidate& candidate, double reward) {
  CHECK(candidate && !candidate->fork());
  const Trail& trail = candidate->trail();
  std::vector<Node*> path{&root_};
  while (!path.back()->children.empty()) {
    Node& node = *path.back();
    const std::size_t level = node.position->trail().size();
    CHECK(level < trail.size());
    const std::optional<std::size_t> option = option_of(node.fork(), trail[level]);
    CHECK(option);
    path.push_back(&child(node, *option));
  }
  for (Node* node : path) {
    node->best = std::max(node->best, reward);
    node->sum += reward;
    node->squares += reward * reward;
    ++node->told;
  }
  if (!path.back()->finished) finish(path);
}

// Counts a visit of each node on the path, which ends at a candidate that was just asked. A node is finished when all
// its children are.
void Tree::finish(const std::vector<Node*>& path) {
  for (Node* node : path) ++node->visits;
  for (std::size_t i = path.size(); i-- > 0;) {
    Node& node = *path[i];
    if (!std::ranges::all_of(node.children, &Node::finished)) return;
    node.finished = true;
    node.position.reset();
    node.children = {};
  }
}

}  // namespace deplo::search::strategies
