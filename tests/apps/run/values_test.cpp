#include "engine/source/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "apps/run/run.h"
#include "core/error.h"

namespace deplo::apps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Draw = ir::Fill::Draw;

ir::Numbers draw(Draw how, double a, double b, std::string_view name = "x", std::uint64_t seed = 0,
                 ir::DType dtype = ir::DType::f32) {
  return engine::source_values({{how, a, b}, nullptr}, name, {dtype, {100, 200}}, seed);
}

double mean(const ir::Numbers& v) { return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()); }

double deviation(const ir::Numbers& v) {
  double sum = 0;
  const double middle = mean(v);
  for (const double x : v) sum += std::pow(x - middle, 2);
  return std::sqrt(sum / static_cast<double>(v.size()));
}

// The mean of 20,000 numbers has a standard error of 0.7 % of the deviation. Ten times that is allowed.
TEST(SourceValues, Distributions) {
  const auto normal = draw(Draw::normal, 3, 2);
  EXPECT_NEAR(mean(normal), 3, 0.14);
  EXPECT_NEAR(deviation(normal), 2, 0.1);
  const std::vector<float> uniform = draw(Draw::uniform, -1, 3);
  EXPECT_NEAR(mean(uniform), 1, 0.1);
  EXPECT_NEAR(deviation(uniform), 4 / std::sqrt(12.0), 0.1);
  EXPECT_GE(*std::ranges::min_element(uniform), -1);
  EXPECT_LE(*std::ranges::max_element(uniform), 3);
  const std::vector<float> integers = draw(Draw::integers, 2, 7);
  for (float v = 2; v < 7; ++v) EXPECT_NEAR(static_cast<double>(std::ranges::count(integers, v)), 4000, 600) << v;
  EXPECT_EQ(*std::ranges::max_element(integers), 6);
  EXPECT_EQ(draw(Draw::constant, 1.5, 9), std::vector<float>(20000, 1.5F));
}

TEST(SourceValues, DependOnSeedAndNameOnly) {
  EXPECT_EQ(draw(Draw::normal, 0, 1), draw(Draw::normal, 0, 1));
  EXPECT_NE(draw(Draw::normal, 0, 1, "x"), draw(Draw::normal, 0, 1, "y"));
  EXPECT_NE(draw(Draw::normal, 0, 1, "x", 0), draw(Draw::normal, 0, 1, "x", 1));
}

TEST(SourceValues, Types) {
  for (const float v : draw(Draw::normal, 0, 10, "x", 0, ir::DType::i32)) ASSERT_EQ(v, std::trunc(v));
  for (const float v : draw(Draw::integers, 0, 3, "x", 0, ir::DType::boolean)) ASSERT_TRUE(v == 0 || v == 1);
}

TEST(SourceValues, OfAFile) {
  const auto values = std::make_shared<const ir::Numbers>(std::vector<float>{1, 2, 3});
  EXPECT_THAT(engine::source_values({{}, values}, "w", {ir::DType::f32, {3}}, 0), ElementsAre(1, 2, 3));
  EXPECT_THROW(engine::source_values({{}, values}, "w", {ir::DType::f32, {4}}, 0), Error);
}

TEST(Permute, MovesDimensions) {
  EXPECT_THAT(engine::permute(std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3}, {1, 0}), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(engine::permute(std::vector<float>{7}, {}, {}), ElementsAre(7));
  // out[k, i, j] = in[i, j, k]
  std::vector<float> in(24);
  std::iota(in.begin(), in.end(), 0.0F);
  const std::vector<float> out = engine::permute(in, {2, 3, 4}, {2, 0, 1});
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(out[(k * 2 + i) * 3 + j], in[(i * 3 + j) * 4 + k]);
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

OutputCheck compare(const std::vector<float>& found, const std::vector<double>& expected, double tolerance = 1e-4) {
  return compare_output(found, expected, {ir::DType::f32, {static_cast<std::int64_t>(found.size())}}, tolerance);
}

TEST(CompareOutput, ErrorIsRelativeToTheRootMeanSquare) {
  const OutputCheck check = compare({3, 4.5F}, {3, 4}, 0.1);  // root mean square: sqrt((9 + 16) / 2)
  EXPECT_NEAR(check.error, 0.5 / std::sqrt(12.5), 1e-12);
  EXPECT_FALSE(check.right);
  EXPECT_EQ(check.worst, "[1]: expected 4, found 4.5");
  EXPECT_TRUE(compare({3, 4.5F}, {3, 4}, 0.2).right);
  EXPECT_EQ(compare({1e-3F, 0}, {0, 0}).error, static_cast<double>(1e-3F)) << "all 0: absolute";
}

TEST(CompareOutput, NotANumberAndInfinity) {
  EXPECT_TRUE(compare({infinity, 1, -infinity}, {INFINITY, 1, -INFINITY}).right);
  EXPECT_TRUE(compare({infinity, 1}, {1e39, 1}).right) << "beyond f32";
  EXPECT_TRUE(compare({nan, 1}, {NAN, 1}).right);
  for (const float found : {nan, infinity}) EXPECT_FALSE(compare({found, 1}, {2, 1}, 1e30).right);
  EXPECT_FALSE(compare({-infinity, 1}, {INFINITY, 1}, 1e30).right);
  EXPECT_FALSE(compare({1, 1}, {NAN, 1}, 1e30).right);
}

RunReport report() {
  RunReport r;
  r.device = "cpu";
  r.target = "opencl-cpu";
  r.tolerance = 1e-4;
  r.kernels = {{{engine::Origin::tuned, 11.5, "", ""}, "a", 0, "t=1", 12.5, 1e6, 1e5},
               {{engine::Origin::tuned, 11.5, "", ""}, "b", 0, "t=1", 13.5, 1e6, 1e5}};
  r.outputs = {{"y", {2, 3}, 0.5, "[1, 2]: expected 1, found 2", false}};
  r.store = "deplo.db";
  return r;
}

TEST(RunTable, SaysWhatIsWrong) {
  const std::string text = print_table(report(), 0);
  EXPECT_THAT(text, HasSubstr("\n0  a       tuned "));
  EXPECT_THAT(text, HasSubstr("\n1  b       as 0 "));
  EXPECT_THAT(text, HasSubstr("WRONG at [1, 2]: expected 1, found 2"));
  EXPECT_THAT(text, HasSubstr("schedules of 1 kernel from deplo.db: 1 tuned"));
  EXPECT_THAT(print_json(report()), HasSubstr("\"right\": false"));
}

TEST(RunTable, HasEachKernelOfManyLaunchesOnce) {
  RunReport r = report();
  r.kernels[1].first = 1;
  for (std::size_t i = 2; i < 200; ++i) r.kernels.push_back(r.kernels[1]);
  for (int i = 0; i < 100; ++i) r.graph_trail += (i == 0 ? "" : " ") + std::string("fusion.merge_x=0");
  const std::string text = print_table(r, 0);
  // titles, two kernels, the total, an empty line
  EXPECT_EQ(std::ranges::count(text.substr(0, text.find("output")), '\n'), 5) << text;
  EXPECT_THAT(text, HasSubstr("199  2686"));  // 199 launches of b, and their total time
  EXPECT_THAT(text, HasSubstr("200  2699"));
  EXPECT_THAT(text, HasSubstr("100 decisions (--json has them)"));
  EXPECT_THAT(print_json(r), HasSubstr("fusion.merge_x=0 fusion.merge_x=0"));
}

}  // namespace
}  // namespace deplo::apps
