// Toy spaces: a deterministic function of the trail says which fork comes next, another one how long a candidate takes.
#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
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

inline std::int64_t taken(const Trail& trail, std::size_t level) { return std::get<std::int64_t>(trail[level].value); }

/// Returns a space in which level i has branching[i] options: 0, 1, …
ToySpace levels(std::vector<std::int64_t> branching);
ToySpace uniform(std::size_t depth, std::int64_t branching);
/// Returns a space with conditional knobs. An even first choice ends after two levels; an odd choice v is followed by v
/// more forks with v + 1 options each.
ToySpace conditional(std::int64_t width);
/// Returns a space in which option 0 ends and option 1 goes on. It has one leaf more than it has levels.
ToySpace comb(std::size_t depth);

/// Returns FNV-1a over the choices: a fixed pseudo-random function of the trail.
std::uint64_t scramble(const Trail& trail, std::uint64_t salt = 0);
/// Returns a time for every trail, without structure.
inline double noise_time(const Trail& trail) { return 1 + static_cast<double>(scramble(trail) % 100000) / 1000; }

inline Outcome took(double microseconds) { return {Status::ok, microseconds, ""}; }
inline Outcome failed() { return {Status::timeout, 0, "toy failure"}; }

/// Asks for the given candidates, one by one.
class Plan final : public Searcher {
 public:
  explicit Plan(std::vector<Candidate> plan) : plan_(std::move(plan)) {}
  std::vector<Candidate> ask(std::size_t) override {
    if (at_ == plan_.size()) return {};
    return {plan_[at_++]};
  }
  void tell(const Candidate& candidate, const Outcome& outcome) override {
    told.emplace_back(candidate.effort, outcome.microseconds);
    took.push_back(outcome.seconds);
    launched.push_back(outcome.launch_seconds);
  }
  std::vector<std::pair<double, double>> told;  // effort and µs
  std::vector<double> took, launched;           // seconds

 private:
  std::vector<Candidate> plan_;
  std::size_t at_ = 0;
};

/// Returns the trails of all candidates, by plain recursion.
std::vector<Trail> leaves(const Space& space);

}  // namespace deplo::search::toy
