// Raises attention, and other loops whose carried values depend on each other, and compares the results with those of
// the tile programs and with sums in double.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/canonical/canonical.h"
#include "ir/tile_program/text/text.h"
#include "rules/lower.h"
#include "rules/raise/launch.h"

namespace deplo::rules {
namespace {

namespace tp = ir::tile_program;

struct Attention {
  std::int64_t batch = 1, heads = 1, group = 1, queries = 1, keys = 1, size = 16;
  std::int64_t offset = 0;
  double scale = 0.25;
  bool causal = false;
  std::int64_t tile = 16;  // queries of a block

  Launch launch() const {
    Launch result;
    result.array("q", ir::DType::f16, {batch, heads, queries, size});
    for (const char* name : {"k", "v"}) result.array(name, ir::DType::f16, {batch, heads / group, keys, size});
    result.array("out", ir::DType::f16, {batch, heads, queries, size}).scalar(scale).scalar(offset);
    result.grid({tiles(queries, tile), batch * heads, 1});
    return result;
  }
};

/// Returns the largest absolute error of `out` after the launch, compared with sums in double.
double error(const Attention& of, const Launch& launch) {
  const auto& arrays = launch.launcher.arrays;
  const auto at = [&](std::size_t array, std::int64_t head, std::int64_t rows, std::int64_t row, std::int64_t d) {
    return arrays[array].number((head * rows + row) * of.size + d);
  };
  double most = 0;
  for (std::int64_t head = 0; head < of.batch * of.heads; ++head) {
    const std::int64_t shared = head / of.group;
    for (std::int64_t i = 0; i < of.queries; ++i) {
      const std::int64_t seen = of.causal ? std::min(of.keys, i + of.offset + 1) : of.keys;
      std::vector<double> weights;
      double total = 0;
      for (std::int64_t key = 0; key < seen; ++key) {
        double score = 0;
        for (std::int64_t d = 0; d < of.size; ++d)
          score += at(0, head, of.queries, i, d) * at(1, shared, of.keys, key, d);
        weights.push_back(std::exp(score * of.scale));
        total += weights.back();
      }
      for (std::int64_t d = 0; d < of.size; ++d) {
        double sum = 0;
        for (std::int64_t key = 0; key < seen; ++key)
          sum += weights[static_cast<std::size_t>(key)] * at(2, shared, of.keys, key, d);
        most = std::max(most, std::fabs(sum / total - at(3, head, of.queries, i, d)));
      }
    }
  }
  return most;
}

void expect_right(const Attention& of, const tp::Program& program) {
  Launch launch = of.launch();
  const std::string text = ir::print(launch.raise(program).kernels.at(0));
  if (of.keys > 1) {
    EXPECT_THAT(text, ::testing::HasSubstr("<- softmax_sum("));
  }
  EXPECT_LE(launch.difference(program), of_f16) << of.queries;
  EXPECT_LE(error(of, launch), of_f16) << of.queries;
}

TEST(RaiseAttention, Causal) {
  for (const std::int64_t n : {1, 8, 16, 33, 37, 64})
    expect_right({.heads = 2, .queries = n, .keys = n, .causal = true}, own("attention_causal"));
}

TEST(RaiseAttention, GroupedQueriesAndUnevenKeys) {
  for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{16, 32}, {37, 45}, {5, 7}, {17, 101}})
    expect_right({.batch = 2, .heads = 4, .group = 2, .queries = queries, .keys = keys}, own("attention_grouped"));
}

TEST(RaiseAttention, OffsetOfQueries) {
  for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{8, 13}, {32, 37}, {37, 41}, {3, 60}}) {
    const std::int64_t offset = std::min<std::int64_t>(keys - queries, 40);
    expect_right(
        {.heads = 3, .group = 3, .queries = queries, .keys = keys, .offset = offset, .causal = true, .tile = 8},
        own("attention_offset"));
  }
}

/// Returns the Loop IR of attention as deplo's own front end writes it.
ir::Program sweep(std::int64_t heads, std::int64_t n) {
  return ir::parse(R"(
=== loop: out ===
symbols H, N
input q: f16[1, H, N, 64]
input k: f16[1, H, N, 64]
input v: f16[1, H, N, 64]
output out: f16[1, H, N, 64]
for a0 in 0..H: # free
  for a1 in 0..N: # free
    for a2 in 0..64: # free
      for a3 in 0..N: # reduce
        for a4 in 0..64: # reduce
          in0 = load q[0, a0, a1, a4]
          in1 = load k[0, a0, a3, a4]
          v0 = multiply(in0, in1)
          acc0 <- add(acc0, v0)
        in2 = load v[0, a0, a3, a2]
        v1 = multiply(acc0, 0.125)
        v2:bool = index (a3 < (a1 + 1))
        v3 = select(v2, v1, -inf)
        acc1, acc2, acc3 <- softmax_sum(v3, 1, in2)
      v4 = divide(acc3, acc2)
      out[0, a0, a1, a2] = v4
)",
                   {{"H", heads}, {"N", n}});
}

class RaiseSharedAttention : public ::testing::Test {
 protected:
  void SetUp() override {
    if (tp::shared_programs().empty()) GTEST_SKIP() << "no ../shared/tile_programs";
  }
  const Attention of(std::int64_t heads, std::int64_t n) const {
    return {.heads = heads, .queries = n, .keys = n, .size = 64, .scale = 0.125, .causal = true, .tile = 128};
  }
  tp::Program program() const { return tp::read_file_program(tp::shared_programs() / "11_fmha_kernel.tileirbc"); }
};

TEST_F(RaiseSharedAttention, IsRight) {
  for (const auto& [heads, n] : {std::pair<std::int64_t, std::int64_t>{3, 7}, {1, 33}, {1, 20}})
    expect_right(of(heads, n), program());
}

TEST_F(RaiseSharedAttention, IsOurAttention) {
  for (const std::int64_t n : {7, 128, 129, 256, 1000, 1024, 2048}) {
    const ir::Program loop = of(8, n).launch().raise(program()).kernels.at(0);
    EXPECT_EQ(ir::structural_keys(loop).exact, ir::structural_keys(sweep(8, n)).exact) << ir::print(loop);
  }
}

TEST_F(RaiseSharedAttention, TakesMatrixInstructions) {
  const ir::Program loop = of(8, 1024).launch().raise(program()).kernels.at(0);
  EXPECT_THAT(print(heuristic(loop, load_target("sm_90")).trail()),
              ::testing::HasSubstr("online_softmax.by=warpgroups"));
}

TEST(RaiseLoops, LogOfTheSumBesideIt) {
  for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{16, 32}, {37, 45}, {5, 7}}) {
    Launch launch;
    launch.array("q", ir::DType::f16, {queries, 16}).array("k", ir::DType::f16, {keys, 16});
    launch.array("v", ir::DType::f16, {keys, 16}).array("out", ir::DType::f16, {queries, 16});
    launch.array("lse", ir::DType::f32, {queries}).scalar(0.25).grid({tiles(queries, 16), 1, 1});
    const tp::Program program = own("attention_with_lse");
    EXPECT_EQ(launch.raise(program).outputs, (std::vector<std::string>{"out", "lse"}));
    EXPECT_LE(launch.difference(program), of_f16) << queries;
    Attention of{.queries = queries, .keys = keys};
    EXPECT_LE(error(of, launch), of_f16) << queries;
  }
}

// NVIDIA's front end makes two loops of the sweep: one over the whole tiles of keys, and one over the remaining keys,
// with a mask.
TEST(RaiseLoops, AnOpenEndIsTheSameReduction) {
  const tp::Program program = own("attention_open_end");
  for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{16, 64}, {37, 77}, {5, 200}, {33, 7}}) {
    Launch launch;
    launch.array("q", ir::DType::f16, {queries, 16}).array("k", ir::DType::f16, {keys, 16});
    launch.array("v", ir::DType::f16, {keys, 16}).array("out", ir::DType::f16, {queries, 16});
    launch.scalar(0.25).grid({tiles(queries, 16), 1, 1});
    const std::string loop = ir::print(launch.raise(program).kernels.at(0));
    EXPECT_THAT(loop, ::testing::HasSubstr(fmt::format("for a2 in 0..{}: # reduce", keys)));
    EXPECT_THAT(loop, ::testing::HasSubstr("softmax_sum("));
    EXPECT_THAT(loop, ::testing::Not(::testing::HasSubstr("index ("))) << "no mask is left";
    EXPECT_LE(launch.difference(program), of_f16) << keys;
    EXPECT_LE(error({.queries = queries, .keys = keys}, launch), of_f16) << keys;
  }
}

TEST(RaiseLoops, SoftmaxInChunks) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{2, 96}, {3, 7}, {5, 101}}) {
    Launch launch;
    launch.array("x", ir::DType::f32, {m, n}, pitch(n)).array("y", ir::DType::f32, {m, n}, pitch(n));
    EXPECT_LE(launch.grid({m, 1, 1}).difference(own("chunked_softmax")), of_f32) << n;
  }
}

TEST(RaiseLoops, TripsOfATriangle) {
  for (const auto& [n, columns] : {std::pair<std::int64_t, std::int64_t>{32, 16}, {7, 5}, {53, 21}}) {
    Launch launch;
    launch.array("a", ir::DType::f32, {n, n}, pitch(n)).array("b", ir::DType::f32, {n, columns}, pitch(columns));
    launch.array("c", ir::DType::f32, {n, columns}, pitch(columns)).grid({tiles(n, 16), tiles(columns, 16), 1});
    const tp::Program program = own("triangular_matmul");
    // Only the triangular condition remains of the loop's bound.
    EXPECT_THAT(ir::print(launch.raise(program).kernels.at(0)), ::testing::HasSubstr("index (a2 < (a0 + 1))"));
    EXPECT_LE(launch.difference(program), of_f32) << n;
  }
}

// A bound that follows from nothing else stays a condition.
TEST(RaiseLoops, TripsOfABand) {
  for (const auto& [n, columns] : {std::pair<std::int64_t, std::int64_t>{64, 16}, {7, 5}, {85, 21}}) {
    Launch launch;
    launch.array("a", ir::DType::f32, {n, n}, pitch(n)).array("b", ir::DType::f32, {n, columns}, pitch(columns));
    launch.array("c", ir::DType::f32, {n, columns}, pitch(columns)).grid({tiles(n, 16), tiles(columns, 16), 1});
    EXPECT_LE(launch.difference(own("banded_matmul")), of_f32) << n;
  }
}

TEST(RaiseLoops, Products) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{16, 32, 16}, {37, 40, 21}, {5, 101, 3}}) {
    Launch batched, persistent;
    batched.array("a", ir::DType::f16, {3, m, k}, pitch(k)).array("b", ir::DType::f16, {3, k, n}, pitch(n));
    batched.array("c", ir::DType::f16, {3, m, n}, pitch(n)).grid({3, tiles(m, 16), tiles(n, 32)});
    EXPECT_LE(batched.difference(own("batched_matmul")), of_f16) << m;
    persistent.array("a", ir::DType::f16, {m, k}, pitch(k)).array("b", ir::DType::f16, {k, n}, pitch(n));
    persistent.array("c", ir::DType::f16, {m, n}, pitch(n)).grid({4, 1, 1});
    EXPECT_LE(persistent.difference(own("persistent_matmul")), of_f16) << m;
  }
}

TEST(RaiseLoops, NormsBackwards) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{8, 32}, {5, 101}, {3, 7}}) {
    Launch rows, columns;
    for (const char* name : {"dx", "dy", "x"}) rows.array(name, ir::DType::f16, {m, n}, pitch(n));
    rows.array("weight", ir::DType::f16, {n}).array("mean", ir::DType::f32, {m});
    rows.array("rstd", ir::DType::f32, {m}).grid({m, 1, 1});
    EXPECT_LE(rows.difference(own("layer_norm_backward")), of_f16) << n;
    columns.array("x", ir::DType::f32, {m, n}, pitch(n)).array("y", ir::DType::f32, {n});
    EXPECT_LE(columns.grid({tiles(n, 32), 1, 1}).difference(own("column_sums")), of_f32) << n;
  }
}

// --- Other recurrences -----------------------------------------------------------------------------------------------

/// Returns the softmax in chunks of 32, with the first occurrence of `from` in its text replaced by `to`.
tp::Program changed_softmax(const std::string& from, const std::string& to) {
  std::string text = tp::print(own("chunked_softmax"));
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << "\n" << text;
  text.replace(at, from.size(), to);
  return tp::read_program(text, "changed.tile");
}
Launch softmax_launch() {
  Launch launch;
  launch.array("x", ir::DType::f32, {2, 70}, 72).array("y", ir::DType::f32, {2, 70}, 72).grid({2, 1, 1});
  return launch;
}

// The loop's initial total counts with the weight that the initial maximum gives it.
TEST(RaiseLoops, BeginWithOtherNumbers) {
  const std::string total = "%31 = constant <f32: 0.0>", greatest = "%30 = constant <f32: 0XFF800000>";
  EXPECT_LE(softmax_launch().difference(changed_softmax(total, "%31 = constant <f32: 3.0>")), of_f32);
  EXPECT_LE(softmax_launch().difference(changed_softmax(greatest, "%30 = constant <f32: 5.0>")), of_f32);
  tp::Program both = changed_softmax(total, "%31 = constant <f32: 3.0>");
  std::string text = tp::print(both);
  text.replace(text.find(greatest), greatest.size(), "%30 = constant <f32: 0.5>");
  EXPECT_LE(softmax_launch().difference(tp::read_program(text, "both.tile")), of_f32);
}

TEST(RaiseRefusals, WhatIsNoSoftmax) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    return softmax_launch().refusal(changed_softmax(from, to));
  };
  const std::string other = "cannot raise for: carried value 2 depends on carried value 1, but not as in a softmax";
  EXPECT_EQ(refusal("%59 = fma %40, %50, %58", "%59 = fma %50, %40, %58"), "");
  // The maximum's change is negated, is the exponent of another base, or the scores are relative to the previous
  // maximum.
  EXPECT_THAT(refusal("%49 = subf %39, %48", "%49 = subf %48, %39"), ::testing::HasSubstr(other));
  EXPECT_THAT(refusal("%50 = exp %49", "%50 = exp2 %49"), ::testing::HasSubstr(other));
  EXPECT_THAT(refusal("%51 = broadcast %48", "%51 = broadcast %39"), ::testing::HasSubstr(other));
  // The new terms are scaled instead of the old ones, or both are scaled.
  EXPECT_THAT(refusal("%59 = fma %40, %50, %58", "%59 = fma %58, %50, %40"),
              ::testing::HasSubstr("cannot raise for: carried value 2 depends on carried value 1"));
  EXPECT_THAT(refusal("%59 = fma %40, %50, %58", "%x = addf %40, %58 : tile<1x1xf32>\n%59 = fma %x, %50, %31"),
              ::testing::HasSubstr("cannot raise for: carried value 2 is not a sum, product, maximum or minimum"));
}

// With a negative scale, the greatest product would be that of the least score.
TEST(RaiseRefusals, NegativeScale) {
  Launch launch;
  launch.array("q", ir::DType::f16, {16, 16}).array("k", ir::DType::f16, {32, 16});
  launch.array("v", ir::DType::f16, {32, 16}).array("out", ir::DType::f16, {16, 16});
  EXPECT_THAT(launch.array("lse", ir::DType::f32, {16}).scalar(-0.25).refusal(own("attention_with_lse")),
              ::testing::HasSubstr("depends on carried value 1, but not as in a softmax"));
}

TEST(RaiseRefusals, IntegersOf8Bits) {
  Launch launch;
  launch.array("a", ir::DType::i8, {32, 32}).array("b", ir::DType::i8, {32, 32});
  EXPECT_THAT(launch.array("c", ir::DType::i32, {32, 32}).refusal(own("integer_matmul")),
              ::testing::HasSubstr("expected arrays of f32, tf32, f16, bf16, i32 or i1, found i8 (parameter 1)"));
}

}  // namespace
}  // namespace deplo::rules
