// Moves stay within the space, whatever they wish for.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "search/toy_space.h"
#include "search/trails.h"

namespace deplo::search {
namespace {

std::set<std::string> all(const Space& space) {
  std::set<std::string> result;
  for (const Trail& trail : toy::leaves(space)) result.insert(print(trail));
  return result;
}

TEST(Trails, MovesLeadToCandidates) {
  for (const auto& space : {toy::levels({}), toy::levels({3, 1, 4}), toy::conditional(6), toy::comb(9)}) {
    const std::set<std::string> candidates = all(space);
    Rng rng(5);
    for (int i = 0; i < 50; ++i) {
      const Trail a = random_candidate(space, rng)->trail(), b = random_candidate(space, rng)->trail();
      for (const Trail& wish :
           {a, Moves(space, a).mutate(1, rng), Moves(space, a).mutate(3, rng), crossover(a, b, rng)})
        EXPECT_TRUE(candidates.contains(print(replay(space, wish)->trail())));
      EXPECT_EQ(replay(space, a)->trail(), a);
    }
  }
}

TEST(Trails, NeighboursAreAllAtDistanceOneInAFlatSpace) {
  const toy::ToySpace space = toy::levels({3, 1, 4});
  std::set<std::string> found;
  const Trail centre = parse_trail("toy.k0=1 toy.k1=0 toy.k2=2");
  for (const Trail& wish : Moves(space, centre).neighbours()) found.insert(print(replay(space, wish)->trail()));
  std::set<std::string> expected;
  for (const Trail& trail : toy::leaves(space)) {
    int differ = 0;
    for (std::size_t i = 0; i < 3; ++i) differ += trail[i] != centre[i];
    if (differ == 1) expected.insert(print(trail));
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found.size(), 5U);
}

TEST(Trails, MutationsChangeAsManyChoicesAsAsked) {
  const toy::ToySpace space = toy::levels({3, 1, 4, 2});
  Rng rng(1);
  const Trail trail = random_candidate(space, rng)->trail();
  for (std::size_t changes = 0; changes < 5; ++changes) {
    const Trail wish = Moves(space, trail).mutate(changes, rng);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < trail.size(); ++i) differ += trail[i] != wish[i];
    EXPECT_EQ(differ, std::min<std::size_t>(changes, 3)) << "the second fork has one option";
  }
}

TEST(Trails, CrossoverMixesEvenly) {
  const toy::ToySpace space = toy::uniform(10, 2);
  const Trail zeros = heuristic(space)->trail();
  Trail ones = zeros;
  for (Choice& choice : ones) choice.value = std::int64_t{1};
  Rng rng(2);
  int count = 0;
  for (int i = 0; i < 100; ++i)
    for (const Choice& choice : crossover(zeros, ones, rng)) count += choice.value == Value(std::int64_t{1});
  EXPECT_NEAR(count, 500, 60);  // 4 standard deviations of a binomial
}

TEST(Trails, WishesTakeTheNearestRatio) {
  const auto fork = [](std::vector<Value> options) { return Fork{"k", std::move(options)}; };
  const auto wanted = [](const Fork& f, const char* wish) { return wanted_option(f, parse_trail(wish)); };
  const Fork numbers = fork({std::int64_t{1}, std::int64_t{4}, std::int64_t{8}});
  EXPECT_EQ(wanted(numbers, "k=8"), 2U);
  EXPECT_EQ(wanted(numbers, "k=6"), 2U) << "8/6 is less than 6/4";
  EXPECT_EQ(wanted(numbers, "k=1000"), 2U);
  EXPECT_EQ(wanted(numbers, "k=word"), 0U);
  EXPECT_EQ(wanted(numbers, "other=8"), 0U);
  EXPECT_EQ(wanted(fork({std::string("x"), std::int64_t{4}}), "k=3"), 1U);
  const Fork fractions = fork({std::string("0.1"), std::string("0.5"), std::int64_t{2}, std::string("inf")});
  EXPECT_EQ(wanted(fractions, "k=0.4"), 1U);
  EXPECT_EQ(wanted(fractions, "k=3"), 2U);
  EXPECT_EQ(wanted(fractions, "k=inf"), 3U);
  EXPECT_EQ(wanted(fractions, "k=nan"), 0U);
}

// A space that counts its four candidates: one below option 0, three below option 1.
TEST(Trails, RandomIsUniformOverCandidatesWhereTheyAreCounted) {
  class Counted final : public Position {
   public:
    explicit Counted(Trail trail) : trail_(std::move(trail)) {
      const std::vector<Value> three{std::int64_t{0}, std::int64_t{1}, std::int64_t{2}};
      if (trail_.empty()) fork_ = Fork{"a", {std::int64_t{0}, std::int64_t{1}}};
      if (trail_.size() == 1 && trail_[0].value == Value(std::int64_t{1})) fork_ = Fork{"b", three};
    }
    const std::optional<Fork>& fork() const override { return fork_; }
    const Trail& trail() const override { return trail_; }
    PositionPtr choose(std::size_t option) const override {
      Trail longer = trail_;
      longer.push_back({fork_->knob, fork_->options[option]});
      return std::make_shared<Counted>(longer);
    }
    double leaves(std::size_t option) const override { return trail_.empty() && option == 1 ? 3 : 1; }

   private:
    Trail trail_;
    std::optional<Fork> fork_;
  };
  struct CountedSpace final : Space {
    PositionPtr root() const override { return std::make_shared<Counted>(Trail{}); }
  } space;
  Rng rng(9);
  std::map<std::string, int> counts;
  for (int i = 0; i < 4000; ++i) ++counts[print(random_candidate(space, rng)->trail())];
  ASSERT_EQ(counts.size(), 4U);
  for (const auto& [trail, count] : counts) EXPECT_NEAR(count, 1000, 110) << trail;  // 4 standard deviations
}

}  // namespace
}  // namespace deplo::search
