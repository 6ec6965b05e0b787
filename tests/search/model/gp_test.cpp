// The Gaussian process, compared with values that its formulas give by hand, and what a regression must do.
#include <gtest/gtest.h>

#include <cmath>

#include "search/model/gp.h"

namespace deplo::search::model {
namespace {

Points line(const std::vector<float>& xs) { return {1, xs}; }
const std::vector<std::size_t> one_group{0};

double matern(double r) { return (1 + std::sqrt(5) * r + 5.0 / 3 * r * r) * std::exp(-std::sqrt(5) * r); }

// Returns the kernel of two points. `r` has the distance in each group, divided by the group's length. w = 0.8, c = 2.
double kernel(const std::vector<double>& r) {
  double squares = 0, sum = 0;
  for (const double each : r) {
    squares += each * each;
    sum += matern(each);
  }
  return 0.2 * matern(std::sqrt(squares) / 2) + 0.8 * sum / static_cast<double>(r.size());
}

// Without a fit, the hyperparameters are the modes of their priors: l = 0.8, s² = 1, noise = 0.02.
TEST(GaussianProcess, OnePointByHand) {
  GaussianProcess process;
  process.fit(line({0}), std::vector<double>{1}, one_group, 1, 0);
  process.condition(line({0}), one_group, std::vector<double>{2});
  process.predict(line({0, 0.4F, 40}));
  const double k = kernel({0.4 / 0.8}), total = 1 + 0.02;
  EXPECT_NEAR(process.means()[0], 2 / total, 1e-4);
  EXPECT_NEAR(process.means()[1], 2 * k / total, 1e-4);
  EXPECT_NEAR(process.means()[2], 0, 1e-6);
  EXPECT_NEAR(process.deviations()[0], std::sqrt(1 - 1 / total), 1e-3);
  EXPECT_NEAR(process.deviations()[1], std::sqrt(1 - k * k / total), 1e-4);
  EXPECT_NEAR(process.deviations()[2], 1, 1e-6);
}

// The second group has two dimensions. The third group has none, like a knob with one value.
TEST(GaussianProcess, GroupsByHand) {
  GaussianProcess process;
  const std::vector<std::size_t> groups{0, 1, 1};
  const Points known{3, {0, 0, 0}}, points{3, {0.4F, 0, 0, 0.4F, 0.3F, 0.4F, 9, 0, 0, 9, 9, 9}};
  process.fit(known, std::vector<double>{1}, groups, 3, 0);
  process.condition(known, groups, std::vector<double>{1});
  process.predict(points);
  const std::vector<std::vector<double>> distances{{0.5, 0}, {0.5, 0.5 / 0.8}, {9 / 0.8, 0}, {9, 99}};
  for (std::size_t i = 0; i < distances.size(); ++i)
    EXPECT_NEAR(process.means()[i], kernel(distances[i]) / 1.02, 1e-4) << i;
  EXPECT_NEAR(process.means()[2], 0.4 / 1.02, 1e-2);  // the effect of the second group is known there
}

// If values are sums with a term for each group, the process predicts them even where no point is near, once each group
// was seen on its own.
TEST(GaussianProcess, SumsAreLearnedOneGroupAtATime) {
  Points points{4, {}};
  std::vector<double> values;
  const auto value = [](const float* p) { return p[0] - 2 * p[1] * p[1] + std::sin(3 * p[2]) - 0.5 * p[3]; };
  for (int i = 0; i < 4; ++i)
    for (const float x : {0.25F, 0.5F, 0.75F, 1.0F}) {
      float* const p = points.add();
      p[i] = x;
      values.push_back(value(p));
    }
  GaussianProcess process;
  const std::vector<std::size_t> groups{0, 1, 2, 3};
  process.fit(points, values, groups, 4, 30);
  process.condition(points, groups, values);
  const Points corner{4, {1, 1, 1, 1}};
  process.predict(corner);
  EXPECT_NEAR(process.means()[0], value(corner.values.data()), 0.3);
}

// Expecting a value at a point leaves the deviations that knowing the value would leave.
TEST(GaussianProcess, ExpectedIsAsKnown) {
  const auto deviations = [](const std::vector<float>& known, const std::vector<std::size_t>& expected) {
    GaussianProcess process;
    process.fit(line(known), std::vector<double>(known.size()), one_group, 1, 0);
    process.condition(line(known), one_group, std::vector<double>(known.size()));
    process.predict(line({0.1F, 0.3F, 0.6F, 0.9F}));
    for (const std::size_t point : expected) process.expect(point);
    return std::vector<float>(process.deviations().begin(), process.deviations().end());
  };
  const auto known = deviations({0, 0.3F, 0.9F}, {}), expected = deviations({0}, {1, 3});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(known[i], expected[i], 1e-3) << i;
}

TEST(GaussianProcess, ColumnsAreIndependent) {
  GaussianProcess process;
  const Points points = line({0, 0.5F, 1});
  process.fit(points, std::vector<double>{1, 0, -1}, one_group, 1, 5);
  process.condition(points, one_group, std::vector<double>{1, 0, -1, 5, 5, 5}, 2);
  process.predict(line({0.25F, 0.75F}));
  ASSERT_EQ(process.means().size(), 4U);
  EXPECT_NEAR(process.means()[0], -process.means()[1], 1e-3);
  EXPECT_GT(process.means()[2], 3);
  EXPECT_NEAR(process.means()[2], process.means()[3], 1e-3);
}

// y depends only on the first of two groups. The fit finds that its length is the shorter one, and predicts smooth
// values.
TEST(GaussianProcess, FitFindsWhatMatters) {
  Points points{2, {}};
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) {
    float* const p = points.add();
    p[0] = static_cast<float>(i % 10) / 9;
    p[1] = static_cast<float>(i * 7 % 11) / 10;
    values.push_back(std::sin(6 * p[0]));
  }
  GaussianProcess process;
  const std::vector<std::size_t> groups{0, 1};
  process.fit(points, values, groups, 2, 30);
  process.condition(points, groups, values);
  process.predict({2, {0.5F, 0.05F, 0.5F, 0.95F, 0.17F, 0.5F}});
  EXPECT_NEAR(process.means()[0], std::sin(3.0), 0.05);
  EXPECT_NEAR(process.means()[1], std::sin(3.0), 0.05);
  EXPECT_NEAR(process.means()[2], std::sin(6 * 0.17), 0.05);
}

TEST(GaussianProcess, EqualPointsAndConstantValuesAreNoTrouble) {
  GaussianProcess process;
  const Points points = line({0.5F, 0.5F, 0.5F, 0.5F, 1});
  for (const std::vector<double>& values : {std::vector<double>{0, 0, 0, 0, 0}, {1, -1, 1, -1, 0}}) {
    process.fit(points, values, one_group, 1, 40);
    process.condition(points, one_group, values);
    process.predict(line({0, 0.5F, 1}));
    for (const float mean : process.means()) EXPECT_NEAR(mean, 0, 0.5);
    for (const float deviation : process.deviations()) EXPECT_TRUE(std::isfinite(deviation));
  }
}

}  // namespace
}  // namespace deplo::search::model
