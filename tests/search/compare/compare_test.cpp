// A Python script computed the expected figures by other means (enumeration, min-max formulas, sums).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "search/compare/contest.h"
#include "search/quantile.h"
#include "search/records/formats/one_space.h"
#include "search/tables.h"

namespace deplo::search::compare {
namespace {

using tables::Options;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

TEST(Statistics, WilcoxonCountsSignPatterns) {
  EXPECT_DOUBLE_EQ(wilcoxon(std::vector<double>{1, 2, 3, 4, 5, 6, 7}), 0.015625);
  EXPECT_DOUBLE_EQ(wilcoxon(std::vector<double>{1, -2, 3, 4, -1.5, 6, 7, 8}), 0.078125);
  EXPECT_DOUBLE_EQ(wilcoxon(std::vector<double>{1, 1, -1, 2, 0, 3, -2, 2}), 0.328125);  // ties and a zero
  EXPECT_EQ(wilcoxon(std::vector<double>{-3, 1}), 1);
  EXPECT_EQ(wilcoxon(std::vector<double>{0, 0}), 1);
  std::vector<double> many;
  for (int i = 0; i < 60; ++i) many.push_back((i * 37) % 11 - 4.5);
  EXPECT_NEAR(wilcoxon(many), 0.37716377388197686, 1e-12);
}

TEST(Statistics, Holm) {
  EXPECT_THAT(holm(std::vector<double>{0.01, 0.04, 0.03, 0.005}),
              Pointwise(::testing::DoubleEq(), {0.03, 0.06, 0.06, 0.02}));
  EXPECT_THAT(holm(std::vector<double>{0.9, 0.8}), ElementsAre(1, 1));
  EXPECT_TRUE(holm({}).empty());
}

TEST(Statistics, A12) {
  EXPECT_DOUBLE_EQ(a12(std::vector<double>{1, 2, 3}, std::vector<double>{2, 2}), 0.5);
  EXPECT_DOUBLE_EQ(a12(std::vector<double>{3, 4}, std::vector<double>{1, 3, 5, 0}), 0.6875);
}

TEST(Statistics, Quantile) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.975), 7);
}

TEST(Statistics, CensoredEventsAreNotLost) {
  const auto steps = reached({{6, true}, {3, false}, {5, true}, {3, false}, {12, true}, {9, false}, {6, false}});
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_DOUBLE_EQ(steps[0].share, 0.2857142857142857);
  EXPECT_DOUBLE_EQ(steps[1].share, 0.4642857142857143);
  EXPECT_DOUBLE_EQ(steps[2].share, 0.7321428571428572);
  EXPECT_EQ(time_to_share(steps, 0.5), 9);
  EXPECT_EQ(time_to_share(steps, 0.8), std::numeric_limits<double>::infinity());
}

TEST(Statistics, BootstrapOfGroups) {
  Rng rng(1);
  const std::vector<std::vector<double>> certain = {{2, 2}, {2}, {2, 2, 2}};
  EXPECT_EQ(hierarchical_bootstrap(certain, 100, rng).mean.low, 2);
  // The mean of 4 fair draws from 0 and 10 is 0 with probability 1/16, and 10 with probability 1/16.
  const std::vector<std::vector<double>> coins(4, {0, 10});
  const Bootstrap interval = hierarchical_bootstrap(coins, 4000, rng);
  EXPECT_EQ(interval.mean.low, 0);
  EXPECT_EQ(interval.mean.high, 10);
  EXPECT_LE(interval.median.low, interval.mean.low);
}

TEST(Curve, IsTheIsotonicFitOfPooledRuns) {
  const std::vector<Steps> runs = {{{1, 2}, {3, 2}, {5, 8}}, {{2, 6}, {4, 6}, {6, 6}}};
  const PooledRuns pool(runs, 0);
  // In order of time, the ranks are 2 6 2 6 8 6. Pooling gives 2 4 4 6 7 7.
  EXPECT_THAT(pool.fit(std::vector<double>{1, 1}, std::vector<double>{0, 1, 2.5, 3, 4.5, 9}),
              ElementsAre(2, 2, 4, 4, 6, 7));
  EXPECT_THAT(pool.fit(std::vector<double>{0, 3}, std::vector<double>{0, 9}), ElementsAre(6, 6));
  // Steps of a run that was not drawn do not bring later steps forward.
  EXPECT_THAT(pool.fit(std::vector<double>{1, 0}, std::vector<double>{2.5, 4.5, 5}), ElementsAre(2, 2, 8));
  EXPECT_THAT(ranks_at(runs[0], std::vector<double>{0.5, 1, 4, 5}), ElementsAre(0, 2, 2, 8));
}

TEST(Landscape, FollowsTheFormulas) {
  // 9 valid values 90 80 … 10, one invalid; f_med = 50. For p = 0.95: target 12, i = 8, M* = 4. For p = 0.5: target 30,
  // i = 6, M* = 2.
  const TableSpace space(
      tables::grid({10}, [](const Options& o) { return o[0] == 0 ? -1.0 : 10.0 * static_cast<double>(o[0]); }));
  const Landscape landscape(space);
  EXPECT_EQ(landscape.median(), 50);
  EXPECT_EQ(landscape.evaluations(0.95), 4);
  EXPECT_EQ(landscape.evaluations(0.5), 2);
  EXPECT_EQ(landscape.evaluations(0), 1);
  EXPECT_DOUBLE_EQ(landscape.seconds(0.95), 4 * 46);  // the costs are 1 11 21 31 41 51 …
  EXPECT_EQ(landscape.random_value(1), 40);           // d_5; d_0 is the slowest
  EXPECT_EQ(landscape.random_value(2), 20);           // 6.67 is rounded: d_7
  EXPECT_EQ(landscape.random_value(1000), 10);
  EXPECT_EQ(landscape.random_at(0), 40);
  EXPECT_EQ(landscape.random_at(2 * (51 + 0.1)), 20);
  EXPECT_LT(landscape.rank(0), 0);
  EXPECT_EQ(landscape.rank(1), 8);
  EXPECT_DOUBLE_EQ(score(20, 40, 10), 2. / 3);
  EXPECT_TRUE(std::isnan(score(10, 10, 10)));
}

// If higher is better, values are negated. The formulas stay the same: values within 10 % of the best, 100, are at
// least 90.
TEST(Landscape, OfAnObjectiveThatIsMaximised) {
  RecordsBuilder builder("test");
  builder.objective() = {"GFLOP/s", "", /*higher_is_better=*/true, /*duration=*/false};
  builder.add_knob("a");
  int a = 0;
  for (const double value : {50.0, 100.0, 80.0, 91.0})
    builder.add(std::vector<Value>{++a}, {.outcome = {Status::ok, value, ""}, .build_seconds = 1});
  const auto records = std::make_shared<const Records>(builder.finish());
  const TableSpace space(records);
  const Landscape landscape(space);
  EXPECT_THAT(landscape.values(), ::testing::ElementsAre(-50, -80, -91, -100));
  EXPECT_EQ(landscape.rank(1), 3);
  EXPECT_DOUBLE_EQ(landscape.within(10), -90);
  EXPECT_DOUBLE_EQ(landscape.quality(-80), 0.8);
  EXPECT_DOUBLE_EQ(score(-80, -50, landscape.optimum()), 0.6);
  EXPECT_DOUBLE_EQ(difficulty(space, landscape, 0).within10, 0.5);
}

// In a table of times, failures have no cost. If most configurations failed, the budget follows from the others.
TEST(Landscape, MostConfigurationsFailedWithoutACost) {
  RecordsBuilder builder("test");
  builder.add_knob("a");
  for (int a = 0; a < 10; ++a) {
    const bool ok = a < 4;
    builder.add(std::vector<Value>{a}, {.outcome = {ok ? Status::ok : Status::build_error, ok ? 10.0 * (a + 1) : 0, ""},
                                        .run_seconds = ok ? a + 1.0 : 0});
  }
  const auto records = std::make_shared<const Records>(builder.finish());
  const Landscape landscape{TableSpace(records)};
  EXPECT_DOUBLE_EQ(landscape.seconds(0), 2.5);
  EXPECT_EQ(landscape.random_at(2 * 2.5), landscape.random_value(2));  // a failure costs no time
}

// All configurations are neighbours of each other: 400 million pairs, whose correlation is -1/(n - 1).
TEST(Difficulty, OfAKnobWithManyValues) {
  const TableSpace space(
      tables::grid({20000}, [](const Options& o) { return std::exp(1e-3 * static_cast<double>(o[0] % 997)); }));
  EXPECT_NEAR(difficulty(space, Landscape(space), 1).neighbours, -1. / 19999, 1e-6);
}

TEST(Difficulty, OfAGrid) {
  const auto records = tables::grid({10, 10, 3}, [](const Options& o) {
    return std::exp2(static_cast<double>(o[0])) * std::exp(0.01 * static_cast<double>(o[1]));
  });
  const TableSpace space(records);
  const Difficulty found = difficulty(space, Landscape(space), 1);
  EXPECT_EQ(found.configurations, 300u);
  EXPECT_DOUBLE_EQ(found.within1, 3. / 300);
  EXPECT_DOUBLE_EQ(found.within5, 15. / 300);
  // log t = a i + b j. 9 of the 20 neighbours differ in i: 1 - 9/20 (1 + 1/9) of the variance of i is explained. The
  // same holds for j, whose variance is small.
  EXPECT_NEAR(found.neighbours, 0.5, 0.001);
  EXPECT_THAT(importance(*records),
              ElementsAre(DoubleNear(0.99979, 1e-4), DoubleNear(0.00021, 1e-4), DoubleNear(0, 1e-12)));
  EXPECT_THAT(level_order(*records, Order::importance, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(level_order(*records, Order::reversed, 0), ElementsAre(2, 1, 0));
  EXPECT_THAT(level_order(*records, Order::shuffled, 5), ::testing::UnorderedElementsAre(0, 1, 2));
}

/// Replays an exhaustive search, which asks for the leaves in their order.
Steps replay_all(const TableSpace& space, Replay how, std::uint64_t seed = 1) {
  how.seconds = 1e9;
  return replay(space, Landscape(space), *make_searcher("exhaustive", space, {}), how, seed);
}

// Four configurations of 4, 2, 5 and 1 µs. Each takes 1 s to build, and as many seconds to run as its time in µs.
std::shared_ptr<const Records> four() {
  return tables::grid({4}, [](const Options& o) {
    return std::vector<double>{4, 2, 5, 1}[static_cast<std::size_t>(o[0])];
  });
}

std::vector<float> ends(const Steps& run) {
  std::vector<float> out;
  for (const Step& step : run) out.push_back(step.seconds);
  return out;
}

TEST(Replay, OneAfterTheOther) {
  const TableSpace space(four());
  const Steps run = replay_all(space, {});
  EXPECT_THAT(ends(run), ElementsAre(5, 8, 14, 16));
  EXPECT_EQ(run[0].rank, 1);
  EXPECT_EQ(run[2].rank, 2);
  EXPECT_EQ(run[3].rank, 3);
  const auto searcher = make_searcher("exhaustive", space, {});
  EXPECT_EQ(replay(space, Landscape(space), *searcher, {.seconds = 8.5}, 1).size(), 3u);
  const auto again = make_searcher("exhaustive", space, {});
  EXPECT_EQ(replay(space, Landscape(space), *again, {.seconds = 1, .evaluations = 2}, 1).size(), 2u);
}

TEST(Replay, CompilersBesideTheDevice) {
  const TableSpace space(four());
  // With one compiler, builds end at 1 and 2 s. At most two are outstanding, so the next ones are asked for at 5 and 7
  // s, and end at 6 and 8 s. The runs last from 1 to 5, 5 to 7, 7 to 12 and 12 to 13 s.
  EXPECT_THAT(ends(replay_all(space, {.workers = 1})), ElementsAre(5, 7, 12, 13));
  EXPECT_THAT(ends(replay_all(space, {.workers = 4})), ElementsAre(5, 7, 12, 13));
}

TEST(Replay, NoiseIsDrawnFromTheLaunches) {
  RecordsBuilder builder("noise");
  builder.add_knob("a");
  for (int i = 0; i < 2; ++i) {
    const double launches[] = {10.0 + i, 10.0 + i, 16.0 + i};
    builder.add(std::vector<Value>{i}, {.outcome = {Status::ok, 12.0 + i, ""}, .run_seconds = 1}, launches);
  }
  const TableSpace space(std::make_shared<const Records>(builder.finish()));
  EXPECT_EQ(replay_all(space, {})[1].rank, 1);  // 12 is better than 13
  int believed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Steps run = replay_all(space, {.noisy = true}, seed);
    believed += run[1].rank == 0 ? 1 : 0;  // by three launches of each, the second seems better
    EXPECT_EQ(replay_all(space, {.noisy = true}, seed)[1].rank, run[1].rank);
  }
  // P(sum of the second < sum of the first) is 0.33196, by enumeration of 27 x 27 draws.
  EXPECT_NEAR(believed / 300.0, 0.33196, 0.09);
}

Contest contest(std::size_t threads) {
  Contest contest;
  contest.entrants = {{"random", "random", {}}, {"mcts", "mcts", {}}, {"exhaustive", "exhaustive", {}}};
  contest.repeats = 12;
  contest.seed = 5;
  contest.threads = threads;
  return contest;
}

std::shared_ptr<const Records> bowl() {
  return tables::grid({12, 12, 12}, [](const Options& o) {
    double sum = 10;
    for (const auto x : o) sum += static_cast<double>((x - 7) * (x - 7));
    return o[0] + o[1] > 20 ? -1.0 : sum;
  });
}

// Returns all figures that the number of threads could change: everything but the CPU time.
std::vector<double> figures(const SpaceResult& result) {
  std::vector<double> out = {result.start, result.budget, result.difficulty.neighbours};
  for (const Cell& cell : result.cells) {
    out.insert(out.end(), {cell.score, cell.short_score});
    for (const auto& part : {cell.replicates, cell.runs, cell.score_curve, cell.best_curve[0], cell.best_curve[2]})
      out.insert(out.end(), part.begin(), part.end());
    for (const auto& events : cell.first)
      for (const Event& event : events) out.insert(out.end(), {event.at, static_cast<double>(event.censored)});
  }
  return out;
}

TEST(Contest, IsTheSameWithAnyNumberOfThreads) {
  const TableSpace space(bowl());
  const SpaceResult one = compete(space, contest(1), {}, {}), two = compete(space, contest(2), {}, {});
  EXPECT_EQ(figures(one), figures(two));
  EXPECT_EQ(figures(one), figures(compete(space, contest(7), {}, {})));
  Contest fewer = contest(2);
  fewer.entrants.erase(fewer.entrants.begin());
  EXPECT_EQ(compete(space, fewer, {}, {}).cells[0].score, one.cells[1].score);
  Contest other = contest(2);
  other.seed = 6;
  EXPECT_NE(figures(compete(space, other, {}, {})), figures(one));
}

TEST(Contest, RandomIsNearZeroAndABetterStrategyAbove) {
  const TableSpace space(bowl());
  Contest many = contest(2);
  many.repeats = 60;
  const SpaceResult result = compete(space, many, {}, {});
  EXPECT_NEAR(result.cells[0].score, 0, 0.2);
  EXPECT_GT(result.cells[1].score, result.cells[0].score + 0.1);
  EXPECT_NEAR(mean(result.cells[0].replicates), result.cells[0].score, 0.05);
  const std::vector<Standing> rows = standings(many, std::vector{result});
  EXPECT_GT(rows[1].a12, 0.5);
  EXPECT_EQ(rows[1].p, 1);  // a single space says nothing about other spaces
  EXPECT_LE(rows[1].score_interval.low, rows[1].score);
  EXPECT_GE(rows[1].score_interval.high, rows[1].score);
}

// Regression test: the draws of repeats followed from the label, so that mcts and mcts:c=0.1 had different scores.
TEST(Contest, EqualRunsHaveEqualFigures) {
  const TableSpace space(bowl());
  Contest twice = contest(2);
  twice.entrants = {{"random", "random", {}}, {"again", "random", {}}};
  const SpaceResult result = compete(space, twice, {}, {});
  const Cell &one = result.cells[0], &other = result.cells[1];
  EXPECT_EQ(one.runs, other.runs);
  EXPECT_EQ(one.score, other.score);
  EXPECT_EQ(one.short_score, other.short_score);
  EXPECT_EQ(one.replicates, other.replicates);
  EXPECT_EQ(one.score_curve, other.score_curve);
}

// Runs last for both budgets, whichever is longer. The scores differ by the draws of their bags.
TEST(Contest, TheShortBudgetMayBeTheLongerOne) {
  const TableSpace space(bowl());
  Contest usual = contest(2), swapped = contest(2);
  usual.cutoff = swapped.short_cutoff = 0.95;
  usual.short_cutoff = swapped.cutoff = 0.3;
  const SpaceResult one = compete(space, usual, {}, {}), other = compete(space, swapped, {}, {});
  EXPECT_EQ(one.budget, other.short_budget);
  for (std::size_t i = 0; i < one.cells.size(); ++i) EXPECT_NEAR(one.cells[i].score, other.cells[i].short_score, 0.3);
}

TEST(Contest, RefusesWhatIsNoContest) {
  const TableSpace space(tables::grid({3}, [](const Options&) { return 1.0; }));
  EXPECT_THAT([&] { compete(space, contest(1), {}, {}); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("at once")));
  Contest unknown = contest(2);
  unknown.entrants[1].name = "nobody";
  EXPECT_THAT([&] { compete(TableSpace(bowl()), unknown, {}, {}); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("nobody")));
}

struct Known {
  const char* name;
  std::int64_t evaluations, short_evaluations;
  // Budget and start in seconds, values in µs; `random` is random search at the budget, `random_third` at a third of
  // it.
  double budget, start, optimum, random, random_third;
};
constexpr Known known[] = {
    {"convolution_milo/A100", 1050, 113, 2525.94203035114, 4.8113181530498, 553.600007668138, 624.544009566307,
     706.623990088701},
    {"convolution_milo/MI250X", 51, 13, 83.3241690171417, 3.26761447126046, 658.796245232224, 1737.42128908634,
     4339.43042159081},
    {"dedispersion_milo/A4000", 265, 18, 1666.81007737876, 12.5796986971982, 147697.782516479, 148667.799949646,
     149393.336296082},
    {"rtx_convolution/RTX_3060_laptop", 116, 19, 172.666215412035, 2.9770037140006, 1806.2432050705, 1998.29760789871,
     2273.57752323151},
    {"rtx_gemm/RTX_3060_laptop", 833, 47, 1920.15928810426, 4.61022638200302, 22619.691, 24414.679, 25910.416}};

TEST(SharedSpaces, BudgetsAndRandomSearch) {
  const auto folder = std::filesystem::path(DEPLO_SOURCE_DIR) / "../shared/spaces";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared spaces";
  for (const Known& each : known) {
    const auto records = read_records(folder / (std::string(each.name) + ".json.gz"));
    const TableSpace space(std::make_shared<const Records>(records));
    const Landscape landscape(space);
    EXPECT_EQ(landscape.evaluations(0.95), each.evaluations) << each.name;
    EXPECT_EQ(landscape.evaluations(0.8), each.short_evaluations) << each.name;
    EXPECT_NEAR(landscape.seconds(0.95), each.budget, 1e-9 * each.budget) << each.name;
    EXPECT_NEAR(landscape.seconds(0.01), each.start, 1e-9) << each.name;
    EXPECT_NEAR(landscape.optimum(), each.optimum, 1e-9 * each.optimum) << each.name;
    EXPECT_NEAR(landscape.random_at(each.budget), each.random, 1e-9 * each.random) << each.name;
    EXPECT_NEAR(landscape.random_at(each.budget / 3), each.random_third, 1e-9 * each.random_third) << each.name;
  }
}

}  // namespace
}  // namespace deplo::search::compare
