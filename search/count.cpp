#include "search/count.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace deplo::search {
namespace {

template <class Pick>
Path follow(const Space& space, Pick pick) {
  Path path{space.root(), {}};
  while (const auto& fork = path.leaf->fork()) {
    path.options.push_back(fork->options.size());
    path.leaf = path.leaf->choose(pick(fork->options.size()));
  }
  return path;
}

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
  return follow(space, [&](std::size_t n) { return static_cast<std::size_t>(rng.below(n)); });
}

Path heuristic_path(const Space& space) {
  return follow(space, [](std::size_t) { return std::size_t{0}; });
}

Sibling random_sibling(const Space& space, const Path& path, Rng& rng) {
  std::vector<std::size_t> forks;  // with a choice
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
  // One path says nothing of the spread.
  const double error = n > 1 ? 1.96 * std::sqrt(squares / (n - 1) / n) : mean;
  const double low = std::max(mean - error, static_cast<double>(seen));
  return {weights.size(), mean, low, std::max(mean + error, low), largest / sum};
}

void Levels::add(const Path& path) {
  const Trail& trail = path.leaf->trail();
  CHECK(trail.size() == path.options.size());
  std::size_t place = 0;  // behind the level of the choice before
  for (std::size_t i = 0; i < trail.size(); ++i) {
    auto found = std::ranges::find(levels_, trail[i].knob, &Level::knob);
    if (found == levels_.end()) {
      const auto at = levels_.begin() + static_cast<std::ptrdiff_t>(place);
      found = levels_.insert(at, Level{trail[i].knob, 0, path.options[i], path.options[i], 0});
    }
    ++found->paths;
    found->least = std::min(found->least, path.options[i]);
    found->most = std::max(found->most, path.options[i]);
    found->sum += static_cast<double>(path.options[i]);
    place = static_cast<std::size_t>(found - levels_.begin()) + 1;
  }
}

}  // namespace deplo::search
