// Rank quality, computed by hand; models on data whose law is known.
#include "search/compare/held_out.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "search/compare/rank_quality.h"
#include "search/model/boosted_trees.h"

namespace deplo::search::compare {
namespace {

TEST(RankQuality, SpearmanIsThatOfTextbooks) {
  // Ranks 1 2 3 4 5 against 2 1 4 3 5: 1 - 6 * 4 / (5 * 24).
  EXPECT_NEAR(spearman(std::vector<double>{1, 2, 3, 4, 50}, std::vector<double>{20, 10, 40, 30, 50}), 0.8, 1e-12);
  EXPECT_NEAR(spearman(std::vector<double>{1, 2, 3}, std::vector<double>{9, 5, 1}), -1, 1e-12);
  // Ranks 1.5 1.5 3 against 1 2 3: Pearson's 1.5 / √(1.5 * 2).
  EXPECT_NEAR(spearman(std::vector<double>{1, 1, 3}, std::vector<double>{1, 2, 3}), 1.5 / std::sqrt(3), 1e-12);
  EXPECT_EQ(spearman(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3}), 0);
}

TEST(RankQuality, RecallAndRegretOfTheTwoFastest) {
  const std::vector<double> logs = {std::log(10), std::log(11), std::log(20), std::log(40)};
  const std::vector<double> good = {2, 1, 3, 4}, half = {3, 1, 2, 4}, bad = {4, 3, 2, 1};
  EXPECT_EQ(top_recall(logs, good, 2), 1);
  EXPECT_EQ(top_recall(logs, half, 2), 0.5);
  EXPECT_EQ(top_recall(logs, bad, 2), 0);
  EXPECT_NEAR(top_regret(logs, good, 2), 0, 1e-12);
  EXPECT_NEAR(top_regret(logs, half, 2), 0.1, 1e-12);
  EXPECT_NEAR(top_regret(logs, bad, 2), 1, 1e-12);
  EXPECT_EQ(top_recall(logs, bad, 9), 1);
}

model::Points random_points(std::size_t count, Rng& rng) {
  model::Points points{3, {}};
  for (std::size_t i = 0; i < count; ++i) {
    float* const point = points.add();
    for (int k = 0; k < 3; ++k) point[k] = static_cast<float>(rng.uniform(0, 4));
  }
  return points;
}

TEST(BoostedTrees, LearnAStepAndAnInteractionAndAreTheSameEveryTime) {
  Rng rng(1);
  const model::Points points = random_points(600, rng), others = random_points(200, rng);
  const auto law = [](const float* x) { return (x[0] > 2 ? 3.0 : 0.0) + (x[1] > 1 && x[2] > 1 ? 2.0 : 0.0); };
  std::vector<double> values;
  for (std::size_t i = 0; i < points.size(); ++i) values.push_back(law(&points.values[i * 3]));
  model::BoostedTrees trees, again;
  const std::vector<double> weights(points.size(), 1);
  model::TreeOptions options;
  options.columns = 1;  // half of the three columns would be one column, which shows no interaction
  trees.fit(points, values, weights, options);
  again.fit(points, values, weights, options);
  const std::vector<float> found = trees.predict(others);
  EXPECT_EQ(found, again.predict(others));
  double error = 0;
  for (std::size_t i = 0; i < others.size(); ++i) error += std::abs(found[i] - law(&others.values[i * 3]));
  EXPECT_LT(error / 200, 0.25);
  EXPECT_TRUE(trees.predict({3, {}}).empty());
}

constexpr std::size_t records = 60;

/// log time = offset of the kernel + x0 + 0.5 x1², with noise. The analytic model knows only x0.
model::Labelled make(const std::string& kernel, const std::string& device, std::uint64_t seed) {
  Rng rng(seed);
  model::Labelled set{kernel, device, kernel, random_points(records, rng), {}, {}};
  const double offset = rng.uniform(-5, 5);
  for (std::size_t i = 0; i < records; ++i) {
    const float* const x = &set.points.values[i * 3];
    set.logs.push_back(offset + x[0] + 0.5 * x[1] * x[1] + rng.uniform(-0.2, 0.2));
    set.analytic.push_back(7 + x[0]);
  }
  return set;
}

TEST(HeldOut, ModelsLearnWhatTheAnalyticOneLeaves) {
  const std::vector<model::Labelled> sets = {make("a", "x", 1), make("b", "x", 2), make("c", "x", 3),
                                             make("d", "x", 4)};
  const std::vector<HeldOutScore> scores = evaluate_held_out(sets, {});
  ASSERT_EQ(scores.size(), 12U);
  double covered = 0;
  for (const HeldOutScore& score : scores) {
    EXPECT_EQ(score.sets, 3U);
    if (score.model == "analytic") {
      EXPECT_LT(score.spearman, 0.8);
      continue;
    }
    EXPECT_GT(score.spearman, 0.9) << score.model;
    EXPECT_LT(score.regret, 1) << score.model;
    EXPECT_GT(score.recall, 0.3) << score.model;
    EXPECT_GT(score.width, 1) << score.model;
    covered += score.coverage / 8;
  }
  EXPECT_NEAR(covered, interval_level, 0.12);  // mean over four sets of one law and two models
}

TEST(HeldOut, ASeedGivesTheSameFigures) {
  const std::vector<model::Labelled> sets = {make("a", "x", 1), make("b", "x", 2), make("c", "x", 3)};
  const auto one = evaluate_held_out(sets, {}), two = evaluate_held_out(sets, {});
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].spearman, two[i].spearman);
    EXPECT_EQ(one[i].coverage, two[i].coverage);
    EXPECT_EQ(one[i].width, two[i].width);
  }
}

TEST(HeldOut, ADeviceIsLearnedFromTheSameKernelOnOthers) {
  std::vector<model::Labelled> sets = {make("a", "x", 1), make("a", "y", 2), make("b", "x", 3)};
  for (model::Labelled& set : sets) set.analytic.clear();
  HeldOutOptions options;
  options.leave_out = LeaveOut::device;
  const std::vector<HeldOutScore> scores = evaluate_held_out(sets, options);
  ASSERT_EQ(scores.size(), 4U);  // kernel b has no other device; two models, because there is no analytic one
  for (const HeldOutScore& score : scores) {
    EXPECT_EQ(score.sets, 1U);
    EXPECT_LT(score.set, 2U);
    EXPECT_GT(score.spearman, 0.9);
  }
  options.leave_out = LeaveOut::kernel;
  // A single kernel leaves nothing to learn from.
  EXPECT_EQ(evaluate_held_out(std::span(sets).first(2), options).size(), 0U);
}

TEST(HeldOut, WhatIsLeftOutHasTwoNames) {
  EXPECT_EQ(parse_leave_out("kernel"), LeaveOut::kernel);
  EXPECT_EQ(parse_leave_out("device"), LeaveOut::device);
  EXPECT_THROW(parse_leave_out("kernels"), Error);
}

}  // namespace
}  // namespace deplo::search::compare
