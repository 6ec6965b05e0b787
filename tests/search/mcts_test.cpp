// MCTS must be better than random search if there is something to learn.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/rng.h"
#include "search/loop.h"
#include "search/searcher.h"
#include "search/toy_space.h"

namespace deplo::search {
namespace {

using Time = std::function<double(const Trail&)>;

const std::vector<std::int64_t> branching = {12, 4, 10, 10, 6, 2, 2, 3, 2};  // 691,200 candidates

/// Returns a bowl around a hidden optimum, in which each knob has its own weight. The time at the bottom is 1.
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

/// Returns the bowl with random interactions of neighbouring knobs. A fifth of all candidates fail (time 0).
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

using Parameters = std::map<std::string, std::string, std::less<>>;

/// SP-MCTS as published (search/strategies/mcts.cpp).
const Parameters sp_mcts = {{"share", "0"}, {"c", "0.5"},      {"backup", "mean"},
                            {"D", "0.1"},   {"widen", "1000"}, {"follow", "0"}};
const Parameters separate = {{"share", "0"}, {"c", "0.5"}};

double best_after(std::int64_t trials, std::string_view name, const Parameters& parameters, const Time& time,
                  std::uint64_t seed) {
  const toy::ToySpace space = toy::levels(branching);
  const auto searcher = make_searcher(name, space, {.seed = seed, .parameters = parameters});
  Callbacks callbacks;
  callbacks.measure = [&](const Candidate& c) { return Measured{toy::took(time(c->trail()))}; };
  const LoopResult result = run(space, *searcher, {.trials = trials}, callbacks);
  return result.best < 0 ? 1e9 : result.trials[static_cast<std::size_t>(result.best)].outcome.microseconds;
}

double median_after(std::int64_t trials, std::string_view name, const Parameters& parameters,
                    Time (*landscape)(std::uint64_t)) {
  constexpr std::uint64_t runs = 15;
  std::vector<double> bests;
  for (std::uint64_t seed = 0; seed < runs; ++seed)
    bests.push_back(best_after(trials, name, parameters, landscape(seed), seed));
  std::nth_element(bests.begin(), bests.begin() + runs / 2, bests.end());
  return bests[runs / 2];
}

TEST(Mcts, BeatsRandomOnASmoothLandscape) {
  const double random = median_after(100, "random", {}, smooth);
  const double own = median_after(100, "mcts", separate, smooth), shared = median_after(100, "mcts", {}, smooth);
  EXPECT_LT(own - 1, 0.6 * (random - 1)) << "median time " << own << ", random " << random << ", optimum 1";
  EXPECT_LT(shared - 1, 0.6 * (random - 1)) << "median time " << shared << ", random " << random << ", optimum 1";
}

TEST(Mcts, BeatsRandomOnARuggedLandscape) {
  const double random = median_after(100, "random", {}, rugged);
  const double own = median_after(100, "mcts", separate, rugged), shared = median_after(100, "mcts", {}, rugged);
  EXPECT_LT(own, random);
  EXPECT_LT(shared, own);
  EXPECT_LT(median_after(300, "mcts", separate, rugged), own);
}

TEST(Mcts, DeepensBeforeAWideForkIsVisitedThroughout) {
  const toy::ToySpace space = toy::levels({40, 40});
  const auto searcher = make_searcher("mcts", space, {.parameters = separate});
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
  for (const Parameters& parameters : {separate, Parameters()}) {
    std::vector<bool> seen(10);
    for (const Candidate& candidate : make_searcher("mcts", space, {.parameters = parameters})->ask(30))
      seen[static_cast<std::size_t>(toy::taken(candidate->trail(), 0))] = true;
    EXPECT_GE(std::count(seen.begin(), seen.end(), true), 6);
  }
}

/// The rewards that were told below a child of the root.
struct Child {
  std::vector<double> rewards;
  double worth(double best, double visits) const {
    const auto n = static_cast<double>(rewards.size());
    double mean = 0, spread = 0.1;  // begins with the constant D
    for (const double x : rewards) mean += x / best / n;
    for (const double x : rewards) spread += x / best * x / best - mean * mean;
    return mean + 0.5 * std::sqrt(std::log(visits) / n) + std::sqrt(spread / n);
  }
};

// Schadd et al. 2008: X + C sqrt(ln t(N) / t(N_i)) + sqrt((sum of squares - t(N_i) X^2 + D) / t(N_i)). The formula
// applies after every child was visited.
TEST(Mcts, WithoutSharingIsSpMcts) {
  const toy::ToySpace space = toy::levels({6, 50});
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto searcher = make_searcher("mcts", space, {.seed = seed, .parameters = sp_mcts});
    std::vector<Child> children(6);
    double best = 0;
    for (int visits = 0; visits < 80; ++visits) {
      const Candidate candidate = searcher->ask(1).at(0);
      const auto chosen = static_cast<std::size_t>(toy::taken(candidate->trail(), 0));
      const auto worth = [&](const Child& child) { return child.worth(best, visits); };
      if (visits < 6) {
        EXPECT_TRUE(children[chosen].rewards.empty()) << "visit " << visits << ", seed " << seed;
      } else {
        EXPECT_NEAR(worth(children[chosen]), worth(*std::ranges::max_element(children, {}, worth)), 1e-9) << seed;
      }
      const double time = toy::noise_time(candidate->trail());
      searcher->tell(candidate, toy::took(time));
      children[chosen].rewards.push_back(1 / time);
      best = std::max(best, 1 / time);
    }
  }
}

}  // namespace
}  // namespace deplo::search
