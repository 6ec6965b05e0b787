// Searchers that know the time of the untuned candidate begin with its neighbours.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "search/searcher.h"
#include "search/toy_space.h"
#include "search/trails.h"

namespace deplo::search {
namespace {

constexpr int climb = 20;  // number of evaluations, the default of all searchers

int changes(const Trail& a, const Trail& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i].value == b[i].value ? 0 : 1;
  return count;
}

double time_of(const Trail& trail) {
  double time = 1;
  for (std::size_t i = 0; i < trail.size(); ++i) time += static_cast<double>(toy::taken(trail, i));
  return time;
}

class Climb : public ::testing::TestWithParam<const char*> {};

TEST_P(Climb, AsksNeighboursOfTheFastestFirst) {
  const toy::ToySpace space = toy::levels({9, 8, 7, 6, 5, 4});
  const auto searcher = make_searcher(GetParam(), space, {.seed = 3});
  const Candidate start = follow(space, [](const Position& at) { return at.fork()->options.size() - 1; });
  Trail best = start->trail();
  searcher->tell(start, toy::took(time_of(best)));
  for (int i = 0; i < climb; ++i) {
    const Candidate candidate = searcher->ask(1).at(0);
    EXPECT_EQ(changes(candidate->trail(), best), 1) << "evaluation " << i;
    searcher->tell(candidate, toy::took(time_of(candidate->trail())));
    if (time_of(candidate->trail()) < time_of(best)) best = candidate->trail();
  }
}

TEST_P(Climb, IsLeftOutWhereNothingIsKnown) {
  const toy::ToySpace space = toy::levels({9, 8, 7, 6, 5, 4});
  const auto searcher = make_searcher(GetParam(), space, {.seed = 3});
  Trail best;
  int far = 0;
  for (int i = 0; i < 6; ++i) {
    const Candidate candidate = searcher->ask(1).at(0);
    far += !best.empty() && changes(candidate->trail(), best) > 1 ? 1 : 0;
    searcher->tell(candidate, toy::took(time_of(candidate->trail())));
    if (best.empty() || time_of(candidate->trail()) < time_of(best)) best = candidate->trail();
  }
  EXPECT_GT(far, 2);
}

INSTANTIATE_TEST_SUITE_P(Searchers, Climb, ::testing::Values("model", "puct", "evolve", "mcts"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace deplo::search
