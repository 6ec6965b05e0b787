// Tests dot products of pairs in complete schedules, and that tests detect pairs in wrong places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "core/rng.h"
#include "ir/emit/emit.h"
#include "ir/walk.h"
#include "rules/drawn_schedules.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules::dot_pairs_test {
namespace {

using ::testing::HasSubstr;

ir::Program drawn_loop(Rng& rng) {
  constexpr std::array kernels = {"matmul",     "linear",      "matmul_transposed_b",
                                  "matmul_add", "linear_bias", "matmul_silu"};
  constexpr std::array<std::int64_t, 6> extents = {2, 16, 32, 48, 64, 70};
  const Kernel& drawn = kernel(kernels.at(rng.below(kernels.size())));
  ir::Symbols symbols;
  for (const std::string& symbol : drawn.symbols) symbols[symbol] = extents.at(rng.below(extents.size()));
  ir::Program loop = ir::parse(drawn.text, symbols, drawn.name);
  for (ir::Buffer& buffer : loop.buffers)
    if (buffer.role == ir::Role::input || rng.below(2) == 0) buffer.dtype = ir::DType::bf16;
  return loop;
}

/// Returns a random schedule with dot products; nullopt if the drawn schedule has none.
std::optional<Lowering> drawn_schedule(const ir::Program& loop, const Target& target, Rng& rng) {
  Lowering lowering(loop, target);
  bool pairs = false;
  while (const auto& fork = lowering.fork()) {
    const bool here = fork->knob == "dot_pairs.apply";
    pairs |= here;
    lowering.choose(here ? 0 : rng.below(fork->options.size()));
  }
  return pairs ? std::optional(std::move(lowering)) : std::nullopt;
}

Drawn drawn_for_cpu(std::uint64_t seed) {
  Rng rng(seed);
  ir::Program loop = drawn_loop(rng);
  auto lowering = drawn_schedule(loop, load_target("opencl-cpu-bf16"), rng);
  return {std::move(loop), std::move(lowering)};
}

TEST(DotPairs, OfRandomSchedulesAreRight) {
  const Target target = load_target("opencl-cpu-bf16");
  int by_rows = 0, panels = 0, whole_in_place = 0;
  constexpr int found = 60;
  for_each_schedule(found, drawn_for_cpu, [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
    ASSERT_EQ(finding(loop, lowering.program(), seed), "") << ir::print(lowering.program());
    const ir::Program kernel = materialize(lowering.program(), target);
    ASSERT_EQ(finding(loop, kernel, seed), "") << ir::print(kernel);
    ASSERT_EQ(ir::parse(ir::print(kernel)), kernel);
    ASSERT_EQ(ir::parse(ir::print(lowering.program())), lowering.program());
    const std::string tile = ir::print(lowering.program());
    by_rows += tile.find("lanes=16 pairs") != std::string::npos;
    panels += tile.find("panel=") != std::string::npos;
    whole_in_place += tile.find("reduce unroll") != std::string::npos;
    EXPECT_THAT(ir::emit(kernel, target).text, HasSubstr("vdpbf16ps"));
  });
  EXPECT_GT(by_rows, 5);
  EXPECT_GT(found - by_rows, 5) << "columns that are rows in memory";
  EXPECT_GT(panels, 2);
  EXPECT_GT(whole_in_place, 2);
}

TEST(DotPairFaults, ShowInEverySchedule) {
  const Target target = load_target("opencl-cpu-bf16");
  for_each_schedule(20, drawn_for_cpu, [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
    const ir::Program kernel = materialize(lowering.program(), target);
    ASSERT_EQ(finding(loop, kernel, seed), "");
    const bool several = kernel.buffers.front().shape.back() > 2;  // whether a row has several pairs
    const ir::Program other_turn = edited<ir::DotPairs>(kernel, [](ir::DotPairs& s) { s.at_a.back() = ir::Expr(0); });
    EXPECT_TRUE(!several || !finding(loop, other_turn, seed).empty()) << "the first pair of a row";
    bool moved = false;
    const ir::Program shifted = edited<ir::DotPairs>(kernel, [&](ir::DotPairs& s) {
      moved = true;
      s.at_b.back() = s.at_b.back() + 1;
    });
    EXPECT_TRUE(moved && !finding(loop, shifted, seed).empty()) << "halves of pairs";
    bool copied = false;
    const ir::Program apart = edited<ir::CopyPairs>(kernel, [&](ir::CopyPairs& s) {
      copied = true;
      s.index[s.index.size() - 2] = ir::Expr(0);
    });
    EXPECT_TRUE(!copied || !several || !finding(loop, apart, seed).empty()) << "all rows to one place";
  });
}

TEST(DotPairForms, AreChecked) {
  const auto verified = [](const std::string& body) {
    return ir::verify(ir::parse(
        "=== kernel: k ===\ninput a: bf16[4, 8]\ninput b: bf16[8, 16]\ninput f: f32[4, 32]\noutput y: f32[64]\n"
        "Tile(axes=(a0:1=BLOCK, a1:4=THREAD)):\n  Smem s[4, 32] (bf16)\n  Smem t[4, 32] (f32)\n"
        "  Init(acc0:f32x16, op=add)\n  Init(acc1:f32x8, op=add)\n" +
        body));
  };
  EXPECT_EQ(verified("  CopyPairs(s[a1, 0], b[(a1 * 2), 0], dim=0)\n"), "");
  EXPECT_THAT(verified("  CopyPairs(s[a1, 0], b[((a1 * 2) + 1), 0], dim=0)\n"), HasSubstr("not proven in 0..7"));
  EXPECT_THAT(verified("  CopyPairs(s[a1, 2], b[(a1 * 2), 0], dim=0)\n"), HasSubstr("not proven in 0..31"));
  EXPECT_THAT(verified("  CopyPairs(s[a1, 0], b[(a1 * 2), 0], dim=1)\n"), HasSubstr("a dimension other than the last"));
  EXPECT_THAT(verified("  CopyPairs(t[a1, 0], b[(a1 * 2), 0], dim=0)\n"),
              HasSubstr("pairs must be of bf16, found f32"));
  EXPECT_THAT(verified("  CopyPairs(s[a1, 0], f[0, 0], dim=0)\n"), HasSubstr("pairs must be of bf16, found f32"));
  const std::string filled = "  CopyPairs(s[a1, 0], b[(a1 * 2), 0], dim=0)\n  Sync\n";
  EXPECT_EQ(verified(filled + "  DotPairs(acc0 <- a[a1, 6], s[3, 0])\n"), "");
  EXPECT_THAT(verified(filled + "  DotPairs(acc0 <- a[a1, 7], s[3, 0])\n"), HasSubstr("not proven in 0..7"));
  EXPECT_THAT(verified(filled + "  DotPairs(acc0 <- a[a1, 6], s[3, 2])\n"), HasSubstr("not proven in 0..31"));
  EXPECT_THAT(verified(filled + "  DotPairs(acc1 <- a[a1, 6], s[3, 0])\n"), HasSubstr("acc1"));
  EXPECT_THAT(verified(filled + "  DotPairs(acc0 <- f[a1, 6], s[3, 0])\n"),
              HasSubstr("pairs must be of bf16, found f32"));
  EXPECT_THAT(verified(filled + "  DotPairs(acc0 <- a[a1, 6], f[0, 0])\n"), HasSubstr("`f`"));
}

TEST(DotPairForms, OfTileIrAreChecked) {
  const auto verified = [](const std::string& stage, const std::string& loop, const std::string& a = "bf16") {
    return ir::verify(ir::parse("=== tile: k ===\ninput a: " + a +
                                "[4, 8]\ninput b: bf16[8, 32]\noutput c: f32[4, 32]\n"
                                "Tile(axes=(a0:2=BLOCK, a1:1=THREAD, a2:1=THREAD, a3:2=REG, a4:2=REG, a5:16=VECTOR)):\n"
                                "  b_smem:bf16 = Stage(b, origin=(0, 0), slab=(s0:8@0, s1:32@1)) " +
                                stage + "\n  for a6 in 0..8: # reduce" + loop +
                                "\n    in0 = load a[((a0 * 2) + a3), a6]\n"
                                "    in1 = load b_smem[a6, ((a4 * 16) + a5)]\n    v0 = multiply(in0, in1)\n"
                                "    acc0 <- add(acc0, v0)\n  c[((a0 * 2) + a3), ((a4 * 16) + a5)] = acc0\n"));
  };
  EXPECT_EQ(verified("lanes=16 pairs", " pairs"), "");
  EXPECT_THAT(verified("lanes=16 pairs", ""), HasSubstr("has its elements in pairs, for a loop of pairs"));
  EXPECT_THAT(verified("lanes=16", " pairs"), HasSubstr("not staged in pairs"));
  EXPECT_THAT(verified("lanes=8 pairs", " pairs"), HasSubstr("pairs of 8 lanes, not 16"));
  EXPECT_THAT(verified("pad=2 lanes=16 pairs", " pairs"), HasSubstr("without a pad"));
  EXPECT_THAT(verified("lanes=16 pairs", " pairs", "f32"), HasSubstr("not of bf16, in rows"));
}

}  // namespace
}  // namespace deplo::rules::dot_pairs_test
