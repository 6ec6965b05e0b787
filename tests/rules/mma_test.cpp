// Matrix instructions in whole schedules: any layout of the operands, any of the choices that follow; and mistakes in
// fragments, which must show.
#include "ir/mma.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "ir/emit/emit.h"
#include "ir/walk.h"
#include "rules/lower.h"
#include "rules/options.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

using ::testing::HasSubstr;

ir::Program drawn_loop(Rng& rng) {
  constexpr std::array kernels = {"matmul",     "linear",      "matmul_transposed_b",
                                  "matmul_add", "linear_bias", "matmul_silu"};
  constexpr std::array<std::int64_t, 5> extents = {16, 32, 48, 64, 96};
  const Kernel& drawn = kernel(kernels[rng.below(kernels.size())]);
  ir::Symbols symbols;
  for (const std::string& symbol : drawn.symbols) symbols[symbol] = extents[rng.below(extents.size())];
  ir::Program loop = ir::parse(drawn.text, symbols, drawn.name);
  const ir::DType dtype = rng.below(2) == 0 ? ir::DType::f16 : ir::DType::bf16;
  for (ir::Buffer& buffer : loop.buffers)
    if (buffer.role == ir::Role::input || rng.below(2) == 0) buffer.dtype = dtype;
  return loop;
}

/// A random schedule whose products are matrix instructions; nullopt where none is legal.
std::optional<Lowering> drawn_schedule(const ir::Program& loop, const Target& target, Rng& rng) {
  Lowering lowering(loop, target);
  bool products = false;
  while (const auto& fork = lowering.fork()) {
    const bool atom = fork->knob == "mma.atom";
    products |= atom;
    lowering.choose(atom ? 0 : rng.below(fork->options.size()));
  }
  return products ? std::optional(std::move(lowering)) : std::nullopt;
}

std::string finding(const ir::Program& loop, const ir::Program& program, std::uint64_t seed) {
  const ir::Memory memory = random_memory(loop, seed);
  try {
    return difference(loop, result(loop, memory), result(program, memory));
  } catch (const Error& error) {
    return error.what();
  }
}

class Products : public testing::TestWithParam<const char*> {};

TEST_P(Products, OfRandomSchedulesAreRight) {
  const Target target = load_target(GetParam());
  int found = 0;
  for (std::uint64_t seed = test_options().seed; found < 40; ++seed) {
    ASSERT_LT(seed, test_options().seed + 2000);
    Rng rng(seed);
    const ir::Program loop = drawn_loop(rng);
    const auto lowering = drawn_schedule(loop, target, rng);
    if (!lowering) continue;
    ++found;
    const std::string what = fmt::format("seed {}: {}", seed, print(lowering->trail()));
    ASSERT_EQ(ir::verify(lowering->program()), "") << what;
    ASSERT_EQ(ir::parse(ir::print(lowering->program())), lowering->program()) << what;
    ASSERT_EQ(finding(loop, lowering->program(), seed), "") << what << "\n" << ir::print(lowering->program());
    const ir::Program kernel = materialize(lowering->program(), target);
    ASSERT_EQ(ir::parse(ir::print(kernel)), kernel) << what;
    ASSERT_EQ(finding(loop, kernel, seed), "") << what << "\n" << ir::print(kernel);
    EXPECT_THAT(ir::emit(kernel, target).text, HasSubstr("mma.sync.aligned.m16n8k16")) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, Products, testing::Values("sm_80", "sm_90", "sm_100", "sm_120"));

template <class S, class Edit>
ir::Program edited(ir::Program kernel, Edit edit) {
  ir::for_each(kernel.body, [&](ir::Stmt& stmt) {
    if (auto* s = stmt.as<S>()) edit(*s);
  });
  return kernel;
}

// Each of them, in every schedule that has what it touches.
TEST(ProductFaults, ShowInEverySchedule) {
  const Target target = load_target("sm_80");
  int found = 0;
  for (std::uint64_t seed = 1; found < 20; ++seed) {
    Rng rng(seed);
    const ir::Program loop = drawn_loop(rng);
    const auto lowering = drawn_schedule(loop, target, rng);
    if (!lowering) continue;
    ++found;
    const ir::Program kernel = materialize(lowering->program(), target);
    ASSERT_EQ(finding(loop, kernel, seed), "");
    EXPECT_NE(finding(loop, edited<ir::LdMatrix>(kernel, [](ir::LdMatrix& s) { s.transposed = !s.transposed; }), seed),
              "")
        << "a transposed fragment, seed " << seed;
    EXPECT_NE(
        finding(loop, edited<ir::Mma>(kernel, [](ir::Mma& s) { std::swap(s.sums.front(), s.sums.back()); }), seed), "")
        << "sums of other rows, seed " << seed;
    bool parts = false;
    const ir::Program other = edited<ir::Mma>(kernel, [&](ir::Mma& s) { parts |= s.part > 0, s.part = 0; });
    EXPECT_TRUE(!parts || !finding(loop, other, seed).empty()) << "columns of a neighbour, seed " << seed;
  }
}

// Beyond an operand's row, a warp that is none, a fragment of a wrong size.
TEST(ProductForms, AreChecked) {
  const auto verified = [](const std::string& body, int threads = 32) {
    return ir::verify(
        ir::parse(fmt::format("=== kernel: k ===\noutput y: f32[64]\nTile(axes=(a0:1=BLOCK, a1:{}=THREAD)):\n"
                              "  Smem s[16, 16] (bf16)\n  Init(acc0:f32x2, op=add)\n"
                              "  Init(acc1:f32x2, op=add)\n{}",
                              threads, body)));
  };
  const std::string fragments =
      "  LdMatrix(in0:bf16x8 <- s[(a1 % 16), ((a1 / 16) * 8)])\n"
      "  LdMatrix(in1:bf16x4 <- s[(a1 % 8), (((a1 / 8) % 2) * 8)], transposed)\n";
  EXPECT_EQ(verified(fragments + "  Mma(acc0, acc1 <- in0, in1, part=0, atom=m16n8k16)\n"), "");
  EXPECT_THAT(verified(fragments + "  Mma(acc0, acc1 <- in0, in1, part=2, atom=m16n8k16)\n"),
              HasSubstr("`in1` has no matrices 2 and 3 of bf16"));
  EXPECT_THAT(verified(fragments + "  Mma(acc0, acc1 <- in1, in0, part=0, atom=m16n8k16)\n"),
              HasSubstr("`in1` is no four matrices of 16 bits"));
  EXPECT_THAT(verified(fragments + "  Mma(acc0, acc0 <- in0, in1, part=0, atom=m16n8k16)\n"), HasSubstr("named twice"));
  EXPECT_THAT(verified(fragments + "  Mma(acc0, acc1 <- in0, in1, part=0, atom=m16n8k9)\n"),
              HasSubstr("`m16n8k9` is no matrix instruction"));
  EXPECT_THAT(verified("  LdMatrix(in0:bf16x8 <- s[(a1 % 16), (a1 / 16)])\n", 48),
              HasSubstr("48 threads are no whole"));
  EXPECT_THAT(verified("  LdMatrix(in0:bf16x8 <- s[(a1 % 16), 9])\n"), HasSubstr("9"));
  EXPECT_THAT(verified("  LdMatrix(in0:f16x8 <- s[(a1 % 16), 0])\n"), HasSubstr("`s` holds bf16"));
  EXPECT_THAT(verified("  LdMatrix(in0:bf16x2 <- s[(a1 % 16), 0])\n"), HasSubstr("4 or 8 lanes"));
  EXPECT_THAT(verified("  if (a1 < 8):\n    LdMatrix(in0:bf16x8 <- s[(a1 % 16), 0])\n"), HasSubstr("may not reach"));
}

}  // namespace
}  // namespace deplo::rules
