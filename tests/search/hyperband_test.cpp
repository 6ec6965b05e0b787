// The brackets and rungs of hyperband, compared with the published example and with plain sorting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "search/searcher.h"
#include "search/toy_space.h"

namespace deplo::search {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::unique_ptr<Searcher> hyperband(const Space& space, const std::string& eta, const std::string& least) {
  return make_searcher("hyperband", space, {.seed = 3, .parameters = {{"eta", eta}, {"R", least}}});
}

struct Told {
  std::string trail;
  double effort, time;  // a time of 0 is a failure
};

/// Evaluates candidates one by one, until the searcher ends or `most` evaluations are done.
std::vector<Told> drive(Searcher& searcher, std::size_t most, const std::function<double(const Trail&)>& time) {
  std::vector<Told> told;
  while (told.size() < most) {
    const auto asked = searcher.ask(1);
    if (asked.empty()) break;
    const double us = time(asked[0]->trail());
    told.push_back({print(asked[0]->trail()), asked[0].effort, us});
    searcher.tell(asked[0], us > 0 ? toy::took(us) : toy::failed());
  }
  return told;
}

/// Returns how many evaluations in a row had the same effort: pairs of 1/effort and that number.
std::vector<std::pair<long, int>> rungs(const std::vector<Told>& told) {
  std::vector<std::pair<long, int>> all;
  for (const Told& one : told) {
    const long inverse = std::lround(1 / one.effort);
    if (all.empty() || all.back().first != inverse) all.emplace_back(inverse, 0);
    ++all.back().second;
  }
  return all;
}

// Algorithm 1 of the paper with R = 81, eta = 3 (n = 81, 34, 15, 8, 5), and then the first bracket again.
TEST(Hyperband, HasTheBracketsOfThePaper) {
  const toy::ToySpace space = toy::uniform(6, 10);
  const auto told = drive(*hyperband(space, "3", "81"), 206 + 81 + 27, toy::noise_time);
  EXPECT_THAT(rungs(told), ElementsAre(Pair(81, 81), Pair(27, 27), Pair(9, 9), Pair(3, 3), Pair(1, 1),  //
                                       Pair(27, 34), Pair(9, 11), Pair(3, 3), Pair(1, 1),               //
                                       Pair(9, 15), Pair(3, 5), Pair(1, 1),                             //
                                       Pair(3, 8), Pair(1, 2 + 5),  // includes the last bracket
                                       Pair(81, 81), Pair(27, 27)));
}

TEST(Hyperband, TheFastestOfARungGoOn) {
  const toy::ToySpace space = toy::uniform(6, 10);
  auto told = drive(*hyperband(space, "4", "16"), 21, toy::noise_time);
  ASSERT_THAT(rungs(told), ElementsAre(Pair(16, 16), Pair(4, 4), Pair(1, 1)));
  const auto by_time = [](const Told& a, const Told& b) { return a.time < b.time; };
  std::sort(told.begin(), told.begin() + 16, by_time);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(told[16 + i].trail, told[i].trail);
  EXPECT_EQ(told[20].trail, told[0].trail);
}

TEST(Hyperband, FailuresDoNotGoOn) {
  const toy::ToySpace space = toy::uniform(6, 10);
  int left = 18;  // the first 14 of 16 evaluations fail
  const auto told = drive(*hyperband(space, "4", "16"), 16 + 2 + 1 + 6,
                          [&](const Trail& trail) { return --left > 3 ? 0 : toy::noise_time(trail); });
  EXPECT_THAT(rungs(told), ElementsAre(Pair(16, 16), Pair(4, 2), Pair(1, 1), Pair(4, 6)));
}

// While results are outstanding, the next brackets begin. The rungs continue when the results are told.
TEST(Hyperband, WaitsForNobody) {
  const toy::ToySpace space = toy::uniform(6, 10);
  const auto searcher = hyperband(space, "4", "16");
  const std::vector<Candidate> first = searcher->ask(30);
  std::vector<Told> asked;
  for (const Candidate& one : first) asked.push_back({"", one.effort, 0});
  EXPECT_THAT(rungs(asked), ElementsAre(Pair(16, 16), Pair(4, 6), Pair(1, 3), Pair(16, 5)));
  for (std::size_t i = 0; i < 16; ++i) searcher->tell(first[i], toy::took(toy::noise_time(first[i]->trail())));
  EXPECT_EQ(searcher->ask(1)[0].effort, 0.25);
}

// In the end, candidates that were not raised are evaluated in full: the fastest first, failures never.
TEST(Hyperband, EndsWithEverythingInFull) {
  const toy::ToySpace space = toy::uniform(2, 7);
  const auto time = [](const Trail& trail) { return toy::scramble(trail) % 5 == 0 ? 0 : toy::noise_time(trail); };
  std::map<std::string, Told> last;
  for (const Told& told : drive(*hyperband(space, "2", "8"), 1000, time)) last[told.trail] = told;
  EXPECT_EQ(last.size(), 49u);
  for (const auto& [trail, told] : last) EXPECT_TRUE(told.effort == 1 || told.time == 0) << trail;
}

TEST(Hyperband, WithoutALeastEffortItIsRandomSearch) {
  const toy::ToySpace space = toy::uniform(6, 10);
  const auto told = drive(*hyperband(space, "4", "1"), 50, toy::noise_time);
  EXPECT_THAT(rungs(told), ElementsAre(Pair(1, 50)));
  const auto random = make_searcher("random", space, {.seed = 3});
  for (const Told& one : told) EXPECT_EQ(one.trail, print(random->ask(1)[0]->trail()));
}

}  // namespace
}  // namespace deplo::search
