// The contract of search/searcher.h, which every searcher must keep on every space.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ostream>
#include <set>

#include "core/rng.h"
#include "search/searcher.h"
#include "search/strategies/exec/example.h"
#include "search/toy_space.h"

namespace deplo::search {
namespace {

using toy::took;

struct NamedSpace {
  std::string name;
  toy::ToySpace space;
  bool small = true;  // small enough to be searched to the end
};

const std::vector<NamedSpace>& spaces() {
  static const std::vector<NamedSpace> all = {
      {"single_leaf", toy::levels({})},
      {"one_option", toy::levels({1})},
      {"forced_path", toy::levels({1, 1, 1})},
      {"wide", toy::levels({200})},
      {"wide_and_forced", toy::levels({1, 30, 1, 4})},
      {"deep", toy::uniform(8, 2)},
      {"comb", toy::comb(60)},
      {"conditional", toy::conditional(5)},
      {"million", toy::uniform(6, 10), false},
  };
  return all;
}

/// Returns the trails without repetitions. Each repetition must ask for more effort than before.
std::vector<Trail> first_asks(const std::vector<Candidate>& asked) {
  std::map<std::string, double> efforts;
  std::vector<Trail> trails;
  for (const Candidate& candidate : asked) {
    double& effort = efforts[print(candidate->trail())];
    if (effort == 0) trails.push_back(candidate->trail());
    EXPECT_GT(candidate.effort, effort) << print(candidate->trail());
    EXPECT_LE(candidate.effort, 1);
    effort = candidate.effort;
  }
  return trails;
}

/// Asks in batches until the searcher ends or the limit of trails is reached. Batch k is told only after batch k + lag
/// was asked for, in reverse order.
struct Drive {
  std::size_t batch = 1, lag = 0, limit = 100000;
  std::function<Outcome(const Trail&)> outcome = [](const Trail& trail) { return took(toy::noise_time(trail)); };

  /// Returns the trails that were asked for the first time.
  std::vector<Trail> operator()(Searcher& searcher) const { return first_asks(all(searcher)); }

  std::vector<Candidate> all(Searcher& searcher) const {
    std::vector<Candidate> asked;
    std::set<std::string> seen;
    std::vector<std::vector<Candidate>> outstanding;
    while (seen.size() < limit) {
      std::vector<Candidate> candidates = searcher.ask(batch);
      EXPECT_LE(candidates.size(), batch);
      if (candidates.empty()) break;
      for (const Candidate& candidate : candidates) {
        EXPECT_FALSE(candidate->fork());
        asked.push_back(candidate);
        seen.insert(print(candidate->trail()));
      }
      outstanding.push_back(std::move(candidates));
      if (outstanding.size() > lag) tell_first(searcher, outstanding);
    }
    while (!outstanding.empty()) tell_first(searcher, outstanding);
    return asked;
  }

 private:
  void tell_first(Searcher& searcher, std::vector<std::vector<Candidate>>& outstanding) const {
    auto& candidates = outstanding.front();
    for (auto it = candidates.rbegin(); it != candidates.rend(); ++it) searcher.tell(*it, outcome((*it)->trail()));
    outstanding.erase(outstanding.begin());
  }
};

std::set<std::string> texts(const std::vector<Trail>& trails) {
  std::set<std::string> out;
  for (const Trail& trail : trails) out.insert(print(trail));
  return out;
}

void expect_distinct(const std::vector<Trail>& trails) { EXPECT_EQ(texts(trails).size(), trails.size()); }

struct Case {
  const SearcherKind* kind;
  const NamedSpace* space;
  std::string program = {};  // the program, if the kind is exec
  friend std::ostream& operator<<(std::ostream& out, const Case& each) {
    const std::string name(each.program.empty() ? each.kind->name : each.program);
    return out << name << "_on_" << each.space->name;
  }
};

class Battery : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Searcher> make(std::uint64_t seed = 1) const {
    const std::string& program = GetParam().program;
    return make_searcher(program.empty() ? kind().name : exec::example(program), space(), {.seed = seed});
  }
  void SetUp() override {
    if (!GetParam().program.empty() && !exec::has_python()) GTEST_SKIP() << "python3 is not installed";
  }
  const SearcherKind& kind() const { return *GetParam().kind; }
  const toy::ToySpace& space() const { return GetParam().space->space; }
  bool small() const { return GetParam().space->small; }
  bool modelled() const {
    const auto pooled = [](const Hyperparameter& one) { return one.name == "pool"; };
    return kind().name == "portfolio" || !GetParam().program.empty() || std::ranges::any_of(kind().parameters, pooled);
  }
  bool complete() const { return kind().name != "heuristic"; }  // asks for every candidate in the end
  Drive drive(std::size_t batch = 1, std::size_t lag = 0) const {
    return {.batch = batch, .lag = lag, .limit = small() ? 100000u : modelled() ? 200u : 600u};
  }
};

TEST_P(Battery, NeverAsksTwiceAndStopsExactlyWhenExhausted) {
  for (const std::size_t batch : {1, 3, 16})
    for (const std::size_t lag : {0, 1, 4}) {
      // Models are slow: only batch 3 with lag 1, and 16 with 4.
      if (modelled() && batch != 3 * lag && batch != 4 * lag) continue;
      const auto searcher = make();
      const std::vector<Trail> asked = drive(batch, lag)(*searcher);
      expect_distinct(asked);
      if (!small() && complete()) {
        EXPECT_GE(asked.size(), drive().limit);
      }
      if (small() && complete()) {
        EXPECT_EQ(texts(asked), texts(toy::leaves(space())));
      }
      if (small()) {
        EXPECT_TRUE(searcher->ask(4).empty());
      }
    }
}

TEST_P(Battery, AsksForNothingWhenAskedForNothing) {
  const auto searcher = make();
  EXPECT_TRUE(searcher->ask(0).empty());
  EXPECT_EQ(searcher->ask(1).size(), 1u);
}

TEST_P(Battery, OutstandingAsksNeedNoTell) {
  const auto searcher = make();
  std::vector<Candidate> all;
  while (all.size() < drive().limit) {
    const std::vector<Candidate> candidates = searcher->ask(7);
    if (candidates.empty()) break;
    all.insert(all.end(), candidates.begin(), candidates.end());
  }
  const std::vector<Trail> asked = first_asks(all);
  if (small() && complete()) {
    EXPECT_EQ(asked.size(), toy::leaves(space()).size());
  }
}

TEST_P(Battery, SurvivesFailures) {
  for (const bool all : {true, false}) {
    Drive failing = drive(3, 1);
    failing.outcome = [all](const Trail& trail) {
      return all || toy::scramble(trail) % 3 > 0 ? toy::failed() : took(toy::noise_time(trail));
    };
    const std::vector<Trail> asked = failing(*make());
    expect_distinct(asked);
    if (small() && complete()) {
      EXPECT_EQ(asked.size(), toy::leaves(space()).size());
    }
  }
}

// Where launches are most of the cost, strategies may ask for part of them first.
TEST_P(Battery, KeepsTheContractWhereLaunchesAreTheCost) {
  Drive slow = drive(3, 1);
  slow.outcome = [](const Trail& trail) {
    Outcome outcome = took(toy::noise_time(trail));
    outcome.seconds = 1;
    outcome.launch_seconds = 0.9;
    return outcome;
  };
  const std::vector<Trail> asked = slow(*make());
  expect_distinct(asked);
  if (small() && complete()) {
    EXPECT_EQ(texts(asked), texts(toy::leaves(space())));
  }
}

TEST_P(Battery, SurvivesTimesNobodyMeasured) {
  Drive odd = drive(2);
  odd.limit = 300;
  odd.outcome = [](const Trail& trail) {
    constexpr double times[] = {0, -1, std::numeric_limits<double>::infinity(), std::nan(""), 1e-320, 2};
    return took(times[toy::scramble(trail) % 6]);
  };
  expect_distinct(odd(*make()));
}

TEST_P(Battery, SameTellsSameAsks) {
  const auto asks = [](const std::vector<Candidate>& asked) {
    std::vector<std::pair<Trail, double>> all;
    for (const Candidate& candidate : asked) all.emplace_back(candidate->trail(), candidate.effort);
    return all;
  };
  EXPECT_EQ(asks(drive(1).all(*make(7))), asks(drive(1).all(*make(7))));
  EXPECT_EQ(asks(drive(3, 2).all(*make(7))), asks(drive(3, 2).all(*make(7))));
}

TEST_P(Battery, ToldIsNeverAsked) {
  Rng rng(3);
  std::vector<Candidate> known{heuristic(space())};
  for (int i = 0; i < 40; ++i) {
    PositionPtr position = space().root();
    while (position->fork()) position = position->choose(rng.below(position->fork()->options.size()));
    known.push_back(position);
  }
  const auto searcher = make();
  std::set<std::string> told;
  for (const Candidate& candidate : known) {  // some candidates occur twice
    searcher->tell(candidate, took(toy::noise_time(candidate->trail())));
    told.insert(print(candidate->trail()));
  }
  const std::vector<Trail> asked = drive(3)(*searcher);
  expect_distinct(asked);
  for (const Trail& trail : asked) EXPECT_FALSE(told.contains(print(trail))) << print(trail);
  if (small() && complete()) {
    EXPECT_EQ(asked.size() + told.size(), toy::leaves(space()).size());
  }
}

TEST_P(Battery, ToldBetweenAskAndTellChangesNothing) {
  const auto searcher = make();
  const std::vector<Candidate> first = searcher->ask(5);
  for (int round = 0; round < 2; ++round)
    for (const Candidate& candidate : first) searcher->tell(candidate, took(3));
  std::vector<Candidate> all = drive(2).all(*searcher);
  all.insert(all.begin(), first.begin(), first.end());
  const std::vector<Trail> asked = first_asks(all);
  if (small() && complete()) {
    EXPECT_EQ(asked.size(), toy::leaves(space()).size());
  }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const SearcherKind* kind : searchers())
    for (const NamedSpace& space : spaces()) out.push_back({kind, &space});
  return out;
}

// The conformance test of the protocol (docs/protocol.md): strategies in other programs keep the contract, too.
std::vector<Case> programs() {
  std::vector<Case> out;
  for (const char* program : {"random_search", "hill_climber"})
    for (const NamedSpace& space : spaces())
      if (space.name != "wide") out.push_back({&find_searcher("exec:CMD"), &space, program});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Programs, Battery, ::testing::ValuesIn(programs()), ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(All, Battery, ::testing::ValuesIn(cases()), ::testing::PrintToStringParamName());

TEST(Seeds, OtherSeedsOtherAsks) {
  for (const std::string_view name : {"random", "mcts", "model"})
    for (const NamedSpace& each : spaces()) {
      const Drive drive{.limit = 50};
      const auto first = drive(*make_searcher(name, each.space, {.seed = 1}));
      if (first.size() == 50) {
        EXPECT_NE(first, drive(*make_searcher(name, each.space, {.seed = 2}))) << name << " on " << each.name;
      }
    }
}

TEST(Searchers, AreFoundByName) {
  const toy::ToySpace space = toy::levels({3});
  for (const SearcherKind* kind : searchers()) EXPECT_NE(make_searcher(kind->name, space, {}), nullptr);
  EXPECT_THAT(
      [&] { make_searcher("annealing", space, {}); },
      ::testing::ThrowsMessage<Error>(::testing::AllOf(
          ::testing::HasSubstr("'annealing'"), ::testing::HasSubstr("mcts"), ::testing::HasSubstr("exhaustive"))));
}

TEST(Heuristic, TakesTheFirstOptions) {
  const toy::ToySpace space = toy::conditional(6);
  const auto candidates = make_searcher("heuristic", space, {})->ask(9);
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(print(candidates[0]->trail()), "toy.k0=0 toy.k1=0");
}

TEST(Exhaustive, GoesInOptionOrder) {
  const toy::ToySpace space = toy::conditional(4);
  EXPECT_EQ(Drive{.batch = 5}(*make_searcher("exhaustive", space, {})), toy::leaves(space));
}

TEST(Exhaustive, FindsTheOptimum) {
  for (const NamedSpace& each : spaces()) {
    if (!each.small) continue;
    double fastest = std::numeric_limits<double>::infinity(), optimum = fastest;
    const auto searcher = make_searcher("exhaustive", each.space, {});
    for (const Trail& trail : Drive{.batch = 3}(*searcher)) fastest = std::min(fastest, toy::noise_time(trail));
    for (const Trail& trail : toy::leaves(each.space)) optimum = std::min(optimum, toy::noise_time(trail));
    EXPECT_EQ(fastest, optimum) << each.name;
  }
}

TEST(Walk, FollowsATrailOrSaysNo) {
  const toy::ToySpace space = toy::conditional(4);
  const PositionPtr middle = walk(space, parse_trail("toy.k0=3 toy.k1=2"));
  ASSERT_NE(middle, nullptr);
  EXPECT_EQ(middle->fork()->knob, "toy.k2");
  EXPECT_EQ(walk(space, {})->trail(), Trail{});
  for (const char* misfit : {"toy.k1=0", "toy.k0=4", "toy.k0=x", "toy.k0=0 toy.k1=0 toy.k2=0"})
    EXPECT_EQ(walk(space, parse_trail(misfit)), nullptr) << misfit;
}

}  // namespace
}  // namespace deplo::search
