#include "search/records/table_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "search/searcher.h"
#include "search/tables.h"
#include "search/toy_space.h"

namespace deplo::search {
namespace {

using tables::Options;

// Returns 3 x 4 x 2 configurations under the constraint p0 + p1 < 4, which 9 of the 12 pairs of p0 and p1 meet.
std::shared_ptr<const Records> constrained() {
  return tables::grid({3, 4, 2}, [](const Options& o) {
    return o[0] + o[1] < 4 ? static_cast<double>(1 + o[0] * 8 + o[1] * 2 + o[2]) : 0.0;
  });
}

TEST(TableSpace, OffersWhatIsRecordedBelow) {
  const TableSpace space(constrained());
  EXPECT_EQ(space.size(), 18u);
  EXPECT_EQ(toy::leaves(space).size(), 18u);
  const PositionPtr last = space.root()->choose(2);
  EXPECT_EQ(last->fork()->knob, "p1");
  EXPECT_EQ(last->fork()->options, (std::vector<Value>{0, 1}));
  EXPECT_EQ(last->choose(1)->fork()->knob, "p2");
  EXPECT_EQ(print(last->choose(1)->choose(0)->trail()), "p0=2 p1=1 p2=0");
  EXPECT_FALSE(last->choose(1)->choose(0)->fork());
  EXPECT_DEATH(last->choose(2), "internal error");
}

TEST(TableSpace, KnowsHowManyLiveBelow) {
  const TableSpace space(constrained());
  const PositionPtr root = space.root();
  EXPECT_EQ(root->leaves(0), 8);
  EXPECT_EQ(root->leaves(1), 6);
  EXPECT_EQ(root->leaves(2), 4);
  EXPECT_EQ(root->choose(1)->leaves(2), 2);
  EXPECT_EQ(root->choose(1)->choose(2)->leaves(1), 1);
}

TEST(TableSpace, AnswersWithTheRecord) {
  const auto records = constrained();
  for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{}, {2, 0, 1}, {1, 2, 0}}) {
    const TableSpace space(records, order);
    for (const Trail& trail : toy::leaves(space)) {
      std::map<std::string, std::int64_t> o;
      for (const Choice& choice : trail) o[choice.knob] = std::get<std::int64_t>(choice.value);
      EXPECT_EQ(space.at(walk(space, trail)).outcome.microseconds, 1 + o["p0"] * 8 + o["p1"] * 2 + o["p2"]);
    }
  }
}

TEST(TableSpace, TakesLevelsInTheOrderGiven) {
  const TableSpace space(constrained(), {1, 2, 0});
  EXPECT_EQ(space.root()->fork()->knob, "p1");
  EXPECT_EQ(print(heuristic(space)->trail()), "p1=0 p2=0 p0=0");
  EXPECT_EQ(space.root()->choose(3)->choose(1)->fork()->options, std::vector<Value>{0});
}

TEST(TableSpace, OfRepeatedConfigurationsTheLastCounts) {
  RecordsBuilder builder("test");
  builder.add_knob("a");
  for (const double us : {5.0, 3.0, 4.0})
    builder.add(std::vector<Value>{us == 3 ? 1 : 0}, {.outcome = {Status::ok, us, ""}}, {});
  const TableSpace space(std::make_shared<const Records>(builder.finish()));
  EXPECT_EQ(space.size(), 2u);
  EXPECT_EQ(space.at(heuristic(space)).outcome.microseconds, 4);
}

// A store of an imported table has neither costs nor launches.
TEST(TableSpace, TimesAreCostsWhereNoneAreRecorded) {
  RecordsBuilder builder("test");
  builder.add_knob("a");
  builder.add(std::vector<Value>{0}, {.outcome = {Status::ok, 2e6, ""}});
  builder.add(std::vector<Value>{1}, {.outcome = {Status::ok, 3e6, ""}, .build_seconds = 0.5});
  builder.add(std::vector<Value>{2}, {.outcome = {Status::build_error, 0, "no"}});
  const Records records = builder.finish();
  EXPECT_DOUBLE_EQ(records.records[0].cost(), 2);
  EXPECT_DOUBLE_EQ(records.records[0].outcome.seconds, 2);
  EXPECT_DOUBLE_EQ(records.records[1].cost(), 0.5);
  EXPECT_EQ(records.records[2].cost(), 0);
}

TEST(TableSpace, CandidatesOfAnotherSpaceAreABug) {
  const TableSpace one(constrained()), other(constrained());
  EXPECT_DEATH((void)one.at(heuristic(other)), "internal error");
  EXPECT_DEATH((void)one.at(one.root()), "internal error");
}

TEST(TableSpace, EverySearcherFindsAll) {
  const TableSpace space(constrained());
  for (const SearcherKind* kind : searchers()) {
    if (kind->name == "heuristic") continue;
    const auto searcher = make_searcher(kind->name, space, {.seed = 3});
    std::map<std::uint32_t, double> efforts;
    for (auto candidates = searcher->ask(5); !candidates.empty(); candidates = searcher->ask(5))
      for (const Candidate& candidate : candidates) {
        double& effort = efforts[space.row(candidate)];
        EXPECT_LT(std::exchange(effort, candidate.effort), candidate.effort) << kind->name;
        searcher->tell(candidate, space.at(candidate).outcome);
      }
    EXPECT_EQ(efforts.size(), 18u) << kind->name;
  }
}

// Without the weights, one of the 4 configurations below p0=2 would come first a third of the time, instead of 4 times
// in 18.
TEST(Random, IsUniformOverRecordedConfigurations) {
  const TableSpace space(constrained());
  std::vector<int> first(18, 0), second(18, 0);
  constexpr int draws = 18000;
  for (int seed = 0; seed < draws; ++seed) {
    const auto searcher = make_searcher("random", space, {.seed = static_cast<std::uint64_t>(seed)});
    ++first[space.row(searcher->ask(1)[0])];
    ++second[space.row(searcher->ask(1)[0])];
  }
  const auto chi_squared = [](const std::vector<int>& counts) {
    double sum = 0;
    for (const int n : counts) sum += (n - 1000.0) * (n - 1000.0) / 1000;
    return sum;
  };
  EXPECT_LT(chi_squared(first), 40.8);  // exceeded with a probability of 0.1 % for 17 degrees of freedom
  EXPECT_LT(chi_squared(second), 40.8);
}

}  // namespace
}  // namespace deplo::search
