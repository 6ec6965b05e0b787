// Warm starts: what the prior mean predicts, what searchers do with it, and where comparisons take the sources from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "search/compare/contest.h"
#include "search/model/transfer.h"
#include "search/tables.h"
#include "search/toy_space.h"

namespace deplo::search::model {
namespace {

using tables::Options;
constexpr double infinity = std::numeric_limits<double>::infinity();

double slope_time(const Trail& trail) {  // smooth; the minimum is 3 at k0 = 7, k1 = 2
  const auto x = static_cast<double>(toy::taken(trail, 0)), y = static_cast<double>(toy::taken(trail, 1));
  return 3 * std::exp(0.1 * (x - 7) * (x - 7) + 0.05 * std::abs(y - 2));
}

SourceTask all_of(const Space& space, double factor) {
  SourceTask source;
  for (const Trail& trail : toy::leaves(space)) source.push_back({trail, factor * slope_time(trail)});
  return source;
}

std::vector<Codes> codes_of(const std::vector<Trail>& trails, Encoding& encoding) {
  std::vector<Codes> codes;
  for (const Trail& trail : trails) codes.push_back(encoding.codes(trail));
  return codes;
}

TEST(Transfer, PredictsTheSourceUpToAFactor) {
  const toy::ToySpace space = toy::levels({12, 10});
  Encoding encoding;
  Rng rng(1);
  Transfer transfer;
  transfer.learn(std::vector<SourceTask>{all_of(space, 1)}, encoding, rng);
  ASSERT_FALSE(transfer.empty());
  const std::vector<Trail> told = {parse_trail("toy.k0=7 toy.k1=2"), parse_trail("toy.k0=5 toy.k1=3"),
                                   parse_trail("toy.k0=8 toy.k1=6")};
  std::vector<double> logs;
  for (const Trail& trail : told) logs.push_back(std::log(40 * slope_time(trail)));  // another device, 40 times slower
  transfer.match(codes_of(told, encoding), logs, encoding);
  const std::vector<Trail> asked = {parse_trail("toy.k0=7 toy.k1=5"), parse_trail("toy.k0=6 toy.k1=2")};
  const std::vector<double> means = transfer.means(codes_of(asked, encoding), encoding);
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_NEAR(means[i], std::log(40 * slope_time(asked[i])), 0.1);
}

TEST(Transfer, BelievesTheSourceThatAgrees) {
  const toy::ToySpace space = toy::levels({12, 10});
  SourceTask liar;
  for (const Trail& trail : toy::leaves(space)) liar.push_back({trail, 1 / slope_time(trail)});
  Encoding encoding;
  Rng rng(1);
  Transfer transfer;
  transfer.learn(std::vector<SourceTask>{all_of(space, 1), liar}, encoding, rng);
  const std::vector<Trail> leaves = toy::leaves(space);
  std::vector<Trail> told;
  std::vector<double> logs;
  for (std::size_t i = 0; i < leaves.size(); i += 3)
    if (slope_time(leaves[i]) < 12) told.push_back(leaves[i]);
  for (const Trail& trail : told) logs.push_back(std::log(slope_time(trail)));
  transfer.match(codes_of(told, encoding), logs, encoding);
  const auto means = transfer.means(
      codes_of({parse_trail("toy.k0=7 toy.k1=2"), parse_trail("toy.k0=4 toy.k1=2")}, encoding), encoding);
  // The true difference is 0.9; it would be 0 if both sources were believed equally.
  EXPECT_LT(means[0], means[1] - 0.3);
}

TEST(Transfer, SaysNothingWithoutTwoTimes) {
  Encoding encoding;
  Rng rng(1);
  Transfer transfer;
  const Trail trail = parse_trail("k=1"), other = parse_trail("k=2");
  transfer.learn(std::vector<SourceTask>{{}, {{trail, 3}}, {{trail, 3}, {other, infinity}}}, encoding, rng);
  EXPECT_TRUE(transfer.empty());
  transfer.learn(std::vector<SourceTask>{{{trail, 3}, {other, 3}}}, encoding, rng);  // all times are equal
  EXPECT_TRUE(std::isfinite(transfer.means({encoding.codes(trail)}, encoding)[0]));
}

std::vector<std::string> warm_kinds() {
  std::vector<std::string> names;
  const toy::ToySpace space = toy::levels({12, 10});
  for (const SearcherKind* kind : searchers()) {
    const auto searcher = make_searcher(kind->name, space, {});
    const bool learned = searcher->warm_start(std::vector<SourceTask>{all_of(space, 1)});
    EXPECT_EQ(searcher->learns(), learned) << kind->name;
    if (learned) names.emplace_back(kind->name);
  }
  return names;
}

TEST(WarmStart, IsOfTheStrategiesWithAModel) {
  EXPECT_THAT(warm_kinds(), ::testing::ElementsAre("model", "puct", "evolve", "portfolio"));
}

TEST(WarmStart, AsksFirstWhatIsFastElsewhere) {
  const toy::ToySpace space = toy::levels({12, 10});
  for (const char* name : {"model", "puct", "evolve"}) {
    const auto searcher = make_searcher(name, space, {.seed = 2});
    searcher->warm_start(std::vector<SourceTask>{all_of(space, 40)});
    EXPECT_LT(slope_time(searcher->ask(1)[0]->trail()), 3.2) << name;
  }
}

// The sources have trails that this space does not have. Failures come first. The space is searched to its end.
TEST(WarmStart, KeepsTheContract) {
  const toy::ToySpace space = toy::conditional(5);
  SourceTask source = all_of(toy::levels({12, 10}), 1);
  source.push_back({parse_trail("toy.k0=3 unknown=x"), 2});
  for (const std::string& name : warm_kinds()) {
    const auto searcher = make_searcher(name, space, {.seed = 3});
    searcher->warm_start(std::vector<SourceTask>{source, source});
    std::set<std::string> asked;
    for (int round = 0;; ++round) {
      const std::vector<Candidate> candidates = searcher->ask(3);
      if (candidates.empty()) break;
      for (const Candidate& candidate : candidates) {
        EXPECT_TRUE(asked.insert(print(candidate->trail())).second) << name;
        searcher->tell(candidate, round < 4 ? toy::failed() : toy::took(toy::noise_time(candidate->trail())));
      }
    }
    EXPECT_EQ(asked.size(), toy::leaves(space).size()) << name;
  }
}

std::shared_ptr<const Records> device(const char* name, double shift, const char* kernel = "k") {
  auto records = std::make_shared<Records>(*tables::grid({15, 15, 6}, [&](const Options& o) {
    const double x = static_cast<double>(o[0]) - 9 - shift, y = static_cast<double>(o[1]) - 4;
    return o[2] == 5 && o[0] < 3 ? -1 : 5 + x * x + y * y + 3 * static_cast<double>((o[2] * 5) % 6);
  }));
  records->name = records->device = name;
  records->kernel = kernel;
  return records;
}

TEST(Sources, AreTheSameKernelOnOtherDevices) {
  const auto a = device("a", 0), b = device("b", 1), other = device("c", 0, "other"), nameless = device("d", 0, "");
  const auto fewer = [] {
    auto records = std::make_shared<Records>(*tables::grid({15}, [](const Options&) { return 1.0; }));
    records->device = "e";
    records->kernel = "k";
    return records;
  }();
  EXPECT_THAT(compare::sources_of(*a, {a, b, other, nameless, fewer}), ::testing::ElementsAre(b));
  EXPECT_TRUE(compare::sources_of(*nameless, {a, b, nameless, device("f", 0, "")}).empty());
}

TEST(Sources, AreDrawnWithoutReplacement) {
  const auto records = device("a", 0);
  Rng rng(4);
  std::set<std::string> trails;
  const SourceTask source = compare::draw(*records, 500, rng);
  for (const Experience& each : source) trails.insert(print(each.trail));
  EXPECT_EQ(trails.size(), 500u);
  EXPECT_EQ(compare::draw(*records, 100000, rng).size(), records->records.size());
  // Failures are included.
  EXPECT_THAT(source, ::testing::Contains(::testing::Field(&Experience::microseconds, infinity)));
}

TEST(Sources, RaiseTheScoreAndNotWithThreads) {
  const TableSpace space(device("a", 0));
  compare::Contest contest;
  contest.entrants = {{"random", "random", {}}, {"model", "model", {}}};
  contest.repeats = 6;
  contest.warm_start = 100;
  const compare::Sources sources = {device("b", 1)};
  const compare::SpaceResult warm = compare::compete(space, contest, {}, {}, sources);
  contest.threads = 2;
  EXPECT_EQ(warm.cells[1].runs, compare::compete(space, contest, {}, {}, sources).cells[1].runs);
  const compare::SpaceResult cold = compare::compete(space, contest, {}, {});
  EXPECT_GT(warm.cells[1].score, cold.cells[1].score);
  EXPECT_EQ(warm.cells[0].runs, cold.cells[0].runs);
  EXPECT_EQ(warm.sources, std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace deplo::search::model
