// Tests the benefit of a warp's shape: the cycles that shared memory takes for a step of a matmul's reduce loop, as the
// bank analyser counts them. For comparison, a warp's multiply-adds take a multiprocessor 16 cycles with 8 x 8 outputs
// per thread, and 8 cycles with 4 x 8.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "rules/cost/banks.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

constexpr std::int64_t depth = 3584;

using Wanted = std::map<std::string, Value>;

Lowering start_of(std::int64_t m, const char* target) { return {matmul(m, 37888, depth), load_target(target)}; }

// Lowers by the heuristic, except for the wanted decisions.
Lowering scheduled(std::int64_t m, const char* target, const Wanted& wanted) {
  Lowering lowering = start_of(m, target);
  std::size_t taken = 0;
  while (const auto& fork = lowering.fork()) {
    const auto named = wanted.find(fork->knob);
    const auto& options = fork->options;
    const auto at = named == wanted.end() ? options.begin() : std::find(options.begin(), options.end(), named->second);
    EXPECT_NE(at, options.end()) << fork->knob;
    if (at == options.end()) return lowering;
    taken += named != wanted.end() ? 1 : 0;
    lowering.choose(static_cast<std::size_t>(at - options.begin()));
  }
  EXPECT_EQ(taken, wanted.size());
  return lowering;
}

// Returns the wavefronts of a warp's loads in one step.
double step(const Lowering& lowering) {
  double sum = 0;
  for (const WarpAccess& access : warp_accesses(lowering.program(), Unrolled::all)) {
    if (access.load == nullptr) continue;
    const BankCost cost = bank_cost(access, *access.stage);
    sum += cost.wavefronts * cost.times / static_cast<double>(depth);
  }
  return sum;
}

// Returns the fewest wavefronts of a step with any shape of warps. Other decisions are wanted, or the heuristic's.
double fewest(std::int64_t m, const char* target, const Wanted& wanted) {
  std::vector<Lowering> open = {start_of(m, target)};
  double best = 1e9;
  while (!open.empty()) {
    Lowering lowering = std::move(open.back());
    open.pop_back();
    const auto& fork = lowering.fork();
    if (!fork) {
      best = std::min(best, step(lowering));
      continue;
    }
    const auto named = wanted.find(fork->knob);
    for (std::size_t i = 0; i < fork->options.size(); ++i) {
      const bool shape = fork->knob.find("warp_tile.") == 0;
      if (named != wanted.end() ? fork->options[i] != named->second : !shape && i > 0) continue;
      open.push_back(lowering);
      open.back().choose(i);
    }
  }
  return best;
}

TEST(WarpTile, TakesAThirdOfTheCyclesOff) {
  for (const char* target : {"sm_80", "sm_90"}) {
    SCOPED_TRACE(target);
    const Wanted rows = {{"warp_tile.rows", Value{0L}}};
    const Wanted tile_4x8 = {{"chunk_matmul_k.bk", Value{16L}},
                             {"register_tile.fm", Value{4L}},
                             {"register_tile.fn", Value{8L}},
                             {"slice_matmul_k.slices", Value{1L}}};
    Wanted rows_4x8 = tile_4x8;
    rows_4x8.insert(rows.begin(), rows.end());
    EXPECT_DOUBLE_EQ(step(scheduled(512, target, rows)), 12);
    EXPECT_DOUBLE_EQ(fewest(512, target, {}), 8);
    EXPECT_DOUBLE_EQ(step(scheduled(512, target, {})), 8);  // the heuristic's choice
    EXPECT_DOUBLE_EQ(step(scheduled(32, target, rows_4x8)), 10);
    EXPECT_DOUBLE_EQ(fewest(32, target, tile_4x8), 6);
    EXPECT_DOUBLE_EQ(step(scheduled(32, target, tile_4x8)), 6);
  }
}

// A row of 32 columns is as long as the banks, so neighbouring rows conflict. A pad avoids this, and so does TMA's
// pattern.
TEST(WarpTile, RowsOf128BytesWantAPadOrAPattern) {
  const Wanted bk = {{"chunk_matmul_k.bk", Value{32L}}};
  EXPECT_DOUBLE_EQ(step(scheduled(512, "sm_80", bk)), 8);
  EXPECT_DOUBLE_EQ(step(scheduled(512, "sm_90", bk)), 8);
  Wanted plain = bk;
  plain["split_inner_for_swizzle.a"] = Value{0L};
  EXPECT_DOUBLE_EQ(step(scheduled(512, "sm_90", plain)), 12);
}

// b is not staged, so its loads do not use the banks. All threads of a warp read the same elements of a, which is
// staged.
TEST(WarpTile, IsChosenOnlyWhereItHelps) {
  const Lowering plain = scheduled(4, "sm_90", {{"stage_inputs.b", Value{0L}}, {"warp_tile.rows", Value{0L}}});
  const Lowering chosen = scheduled(4, "sm_90", {{"stage_inputs.b", Value{0L}}});
  EXPECT_EQ(print(chosen.trail()), print(plain.trail()));
}

}  // namespace
}  // namespace deplo::rules
