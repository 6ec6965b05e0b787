// How far rounding in f32 may move the values of a kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/rng.h"
#include "ir/interpret/interpret.h"
#include "ir/types/float16.h"

namespace deplo::ir {
namespace {

constexpr double unit = 0x1p-24;

/// Returns the bound on the rounding error of y[0], which `body` computes from `x`.
double rounding(const std::vector<double>& x, const std::string& body) {
  const std::string size = std::to_string(x.size());
  const Program loop = parse("=== loop: k ===\ninput x: f32[" + size + "]\noutput y: f32[1]\n" + body);
  EXPECT_EQ(verify(loop), "");
  Memory memory = {{"x", x}, {"y", {NAN}}};
  const double whole = interpret_rounding(loop, memory).at("y").at(0);
  Memory plain = {{"x", x}, {"y", {NAN}}};
  interpret(loop, plain);
  EXPECT_EQ(memory, plain) << "the values themselves stay what they are";
  const std::vector<float> floats(x.begin(), x.end());
  const auto points = evaluate_at(loop, {{"x", floats}}, {}, true);
  EXPECT_EQ(points.at(0).rounding, whole);
  return whole;
}

TEST(InterpretRounding, OfOneOperation) {
  EXPECT_EQ(rounding({3}, "in0 = load x[0]\ny[0] = in0\n"), 0) << "an input is what it is";
  EXPECT_EQ(rounding({3}, "in0 = load x[0]\nv0 = negative(in0)\ny[0] = v0\n"), 0);
  EXPECT_EQ(rounding({3}, "in0 = load x[0]\nv0 = multiply(in0, 2)\ny[0] = v0\n"), 6 * unit);
  EXPECT_NEAR(rounding({1}, "in0 = load x[0]\nv0 = exp(in0)\ny[0] = v0\n"), 8 * unit * std::exp(1.0), unit);
  EXPECT_GE(rounding({3}, "in0 = load x[0]\nv0 = multiply(in0, 0.1)\ny[0] = v0\n"), 0.3 * unit + 3 * (0.1F - 0.1))
      << "f32 has no 0.1";
}

// 1000 is added and subtracted again. The error of the first step remains.
TEST(InterpretRounding, CancellationKeepsIt) {
  const std::string there_and_back = "in0 = load x[0]\nv0 = add(in0, 1000)\nv1 = subtract(v0, 1000)\ny[0] = v1\n";
  EXPECT_NEAR(rounding({0.5}, there_and_back), 1000.5 * unit, 2 * unit);
}

// If all terms have one sign, the bound is sqrt(K / 3) units of the sum. A sum that cancels has a bound of the same
// order, from the size of its terms.
TEST(InterpretRounding, OfLongSums) {
  const std::string body = "for a0 in 0..3000: # reduce\n  in0 = load x[a0]\n  acc0 <- add(acc0, in0)\ny[0] = acc0\n";
  EXPECT_NEAR(rounding(std::vector<double>(3000, 1), body), 3000 * unit * std::sqrt(1000.0), 3 * unit * 100);
  std::vector<double> cancels(3000, 1);
  for (std::size_t i = 1500; i < 3000; ++i) cancels[i] = -1;
  EXPECT_GT(rounding(cancels, body), 1000 * unit) << "of a sum of 0";
}

// The error of the mean is the same in all terms, so it does not average out.
TEST(InterpretRounding, SharedErrorsAdd) {
  std::vector<double> x(1024, 1000);
  x[0] = 1000.25;
  const double found = rounding(x,
                                "for a0 in 0..1024: # reduce\n  in0 = load x[a0]\n  acc0 <- add(acc0, in0)\n"
                                "v0 = divide(acc0, 1024)\n"
                                "for a1 in 0..1024: # reduce\n  in1 = load x[a1]\n  v1 = subtract(in1, v0)\n"
                                "  acc1 <- add(acc1, v1)\ny[0] = acc1\n");
  EXPECT_GT(found, 1024 * 1000 * unit);
}

TEST(InterpretRounding, AComparisonThatRoundingMayTurnTurnsWhatItSelects) {
  const std::string body =
      "in0 = load x[0]\nv0 = multiply(in0, 3)\nv1:bool = less(v0, 1)\nv2 = select(v1, in0, 7)\ny[0] = v2\n";
  EXPECT_GT(rounding({static_cast<double>(1.0F / 3)}, body), 6);
  EXPECT_EQ(rounding({5}, body), 0);
}

TEST(InterpretRounding, AMaskIsExact) {
  const std::string body = "in0 = load x[0]\nv0 = add(in0, -inf)\nv1 = exp(v0)\nv2 = add(v1, in0)\ny[0] = v2\n";
  EXPECT_EQ(rounding({3}, body), 3 * unit);
}

// The check accepts errors up to four times the bound (docs/measurement.md). If exponentials are rounded to bf16, the
// errors stay within that for a bf16 kernel, but not for an f16 kernel.
TEST(InterpretRounding, ExponentialsOfSixteenBits) {
  Rng rng(7);
  for (const int keys : {64, 512, 4096}) {
    const std::string n = std::to_string(keys);
    const auto kernel = [&](const std::string& type) {
      return parse("=== loop: k ===\ninput s: f32[16, " + n + "]\ninput w: " + type + "[" + n +
                   "]\noutput y: f32[16]\nfor a0 in 0..16: # free\n  for a1 in 0.." + n +
                   ": # reduce\n    in0 = load s[a0, a1]\n    in1 = load w[a1]\n"
                   "    acc0, acc1, acc2 <- softmax_sum(in0, 1, in1)\n  v0 = divide(acc2, acc1)\n  y[a0] = v0\n");
    };
    Memory memory = {{"s", {}}, {"w", {}}, {"y", std::vector<double>(16, NAN)}};
    for (int i = 0; i < 16 * keys; ++i) memory["s"].push_back(rng.uniform(-3, 3));
    for (int i = 0; i < keys; ++i) memory["w"].push_back(rounded(rng.uniform(-1, 1), DType::bf16));
    const auto bound = [&](const std::string& type) {
      Memory copy = memory;
      Memory bounds = interpret_rounding(kernel(type), copy);
      return std::pair(copy.at("y"), bounds.at("y"));
    };
    const auto [exact, of_bf16] = bound("bf16");
    const auto of_f16 = bound("f16").second;
    double worst = 0, worst_of_f16 = 0;
    for (std::size_t row = 0; row < 16; ++row) {
      double weighted = 0, sum = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(keys); ++k) {
        const double e = std::exp(memory["s"][row * static_cast<std::size_t>(keys) + k] - 3);
        sum += e;
        weighted += rounded(e, DType::bf16) * memory["w"][k];
      }
      const double off = std::abs(weighted / sum - exact[row]);
      worst = std::max(worst, off / of_bf16[row]);
      worst_of_f16 = std::max(worst_of_f16, off / of_f16[row]);
    }
    EXPECT_LT(worst, 2) << keys;
    EXPECT_GT(worst, 0.3) << keys;
    EXPECT_GT(worst_of_f16, 4) << keys;
  }
}

}  // namespace
}  // namespace deplo::ir
