// Tests the decisions for tile programs that run block by block. They form a tree in which the first option of each
// fork is the heuristic's choice.
#include "rules/blocks/decisions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/file.h"
#include "ir/tile_program/launches.h"
#include "rules/blocks/drawn_trail.h"

namespace deplo::rules {
namespace {

namespace tp = ir::tile_program;
using ::testing::HasSubstr;

tp::Program program(const std::string& name) {
  return tp::read_file_program(std::filesystem::path(DEPLO_SOURCE_DIR) / "experiments/tile/exported" /
                               (name + ".tileirbc"));
}

class Decisions : public ::testing::TestWithParam<const char*> {
 protected:
  const tp::Program program_ = program(GetParam());
  const tp::Entry& entry_ = tp::find_entry(program_, "");
};

TEST_P(Decisions, AreManyOnEveryTarget) {
  for (const char* name : {"opencl-cpu", "opencl-gpu", "sm_80", "sm_90"}) {
    const Target target = load_target(name);
    const BlockDecisions decisions(entry_, target, block_threads(entry_, target));
    Rng rng(1);
    std::set<std::string> drawn;
    for (int i = 0; i < 400; ++i) {
      const Trail trail = drawn_trail(decisions, rng);
      ASSERT_FALSE(decisions.next(trail));
      ASSERT_TRUE(decisions.schedule(trail).ok());
      drawn.insert(print(trail));
    }
    EXPECT_GE(drawn.size(), target.cpu ? 20U : 10U) << name;
  }
}

TEST_P(Decisions, BeginWithTheHeuristics) {
  for (const char* name : {"opencl-cpu", "sm_90"}) {
    const Target target = load_target(name);
    const BlockDecisions decisions(entry_, target, block_threads(entry_, target));
    const BlockSchedule schedule = decisions.schedule({}).value();
    EXPECT_EQ(schedule.threads, block_threads(entry_, target).front());
    Trail first;
    while (const auto fork = decisions.next(first)) first.push_back({fork->knob, fork->options.front()});
    const BlockSchedule same = decisions.schedule(first).value();
    EXPECT_EQ(same.kept, schedule.kept);
    EXPECT_EQ(same.products, schedule.products);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Decisions,
                         ::testing::Values("layer_norm_backward_locked", "fourier", "cumulative_softmax", "matmul"),
                         [](const auto& info) { return std::string(info.param); });

TEST(BlockDecisions, SayWhatDoesNotFit) {
  const tp::Program matmul = program("matmul");
  const tp::Entry& entry = tp::find_entry(matmul, "");
  const Target target = load_target("sm_80");
  const BlockDecisions decisions(entry, target, block_threads(entry, target));
  const auto fault = [&](const std::string& trail) {
    const auto schedule = decisions.schedule(parse_trail(trail));
    return schedule.ok() ? "" : schedule.failure().message;
  };
  EXPECT_EQ(fault("blocks.threads=128 product.by_mmaf_0=threads"), "");
  EXPECT_THAT(fault("blocks.threads=3"), HasSubstr("blocks.threads: expected 128, 32, 64, 256"));
  EXPECT_THAT(fault("product.by_mmaf_0=matrix"),
              HasSubstr("expected the knob blocks.threads, found product.by_mmaf_0"));
  EXPECT_THAT(fault("blocks.threads=128 product.by_mmaf_0=matrix product.rows_mmaf_0=1"),
              HasSubstr("product.rows_mmaf_0"));
  // 128 threads compute the product with matrix instructions, because one warp would have too many accumulators. A CPU
  // has no such instructions.
  EXPECT_EQ(decisions.schedule(parse_trail("blocks.threads=128")).value().products.begin()->second.matrix, true);
  const Target cpu = load_target("opencl-cpu");
  EXPECT_FALSE(BlockDecisions(entry, cpu, {1}).schedule({}).value().products.begin()->second.matrix);
}

}  // namespace
}  // namespace deplo::rules
