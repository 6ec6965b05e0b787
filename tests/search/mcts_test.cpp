// MCTS must be worth its name: better than random where there is something to learn.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/rng.h"
#include "search/loop.h"
#include "search/searcher.h"
#include "search/toy_space.h"

namespace deplo::search {
namespace {

using Time = std::function<double(const Trail&)>;

const std::vector<std::int64_t> branching = {12, 4, 10, 10, 6, 2, 2, 3, 2};  // 691,200 candidates

/// A bowl around a hidden optimum, each knob with its own weight; time 1 at the bottom.
Time smooth(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> optimum, weight;
  for (const std::int64_t options : branching) {
    optimum.push_back(static_cast<double>(rng.below(static_cast<std::uint64_t>(options))));
    weight.push_back(std::exp(rng.uniform(-1.5, 1.5)));
  }
  return [=](const Trail& trail) {
    double time = 1;
    for (std::size_t i = 0; i < trail.size(); ++i) {
      const double away = (static_cast<double>(toy::taken(trail, i)) - optimum[i]) / static_cast<double>(branching[i]);
      time += weight[i] * away * away;
    }
    return time;
  };
}

/// The bowl with random interactions of neighbouring knobs, a fifth of all candidates failing (time 0).
Time rugged(std::uint64_t seed) {
  return [seed, bowl = smooth(seed)](const Trail& trail) {
    const auto pair = [&](std::size_t i, std::size_t j) {
      return static_cast<double>(toy::scramble({trail[i], trail[j]}, seed) % 1000) / 1000;
    };
    if (pair(0, 3) < 0.2) return 0.0;
    double time = bowl(trail);
    for (std::size_t i = 0; i + 1 < trail.size(); ++i) time += pair(i, i + 1) / 4;
    return time;
  };
}

double best_after(std::int64_t trials, std::string_view name, const Time& time, std::uint64_t seed) {
  const toy::ToySpace space = toy::levels(branching);
  const auto searcher = make_searcher(name, space, {.seed = seed});
  Callbacks callbacks;
  callbacks.measure = [&](const Candidate& c) { return Measured{toy::took(time(c->trail()))}; };
  const LoopResult result = run(space, *searcher, {.trials = trials}, callbacks);
  return result.best < 0 ? 1e9 : result.trials[static_cast<std::size_t>(result.best)].outcome.microseconds;
}

double median_after(std::int64_t trials, std::string_view name, Time (*landscape)(std::uint64_t)) {
  std::vector<double> bests;
  for (std::uint64_t seed = 0; seed < 50; ++seed) bests.push_back(best_after(trials, name, landscape(seed), seed));
  std::nth_element(bests.begin(), bests.begin() + 25, bests.end());
  return bests[25];
}

TEST(Mcts, BeatsRandomOnASmoothLandscape) {
  const double random = median_after(100, "random", smooth), mcts = median_after(100, "mcts", smooth);
  EXPECT_LT(mcts - 1, 0.6 * (random - 1)) << "median time " << mcts << ", random " << random << ", optimum 1";
}

TEST(Mcts, BeatsRandomOnARuggedLandscape) {
  const double random = median_after(100, "random", rugged), mcts = median_after(100, "mcts", rugged);
  EXPECT_LT(mcts, random);
  EXPECT_LT(median_after(300, "mcts", rugged), mcts);
}

TEST(Mcts, DeepensBeforeAWideForkIsVisitedThroughout) {
  const toy::ToySpace space = toy::levels({40, 40});
  const auto searcher = make_searcher("mcts", space, {});
  std::vector<int> below(40);
  for (int trial = 0; trial < 60; ++trial) {
    const Candidate candidate = searcher->ask(1).at(0);
    const auto first = toy::taken(candidate->trail(), 0);
    ++below[static_cast<std::size_t>(first)];
    searcher->tell(candidate, toy::took(first == 0 ? 10 : 20));
  }
  EXPECT_EQ(std::max_element(below.begin(), below.end()), below.begin());
  EXPECT_GT(std::count(below.begin(), below.end(), 0), 10);
}

TEST(Mcts, OutstandingAsksSpreadOut) {
  const toy::ToySpace space = toy::uniform(3, 10);
  std::vector<bool> seen(10);
  for (const Candidate& candidate : make_searcher("mcts", space, {})->ask(30))
    seen[static_cast<std::size_t>(toy::taken(candidate->trail(), 0))] = true;
  EXPECT_GE(std::count(seen.begin(), seen.end(), true), 8);
}

}  // namespace
}  // namespace deplo::search
