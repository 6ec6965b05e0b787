#include "search/count.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace deplo::search {
namespace {

bool visit_below(Path& path, const std::function<bool(const Path&)>& visit) {
  const PositionPtr here = path.leaf;
  if (!here->fork()) return visit(path);
  path.options.push_back(here->fork()->options.size());
  for (std::size_t option = 0; option < path.options.back(); ++option) {
    path.leaf = here->choose(option);
    if (!visit_below(path, visit)) return false;
  }
  path.options.pop_back();
  path.leaf = here;
  return true;
}

double square(double x) { return x * x; }

}  // namespace

Path random_path(const Space& space, Rng& rng) {
  Path path{space.root(), {}};
  while (const auto& fork = path.leaf->fork()) {
    path.options.push_back(fork->options.size());
    path.leaf = path.leaf->choose(rng.below(path.options.back()));
  }
  return path;
}

Sibling random_sibling(const Space& space, const Path& path, Rng& rng) {
  std::vector<std::size_t> forks;  // forks with at least two options
  for (std::size_t i = 0; i < path.options.size(); ++i)
    if (path.options[i] > 1) forks.push_back(i);
  if (forks.empty()) return {};
  const Trail& trail = path.leaf->trail();
  Sibling sibling{forks[rng.below(forks.size())], space.root()};
  while (const auto& fork = sibling.leaf->fork()) {
    const auto wanted = std::ranges::find(trail, fork->knob, &Choice::knob);
    std::size_t option = wanted == trail.end() ? 0 : option_of(*fork, *wanted).value_or(0);
    if (fork->knob == trail[sibling.level].knob)
      option = (option + 1 + rng.below(fork->options.size() - 1)) % fork->options.size();
    sibling.leaf = sibling.leaf->choose(option);
  }
  return sibling;
}

double weight(const Path& path) {
  double product = 1;
  for (const std::size_t n : path.options) product *= static_cast<double>(n);
  return product;
}

bool for_each_path(const Space& space, const std::function<bool(const Path&)>& visit) {
  Path path{space.root(), {}};
  return visit_below(path, visit);
}

Estimate estimate_leaves(const std::vector<double>& weights, std::size_t seen) {
  CHECK(!weights.empty());
  const auto n = static_cast<double>(weights.size());
  double sum = 0, squares = 0, largest = 0;
  for (const double w : weights) {
    sum += w;
    largest = std::max(largest, w);
  }
  const double mean = sum / n;
  for (const double w : weights) squares += square(w - mean);
  // One path does not show the spread.
  const double error = n > 1 ? 1.96 * std::sqrt(squares / (n - 1) / n) : mean;
  const double low = std::max(mean - error, static_cast<double>(seen));
  return {weights.size(), std::max(mean, low), low, std::max(mean + error, low), largest / sum};
}

std::size_t Levels::find(const std::string& knob) {
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    if (nodes_[n].level.knob == knob) return n;
  nodes_.push_back({.level = {.knob = knob, .min = SIZE_MAX}, .places = 0, .before = {}});
  return nodes_.size() - 1;
}

void Levels::add(const Path& path) {
  const Trail& trail = path.leaf->trail();
  CHECK(trail.size() == path.options.size());
  std::optional<std::size_t> previous;
  for (std::size_t i = 0; i < trail.size(); ++i) {
    const std::size_t number = find(trail[i].knob);
    Node& node = nodes_[number];
    ++node.level.paths;
    node.level.min = std::min(node.level.min, path.options[i]);
    node.level.max = std::max(node.level.max, path.options[i]);
    node.level.sum += static_cast<double>(path.options[i]);
    node.places += static_cast<double>(i + 1) / static_cast<double>(trail.size());
    if (previous) node.before.insert(*previous);
    previous = number;
  }
}

std::vector<Level> Levels::ordered() const {
  const auto place = [](const Node& node) { return node.places / static_cast<double>(node.level.paths); };
  std::set<std::size_t> left;
  for (std::size_t n = 0; n < nodes_.size(); ++n) left.insert(n);
  std::vector<Level> levels;
  while (!left.empty()) {
    const auto blocked = [&](std::size_t n) {
      return std::ranges::any_of(nodes_[n].before, [&](std::size_t b) { return left.contains(b); });
    };
    // If paths disagree about the order, all remaining levels can be blocked. Then the level with the least mean depth
    // is next.
    const std::size_t next =
        *std::ranges::min_element(left, {}, [&](std::size_t n) { return std::pair(blocked(n), place(nodes_[n])); });
    levels.push_back(nodes_[next].level);
    left.erase(next);
  }
  return levels;
}

}  // namespace deplo::search
