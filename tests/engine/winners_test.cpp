// Schedules that won for other kernels of a run are replayed in another kernel's space.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/compile/kernel_space.h"
#include "engine/loop/kernel.h"
#include "engine/tune/warm_start.h"
#include "search/trails.h"

namespace deplo::engine::winners_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Target& target() {
  static const Target cpu = load_target("opencl-cpu-avx2");
  return cpu;
}

ir::Program matmul(std::int64_t rows) { return load_kernel("matmul", {{"M", rows}, {"N", 256}, {"K", 256}}, "here"); }
ir::Program rmsnorm() { return load_kernel("rmsnorm", {{"M", 64}, {"D", 256}}, "here"); }

Winner winner(const ir::Program& loop, const std::string& wish) {
  return {search::replay(KernelSpace(loop, target()), parse_trail(wish))->trail(), ir::work(loop)};
}

std::vector<std::string> replays(const std::vector<Winner>& winners, const ir::Program& loop, std::size_t most = 4) {
  const KernelSpace space(loop, target());
  std::vector<std::string> trails;
  for (const auto& candidate : replayed(winners, space, search::heuristic(space)->trail(), ir::work(loop), most))
    trails.push_back(print(candidate->trail()));
  return trails;
}

TEST(Winners, TheNearestOfTheSameKnobsComeFirst) {
  const std::vector<Winner> winners = {
      winner(rmsnorm(), "cooperative_reduce.rows=2"),
      winner(matmul(512), "prefetch.b=16"),
      winner(matmul(256), "prefetch.b=8"),
      winner(matmul(128), "prefetch.b=2"),
  };
  const auto ahead = [](int rows) { return HasSubstr("prefetch.b=" + std::to_string(rows) + " "); };
  EXPECT_THAT(replays(winners, matmul(120), 3), ElementsAre(ahead(2), ahead(8), ahead(16)));
  EXPECT_THAT(replays(winners, matmul(120), 1), ElementsAre(ahead(2)));
}

TEST(Winners, EachScheduleIsTriedOnceAndTheHeuristicsNotAgain) {
  const Winner same = winner(matmul(128), ""), other = winner(matmul(128), "prefetch.b=16");
  EXPECT_THAT(replays({same, other, other}, matmul(128)), ElementsAre(HasSubstr("prefetch.b=16 ")));
  EXPECT_THAT(replays({}, matmul(128)), IsEmpty());
}

TEST(Winners, OfAnotherFirstDecisionSayNothing) {
  EXPECT_THAT(replays({winner(rmsnorm(), "cooperative_reduce.rows=2")}, matmul(120)), IsEmpty());
}

}  // namespace
}  // namespace deplo::engine::winners_test
