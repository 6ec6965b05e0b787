// Tests that sorted runs and their merges give the result of a stable sort.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/rng.h"
#include "drawn_seeds.h"
#include "ir/torch/expression/expression.h"
#include "rules/fusion/run_module.h"

namespace deplo::rules::sort_test {
namespace {

std::string difference(const std::string& code, std::uint64_t seed = 1) {
  return fused_difference(ir::torch::parse_expression(code), seed, {.target = load_target("opencl-cpu")});
}

TEST(Sort, LinesOfAnyLength) {
  for (const int count : {1, 2, 3, 17, 255, 256, 257, 300, 512, 513, 1021, 2048})
    EXPECT_EQ(difference(fmt::format("torch.sort(torch.randn(2, {}))", count)), "") << count;
}

TEST(Sort, EqualElementsKeepTheirOrder) {
  for (const char* code :
       {"torch.sort(torch.randint(0, 5, (2, 700)), stable=True)",
        "torch.sort(torch.randint(0, 3, (600, 2)), 0, descending=True)",
        "torch.argsort(torch.ones(2, 400) * torch.randn(2, 1), 1)", "torch.topk(torch.randint(0, 50, (3, 900)), 40)",
        "torch.topk(torch.randint(0, 50, (3, 900)), 40, largest=False)"})
    EXPECT_EQ(difference(code), "") << code;
}

TEST(Sort, FewOfMany) {
  for (const int k : {0, 1, 5, 63, 64, 65, 300, 999, 1000})
    EXPECT_EQ(difference(fmt::format("torch.topk(torch.randn(2, 1000), {})", k)), "") << k;
}

// Elements of long lines are found in groups; the last one may be behind all groups.
TEST(Sort, FewOfLongLines) {
  for (const int count : {4096, 5000, 4097})
    for (const int k : {1, 7, 30})
      for (const char* largest : {"True", "False"})
        EXPECT_EQ(difference(fmt::format("torch.topk(torch.randn(2, {}), {}, largest={})", count, k, largest)), "")
            << count << " " << k << largest;
  EXPECT_EQ(difference("torch.topk(torch.randn(20000, 2), 3, dim=0)"), "");
  EXPECT_EQ(difference("torch.topk(torch.arange(3000) % 7, 9)"), "");
  EXPECT_EQ(difference("torch.topk(-(torch.arange(3001) % 7), 9, largest=False)"), "");
}

TEST(Sort, FewOfLongLinesOfWhatIsNoNumber) {
  for (const char* numbers : {"x > 2", "x > -2", "x > -9"})  // few elements, most, and all
    for (const char* largest : {"True", "False"})
      EXPECT_EQ(difference(fmt::format("x = torch.randn(2, 2051); torch.topk(torch.where({}, x * torch.inf - "
                                       "x * torch.inf, torch.where(x < -1, torch.inf, x)), 9, largest={})",
                                       numbers, largest)),
                "")
          << numbers << largest;
}

TEST(Sort, WhatIsNoNumberIsTheGreatest) {
  for (const char* order : {"", ", descending=True"})
    EXPECT_EQ(difference(fmt::format("x = torch.randn(2, 600); torch.sort(torch.where(x > 1, x * torch.inf - "
                                     "x * torch.inf, torch.where(x < -1, x * torch.inf, x)), 1{})",
                                     order)),
              "")
        << order;
}

TEST(Sort, DrawnLines) {
  for (const std::uint64_t seed : drawn_seeds(12)) {
    Rng rng(seed);
    const std::uint64_t count = 1 + rng.below(900);
    const bool along_first = rng.below(2) == 0, few = rng.below(3) == 0;
    const std::string shape = along_first ? fmt::format("{}, 3", count) : fmt::format("3, {}", count);
    const std::string x = rng.below(2) == 0 ? fmt::format("torch.randn({})", shape)
                                            : fmt::format("torch.randint(0, {}, ({}))", 1 + rng.below(100), shape);
    const int dim = along_first ? 0 : 1;
    const char* const order = rng.below(2) == 0 ? "True" : "False";
    const std::string code =
        few ? fmt::format("torch.topk({}, {}, {}, largest={})", x,
                          rng.below(rng.below(2) == 0 ? count + 1 : std::min<std::uint64_t>(count + 1, 8)), dim, order)
            : fmt::format("torch.sort({}, {}, descending={})", x, dim, order);
    ASSERT_EQ(difference(code, seed), "") << "seed " << seed << "\n" << code;
  }
}

TEST(Sort, PlacesInLongSequences) {
  for (const char* right : {"True", "False"})
    for (const int count : {1, 2, 255, 256, 257, 1000})
      EXPECT_EQ(difference(fmt::format("s = torch.sort(torch.randint(0, 300, ({},)).float())[0]; torch.searchsorted(s, "
                                       "torch.randint(-2, 303, (5, 7)).float(), right={})",
                                       count, right)),
                "")
          << count << right;
}

}  // namespace
}  // namespace deplo::rules::sort_test
