// A step of the online softmax against three sweeps, which compute the greatest score first and then the sums.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "core/rng.h"
#include "ir/canonical/canonical.h"
#include "ir/interpret/interpret.h"
#include "ir/program.h"
#include "ir/softmax.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;

constexpr double none = -std::numeric_limits<double>::infinity();

Program one_sweep(std::int64_t rows, std::int64_t keys) {
  return parse(fmt::format(R"(=== loop: weighted ===
input s: f32[{0}, {1}]
input w: f32[{1}]
output m: f32[{0}]
output l: f32[{0}]
output o: f32[{0}]
for a0 in 0..{0}: # free
  for a1 in 0..{1}: # reduce
    in0 = load s[a0, a1]
    in1 = load w[a1]
    acc0, acc1, acc2 <- softmax_sum(in0, 1, in1)
  m[a0] = acc0
  l[a0] = acc1
  o[a0] = acc2
)",
                           rows, keys));
}

struct Sums {
  double maximum = none, count = 0, weighted = 0;
};
Sums three_sweeps(const std::vector<double>& scores, const std::vector<double>& weights) {
  Sums sums;
  for (const double s : scores) sums.maximum = std::max(sums.maximum, s);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double part = scores[i] == none ? 0 : std::exp(scores[i] - sums.maximum);
    sums.count += part;
    sums.weighted += part * weights[i];
  }
  return sums;
}

TEST(SoftmaxSum, IsWhatThreeSweepsGive) {
  constexpr int rows = 40, keys = 33;
  const Program program = one_sweep(rows, keys);
  ASSERT_EQ(verify(program), "");
  EXPECT_EQ(parse(print(program)), program);
  Rng rng(7);
  Memory memory = {{"s", {}},
                   {"w", {}},
                   {"m", std::vector<double>(rows)},
                   {"l", std::vector<double>(rows)},
                   {"o", std::vector<double>(rows)}};
  for (int i = 0; i < keys; ++i) memory["w"].push_back(2 * rng.uniform() - 1);
  // Scores that would overflow without the maximum; rows whose first scores, or all scores, are -inf.
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < keys; ++k)
      memory["s"].push_back(r % 4 == 1 && k < r ? none : (r % 4 == 2 ? 1000 : 8) * (2 * rng.uniform() - 1));
  interpret(program, memory);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto first = memory["s"].begin() + static_cast<std::ptrdiff_t>(r * keys);
    const Sums sums = three_sweeps({first, first + keys}, memory["w"]);
    EXPECT_EQ(memory["m"][r], sums.maximum) << r;
    EXPECT_NEAR(memory["l"][r], sums.count, 1e-12 * sums.count) << r;
    EXPECT_NEAR(memory["o"][r], sums.weighted, 1e-12 * sums.count) << r;
  }
}

// Even if only a quotient is read, the maximum is taken over all keys. Here the greater scores come late.
TEST(SoftmaxSum, PartsLiveTogether) {
  const Program program = parse(R"(=== loop: weighted ===
input s: f32[3]
input w: f32[3]
output o: f32[2]
for a0 in 0..2: # free
  for a1 in 0..3: # reduce
    in0 = load s[a1]
    in1 = load w[a1]
    acc0, acc1, acc2 <- softmax_sum(in0, 1, in1)
  v0 = divide(acc2, acc1)
  o[a0] = v0
)");
  Memory memory = {{"s", {1, 2, 3}}, {"w", {5, 6, 7}}, {"o", {0, 0}}};
  interpret(program, memory);
  const Sums sums = three_sweeps(memory["s"], memory["w"]);
  for (const double value : memory["o"]) EXPECT_NEAR(value, sums.weighted / sums.count, 1e-14);
}

// A score counts once for each query and key. A sum counts for each column, too. All other operations count as usual.
TEST(SoftmaxSum, Work) {
  const Program program = parse(R"(=== loop: attention ===
input q: f32[5, 8]
input k: f32[7, 8]
input v: f32[7, 16]
output o: f32[5, 16]
for a0 in 0..5: # free
  for a1 in 0..16: # free
    for a2 in 0..7: # reduce
      for a3 in 0..8: # reduce
        in0 = load q[a0, a3]
        in1 = load k[a2, a3]
        v0 = multiply(in0, in1)
        acc0 <- add(acc0, v0)
      in2 = load v[a2, a1]
      v1 = multiply(acc0, 0.25)
      v2 = exp(in2)
      acc1, acc2, acc3 <- softmax_sum(v1, 1, v2)
    v3 = divide(acc3, acc2)
    o[a0, a1] = v3
)");
  ASSERT_EQ(verify(program), "");
  constexpr double scores = 5 * 7, columns = 16, product = 2 * 8;
  EXPECT_EQ(work(program).flops, scores * (product + 1 + 3 + 1) + scores * columns * (1 + 2) + 5 * columns);
}

// The bound on rounding holds for the same steps in f32, and is small compared with the sums.
TEST(SoftmaxSum, KnowsHowFarRoundingGoes) {
  constexpr int keys = 200;
  const Program program = one_sweep(1, keys);
  Rng rng(3);
  std::vector<float> s, w;
  float maximum = -INFINITY, count = 0, weighted = 0;
  for (int i = 0; i < keys; ++i) {
    s.push_back(static_cast<float>(16 * rng.uniform()));
    w.push_back(static_cast<float>(rng.uniform()));
    const float greater = std::max(maximum, s.back()), factor = std::exp(maximum - greater),
                part = std::exp(s.back() - greater);
    count = count * factor + part;
    weighted = weighted * factor + part * w.back();
    maximum = greater;
  }
  const auto points = evaluate_at(program, {{"s", s}, {"w", w}}, {{"a0", 0}}, true);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].rounding, 0);
  for (const auto& [point, found] : {std::pair{points[1], count}, std::pair{points[2], weighted}}) {
    EXPECT_LE(std::abs(point.value - static_cast<double>(found)), point.rounding);
    EXPECT_LT(point.rounding, 1e-4 * point.value);
    EXPECT_GT(point.rounding, 0);
  }
}

TEST(SoftmaxSum, IsChecked) {
  const auto verified = [](const std::string& step) {
    return verify(
        parse("=== loop: k ===\ninput s: f32[8]\noutput o: f32[1]\nfor a0 in 0..8: # reduce\n"
              "  in0 = load s[a0]\n  acc9 <- add(acc9, in0)\n  " +
              step + "\no[0] = acc9\n"));
  };
  EXPECT_EQ(verified("acc0, acc1 <- softmax_sum(in0, 1)"), "");
  EXPECT_THAT(verified("acc0, acc0 <- softmax_sum(in0, 1)"), HasSubstr("two parts of one result"));
  EXPECT_THAT(verified("acc9, acc1 <- softmax_sum(in0, 1)"), HasSubstr("`acc9` is accumulated by add before this"));
  EXPECT_THAT(verified("acc0, acc1 <- softmax_sum(acc1, 1)"), HasSubstr("`acc1` accumulates itself"));
  EXPECT_THROW(parse("=== loop: k ===\nacc0, acc1 <- softmax_sum(1)\n"), Error);
  EXPECT_THROW(parse("=== loop: k ===\nacc0, acc1 <- softmax_sum(1, 1, 1)\n"), Error);
}

// Programs that differ only in names have one key. A score and a weight cannot be swapped.
TEST(SoftmaxSum, HasAKey) {
  const auto key = [](const std::string& step) {
    return print(canonical(parse("=== loop: k ===\ninput x: f32[8]\ninput y: f32[8]\noutput o: f32[1]\n"
                                 "for a0 in 0..8: # reduce\n  in0 = load x[a0]\n  in1 = load y[a0]\n  " +
                                 step + "\nv0 = divide(acc2, acc1)\no[0] = v0\n"))
                     .program);
  };
  EXPECT_EQ(key("acc0, acc1, acc2 <- softmax_sum(in0, 1, in1)"), key("acc0, acc1, acc2 <- softmax_sum(in1, 1, in0)"));
  EXPECT_NE(key("acc0, acc1, acc2 <- softmax_sum(in0, 1, in1)"), key("acc0, acc1, acc2 <- softmax_sum(in0, in1, 1)"));
}

// A causal attention hides half of its keys, so no schedule needs to compute their scores. If there are many keys, a
// sample of them is counted.
TEST(SoftmaxSum, CountsTheKeysThatAreSeen) {
  const auto flops = [](std::int64_t keys, const std::string& condition) {
    return work(parse(fmt::format(
                    "=== loop: k ===\ninput x: f32[{0}, {0}]\noutput o: f32[{0}]\nfor a0 in 0..{0}: # free\n"
                    "  for a1 in 0..{0}: # reduce\n    in0 = load x[a0, a1]\n    v0 = exp(in0)\n"
                    "    v1:bool = index {1}\n    v2 = select(v1, v0, -inf)\n"
                    "    acc0, acc1 <- softmax_sum(v2, 1)\n  o[a0] = acc1\n",
                    keys, condition)))
        .flops;
  };
  EXPECT_EQ(flops(8, "(a1 < (a0 + 1))") / flops(8, "(a1 < 8)"), 36.0 / 64);
  EXPECT_EQ(flops(8, "((a1 < (a0 + 1)) && (a0 < (a1 + 2)))") / flops(8, "(a1 < 8)"), 15.0 / 64);
  EXPECT_NEAR(flops(8192, "(a1 < (a0 + 1))") / flops(8192, "(a1 < 8192)"), 0.5, 0.002);
}

// The condition that a mask sets on positions is recognised in all the ways in which masks are written.
TEST(SoftmaxSum, ScoresAreSeenWhereMasksSay) {
  const auto seen_by = [](const std::string& mask) {
    const Program loop = parse(fmt::format(R"(=== loop: k ===
input s: f32[4, 4]
input open: bool[4, 4]
output m: f32[4]
for a0 in 0..4: # free
  for a1 in 0..4: # reduce
    in0 = load s[a0, a1]
    in1:bool = load open[a0, a1]
    v0:bool = index (a1 < (a0 + 1))
    v1:bool = index (a0 < (a1 + 2))
{}    acc0, acc1 <- softmax_sum(v9, 1)
  m[a0] = acc0
)",
                                           mask));
    const Body& keys = loop.body[0].as<Loop>()->body[0].as<Loop>()->body;
    return print(seen(keys, std::string("v9")));
  };
  const std::string causal = "(a1 < (a0 + 1))", window = "(a0 < (a1 + 2))", both = "(" + causal + " && " + window + ")";
  EXPECT_EQ(seen_by("    v9 = select(v0, in0, -inf)\n"), causal);
  EXPECT_EQ(seen_by("    v2 = select(v0, 0, -inf)\n    v9 = add(in0, v2)\n"), causal);
  EXPECT_EQ(seen_by("    v2:bool = logical_and(v0, v1)\n    v9 = select(v2, in0, -inf)\n"), both);
  EXPECT_EQ(seen_by("    v2:bool = logical_not(v0)\n    v9 = select(v2, -inf, in0)\n"), causal);
  EXPECT_EQ(seen_by("    v2 = select(v0, 1, 0)\n    v3 = select(v1, v2, 0)\n    v4:bool = equal(v3, 0)\n"
                    "    v9 = select(v4, -inf, in0)\n"),
            "(" + window + " && " + causal + ")");
  EXPECT_EQ(seen_by("    v2 = select(v0, 1, 0)\n    v3:bool = not_equal(v2, 0)\n    v9 = select(v3, in0, -inf)\n"),
            causal);
  EXPECT_EQ(seen_by("    v9 = select(in1, in0, -inf)\n"), "1");
  EXPECT_EQ(seen_by("    v9 = select(v0, -inf, in0)\n"), "1");  // hides the scores that the other masks show
  EXPECT_EQ(seen_by("    v9 = select(v0, in0, 0)\n"), "1");
}

}  // namespace
}  // namespace deplo::ir
