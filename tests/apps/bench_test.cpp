// `deplo run --bench`, as a user runs it. No time is asserted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/bench.h"
#include "apps/run_program.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Json bench(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"deplo", "run", "--bench", "--json", "--time", "0.2"});
  const Ran ran = run_program(flags);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return Json::parse(ran.out);
}

TEST(Bench, AMatmulBesideOnednnAndARowOfItsOwnForTheRest) {
  const Json report = bench({"-c", "F.softmax(torch.randn(9, 33) @ torch.randn(33, 65), dim=-1) @ torch.randn(65, 7)"});
  std::size_t compared = 0;
  for (const Json& kernel : report["kernels"]) {
    EXPECT_GT(kernel["microseconds"], 0);
    EXPECT_EQ(kernel["baselines"].empty(), kernel.contains("no_baseline"));
    for (const Json& baseline : kernel["baselines"]) {
      EXPECT_EQ(baseline["library"], "oneDNN");
      EXPECT_EQ(baseline["samples_us"].size(), kernel["samples_us"].size());
      EXPECT_GT(baseline["ratio"], 0);
      ++compared;
    }
  }
  EXPECT_EQ(report["with_baseline"]["kernels"], compared);
}

TEST(Bench, KernelsByNameAndGraphsWithEqualKernels) {
  const Json one = bench({"-k", "softmax", "-s", "M=5", "-s", "N=33"});
  ASSERT_EQ(one["kernels"].size(), 1U);
  EXPECT_THAT(std::string(one["kernels"][0]["no_baseline"]), HasSubstr("no library"));
  const Json two = bench({"-c", "x = torch.randn(4, 8); (x @ torch.randn(8, 6), x @ torch.randn(8, 6))"});
  ASSERT_EQ(two["kernels"].size(), 2U);
  EXPECT_EQ(two["kernels"][1]["first"], 0);
  EXPECT_EQ(two["kernels"][1]["samples_us"], two["kernels"][0]["samples_us"]);
}

TEST(Bench, FlagsOfKernelsNeedIt) {
  const Ran ran = run_program({"deplo", "run", "-k", "softmax"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("--bench"));
}

// The table on a report made by hand.
TEST(Bench, TheTable) {
  apps::BenchReport report{"a device", "opencl-cpu", "", "v2", {}};
  apps::BenchKernel kernel;
  kernel.name = "matmul";
  kernel.ours.median_us = 200;
  kernel.baselines.push_back({"oneDNN", "2.6.0", "fp32", 2, {}, 0.75, {0.74, 0.76}});
  kernel.baselines.back().time.median_us = 150;
  report.kernels.push_back(kernel);
  apps::BenchKernel rest;
  rest.name = "softmax";
  rest.first = 1;
  rest.ours.median_us = 50;
  rest.no_baseline = "no library has this kernel";
  report.kernels.push_back(rest);
  const std::string table = print_table(report, 0);
  EXPECT_THAT(table, HasSubstr("[0.740, 0.760]  oneDNN 2.6.0"));
  EXPECT_THAT(table, HasSubstr("none: no library has this kernel"));
  EXPECT_THAT(table, HasSubstr("2 launches: ours 250 µs; the 1 with a baseline: ours 200 µs, baseline 150 µs"));
  report.kernels[0].ours.failure = "wrong_result: c[0]";
  EXPECT_FALSE(report.right());
  EXPECT_THAT(print_table(report, 0), HasSubstr("wrong_result: c[0]"));
}

}  // namespace
}  // namespace deplo::testing
