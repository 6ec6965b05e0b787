#include "apps/tune/tuning_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/inspect/diff.h"
#include "core/text/text.h"

namespace deplo::apps {
namespace {

using ::testing::HasSubstr;

engine::Summary example() {
  const engine::Row fast{.name = "matmul.qwen.q_proj.s512",
                         .same = {},
                         .heuristic_us = 2521,
                         .best_us = 812.4,
                         .flops = 13.15e9,
                         .bytes = 58.7e6,
                         .trials = 45,
                         .known = 3,
                         .failures = {{"build_error", 2}},
                         .fault = "bad",
                         .trail = "a.b=1 c.d=2",
                         .confirmed = true,
                         .stop = "patience"};
  const engine::Row failed{.name = "gelu",
                           .same = {},
                           .heuristic_us = 0,
                           .best_us = 0,
                           .flops = 1e6,
                           .bytes = 1e6,
                           .trials = 4,
                           .known = 0,
                           .failures = {{"wrong_result", 4}},
                           .fault = "worse",
                           .trail = "",
                           .confirmed = false,
                           .stop = "exhausted"};
  return {"x.yaml", "", "cpu", "opencl-cpu", "mcts", "deplo.db", 7, 61, false, {fast, failed}};
}

TEST(Table, OneLinePerKernelWhereThereIsRoom) {
  const std::string text = print_table(example(), 0);
  EXPECT_THAT(
      text,
      HasSubstr(
          "matmul.qwen.q_proj.s512         2521         812     3.10x  16187 GFLOP/s     45        2  a.b=1 c.d=2\n"));
  EXPECT_THAT(text,
              HasSubstr("gelu                               -           -         -              -      4        4"));
  EXPECT_THAT(text, HasSubstr("not confirmed by a full, checked run: gelu\n"));
  EXPECT_THAT(text, HasSubstr("3 trials known from deplo.db"));
}

TEST(Table, ANameStaysOnItsLine) {
  engine::Summary summary = example();
  summary.rows[1].name = "a\tb\nc";
  for (const std::size_t width : {0U, 40U}) {
    const std::string text = print_table(summary, width);
    EXPECT_EQ(text.find('\t'), std::string::npos) << text;
    EXPECT_EQ(text.find("\nc "), std::string::npos) << text;
  }
}

TEST(Table, EqualKernelsCount) {
  engine::Summary summary = example();
  summary.rows[1] = summary.rows[0];
  summary.rows[1].name = "gelu";
  summary.rows[1].same = {"gelu.1", "gelu.2"};
  const std::string text = print_table(summary, 0);
  EXPECT_THAT(text, HasSubstr("\ngelu x3 "));
  EXPECT_THAT(text, HasSubstr("\ntotal                          10084        3250     3.10x"));
  EXPECT_THAT(text, HasSubstr("\ngelu is also gelu.1, gelu.2\n"));
  EXPECT_THAT(print_table(summary, 40), HasSubstr("gelu x3\n"));
  EXPECT_THAT(print_table(summary, 40), HasSubstr("total 3250 µs, was 10084 (3.10x)\n"));
  const auto json = nlohmann::json::parse(print_json(summary));
  EXPECT_EQ(json["kernels"][1]["count"], 3);
  EXPECT_EQ(json["kernels"][1]["same"].size(), 2u);
  EXPECT_DOUBLE_EQ(json["total_best_us"].get<double>(), 4 * 812.4);
  EXPECT_TRUE(nlohmann::json::parse(print_json(example()))["total_best_us"].is_null()) << "one has no valid time";
}

TEST(Table, FitsNarrowWindows) {
  for (const std::size_t width : {20u, 40u, 70u, 88u, 100u, 120u}) {
    std::istringstream lines(print_table(example(), width));
    std::string line;
    for (int i = 0; i < 3 && std::getline(lines, line); ++i) EXPECT_LE(columns(line), width) << line;
  }
}

TEST(Table, JsonIsOneDocumentWithNullForWhatIsNotThere) {
  engine::Summary summary = example();
  summary.rows[1].name = "bad \xff byte";
  const auto json = nlohmann::json::parse(print_json(summary));
  EXPECT_EQ(json["kernels"][0]["best_us"], 812.4);
  EXPECT_EQ(json["kernels"][0]["failures"]["build_error"], 2);
  EXPECT_TRUE(json["kernels"][1]["best_us"].is_null());
  EXPECT_TRUE(json["kernels"][1]["speed_up"].is_null());
  EXPECT_EQ(json["seed"], 7);
}

TEST(Diff, ShowsHunksWithContext) {
  EXPECT_EQ(unified_diff("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
  EXPECT_EQ(unified_diff("", "a\n"), "@@ -1,0 +1,1 @@\n+a\n");
}

}  // namespace
}  // namespace deplo::apps
