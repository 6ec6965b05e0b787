// Spaces made of two functions of the trail, deterministic: which fork comes next, and how long a candidate takes.
#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "search/searcher.h"

namespace deplo::search::toy {

using NextFork = std::function<std::optional<Fork>(const Trail&)>;

class ToyPosition final : public Position {
 public:
  ToyPosition(std::shared_ptr<const NextFork> next, Trail trail)
      : next_(std::move(next)), trail_(std::move(trail)), fork_((*next_)(trail_)) {}
  const std::optional<Fork>& fork() const override { return fork_; }
  const Trail& trail() const override { return trail_; }
  PositionPtr choose(std::size_t option) const override {
    CHECK(fork_ && option < fork_->options.size());
    Trail longer = trail_;
    longer.push_back({fork_->knob, fork_->options[option]});
    return std::make_shared<ToyPosition>(next_, std::move(longer));
  }

 private:
  std::shared_ptr<const NextFork> next_;
  Trail trail_;
  std::optional<Fork> fork_;
};

class ToySpace final : public Space {
 public:
  explicit ToySpace(NextFork next) : next_(std::make_shared<const NextFork>(std::move(next))) {}
  PositionPtr root() const override { return std::make_shared<ToyPosition>(next_, Trail{}); }

 private:
  std::shared_ptr<const NextFork> next_;
};

inline Fork fork_at(std::size_t level, std::int64_t options) {
  Fork fork{"toy.k" + std::to_string(level), {}};
  for (std::int64_t i = 0; i < options; ++i) fork.options.emplace_back(i);
  return fork;
}

inline std::int64_t taken(const Trail& trail, std::size_t level) { return std::get<std::int64_t>(trail[level].value); }

/// Level i has branching[i] options, 0, 1, …
inline ToySpace levels(std::vector<std::int64_t> branching) {
  return ToySpace([branching = std::move(branching)](const Trail& trail) -> std::optional<Fork> {
    if (trail.size() == branching.size()) return std::nullopt;
    return fork_at(trail.size(), branching[trail.size()]);
  });
}

inline ToySpace uniform(std::size_t depth, std::int64_t branching) {
  return levels(std::vector<std::int64_t>(depth, branching));
}

/// Conditional knobs: an even choice ends after two levels, an odd one of value v is followed by v more forks of v + 1.
inline ToySpace conditional(std::int64_t width) {
  return ToySpace([width](const Trail& trail) -> std::optional<Fork> {
    if (trail.empty()) return fork_at(0, width);
    const std::int64_t first = taken(trail, 0);
    const auto depth = static_cast<std::size_t>(first % 2 == 0 ? 2 : first + 1);
    if (trail.size() == depth) return std::nullopt;
    return fork_at(trail.size(), first % 2 == 0 ? 2 : first + 1);
  });
}

/// Option 0 ends, option 1 goes on: as many leaves as levels plus one.
inline ToySpace comb(std::size_t depth) {
  return ToySpace([depth](const Trail& trail) -> std::optional<Fork> {
    if (trail.size() == depth || (!trail.empty() && taken(trail, trail.size() - 1) == 0)) return std::nullopt;
    return fork_at(trail.size(), 2);
  });
}

/// FNV-1a over the choices; a fixed pseudo-random function of the trail.
inline std::uint64_t scramble(const Trail& trail, std::uint64_t salt = 0) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ (salt * 0x9e3779b97f4a7c15ULL);
  for (const char c : print(trail)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash ^ (hash >> 29);
}

/// Some time for every trail, without structure.
inline double noise_time(const Trail& trail) { return 1 + static_cast<double>(scramble(trail) % 100000) / 1000; }

inline Outcome took(double microseconds) { return {Status::ok, microseconds, ""}; }
inline Outcome failed() { return {Status::timeout, 0, "toy failure"}; }

/// All candidates, by plain recursion.
inline void leaves(const PositionPtr& position, std::vector<Trail>& out) {
  if (!position->fork()) return out.push_back(position->trail());
  for (std::size_t i = 0; i < position->fork()->options.size(); ++i) leaves(position->choose(i), out);
}
inline std::vector<Trail> leaves(const Space& space) {
  std::vector<Trail> out;
  leaves(space.root(), out);
  return out;
}

}  // namespace deplo::search::toy
