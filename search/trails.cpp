#include "search/trails.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/error.h"
#include "core/text/number.h"

namespace deplo::search {
namespace {

// Fractions are texts.
std::optional<double> number_in(const Value& value) {
  if (const auto* const integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  const std::optional<double> number = parse_number<double>(std::get<std::string>(value));
  return number && std::isfinite(*number) ? number : std::nullopt;
}

// Positive numbers are compared by ratio: 6 is nearer to 8 than to 4.
double distance(double x, double y) { return x > 0 && y > 0 ? std::abs(std::log(x / y)) : std::abs(x - y); }

std::size_t nearest_option(const Fork& fork, const Value& wanted) {
  const auto same = std::ranges::find(fork.options, wanted);
  if (same != fork.options.end()) return static_cast<std::size_t>(same - fork.options.begin());
  std::size_t best = 0;
  double min_distance = std::numeric_limits<double>::infinity();
  const std::optional<double> number = number_in(wanted);
  for (std::size_t i = 0; number && i < fork.options.size(); ++i) {
    const std::optional<double> offered = number_in(fork.options[i]);
    const double away = offered ? distance(*number, *offered) : min_distance;
    if (away >= min_distance) continue;
    min_distance = away;
    best = i;
  }
  return best;
}

}  // namespace

Candidate follow(const Space& space, const Pick& pick) {
  PositionPtr position = space.root();
  while (position->fork()) position = position->choose(pick(*position));
  return position;
}

std::size_t random_option(const Position& position, Rng& rng) {
  const std::size_t count = position.fork()->options.size();
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += position.leaves(i);
  double draw = rng.uniform() * sum;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    draw -= position.leaves(i);
    if (draw < 0) return i;
  }
  return count - 1;
}

Candidate random_candidate(const Space& space, Rng& rng) {
  return follow(space, [&](const Position& position) { return random_option(position, rng); });
}

std::size_t wanted_option(const Fork& fork, const Trail& wish) {
  const auto found = std::ranges::find(wish, fork.knob, &Choice::knob);
  return found == wish.end() ? 0 : nearest_option(fork, found->value);
}

Pick towards(const Trail& wish) {
  return [&wish, next = std::size_t{0}](const Position& position) mutable -> std::size_t {
    const Fork& fork = *position.fork();
    if (next >= wish.size() || wish[next].knob != fork.knob) {
      const auto found = std::ranges::find(wish, fork.knob, &Choice::knob);
      if (found == wish.end()) return 0;
      next = static_cast<std::size_t>(found - wish.begin());
    }
    return nearest_option(fork, wish[next++].value);
  };
}

Candidate replay(const Space& space, const Trail& wish) { return follow(space, towards(wish)); }

Moves::Moves(const Space& space, Trail trail) : trail_(std::move(trail)) {
  PositionPtr position = space.root();
  for (const Choice& choice : trail_) {
    const std::optional<std::size_t> option = option_of(*position->fork(), choice);
    CHECK(option);
    std::vector<Value>& others = others_.emplace_back(position->fork()->options);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*option));
    if (!others.empty()) open_.push_back(others_.size() - 1);
    position = position->choose(*option);
  }
}

std::vector<Trail> Moves::neighbours() const {
  std::vector<Trail> result;
  for (const std::size_t level : open_)
    for (const Value& value : others_[level]) {
      result.push_back(trail_);
      result.back()[level].value = value;
    }
  return result;
}

Trail Moves::mutate(std::size_t changes, Rng& rng) const {
  std::vector<std::size_t> levels = open_;
  Trail wish = trail_;
  for (; changes > 0 && !levels.empty(); --changes) {
    const std::size_t drawn = rng.below(levels.size());
    const std::size_t level = levels[drawn];
    wish[level].value = others_[level][rng.below(others_[level].size())];
    levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(drawn));
  }
  return wish;
}

Trail crossover(const Trail& a, const Trail& b, Rng& rng) {
  Trail wish = a;
  for (const Choice& choice : b) {
    const auto same = std::ranges::find(wish, choice.knob, &Choice::knob);
    if (same == wish.end())
      wish.push_back(choice);
    else if (rng.below(2) == 1)
      same->value = choice.value;
  }
  return wish;
}

}  // namespace deplo::search
