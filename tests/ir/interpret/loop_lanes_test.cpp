// Loop programs whose free loops run in lanes, compared with one lane at a time.
#include "ir/interpret/loop_lanes.h"

#include <gtest/gtest.h>

#include <bit>

#include "core/rng.h"
#include "ir/interpret/arithmetic/arithmetic.h"
#include "ir/interpret/interpret.h"
#include "ir/program.h"

namespace deplo::ir::exec {
namespace {

// Each row has its own maximum, so the loops are not perfectly nested. A loaded number selects an element of each row.
constexpr std::string_view rows = R"(=== loop: rows ===
symbols M, N, K
input x: f32[M, N, K]
input which: i32[M, N]
output y: f32[M, N, K]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    n = load which[a0, a1]
    for a2 in 0..K: # reduce
      in0 = load x[a0, a1, a2]
      acc0 <- maximum(acc0, in0)
    in1 = load x[a0, a1, n]
    for a3 in 0..K: # free
      in2 = load x[a0, a1, a3]
      v0 = subtract(in2, acc0)
      v1 = exp(v0)
      v2 = multiply(v1, in1)
      y[a0, a1, a3] = v2
)";

Memory random_memory(const Program& program, std::uint64_t seed, std::int64_t numbers) {
  Rng rng(seed);
  Memory memory;
  for (const Buffer& buffer : program.buffers) {
    std::vector<double>& values = memory[buffer.name];
    values.assign(static_cast<std::size_t>(span(buffer)), 0);
    for (double& v : values)
      v = buffer.dtype == DType::i32 ? static_cast<double>(rng.below(static_cast<std::uint64_t>(numbers)))
                                     : rng.uniform(-2, 2);
  }
  return memory;
}

TEST(LoopLanes, GiveTheBitsOfOneLane) {
  for (const auto& [m, n, k] : {std::tuple{1, 1, 1},
                                {1, 4, 3},
                                {2, 3, 5},
                                {7, 1, 2},
                                {3, 64, 2},
                                {64, 6, 2},
                                {2, 257, 3},
                                {300, 2, 2},
                                {1, 1024, 2},
                                {511, 3, 1},
                                {16, 16, 16}}) {
    const Program program = parse(rows, {{"M", m}, {"N", n}, {"K", k}});
    const auto wide = in_lanes(program);
    Memory memory = random_memory(program, 1, k);
    const ReadInput read = [&](const Buffer& buffer, std::int64_t offset) {
      return memory.at(buffer.name)[static_cast<std::size_t>(offset)];
    };
    interpret(program, memory);
    const std::vector<double>& found = memory.at("y");
    for (std::int64_t i = 0; i < m * n; ++i)
      for (std::int64_t c = 0; c < k; ++c) {
        const auto points = evaluate_at(program, read, {{"a0", i / n}, {"a1", i % n}, {"a3", c}}, reals());
        ASSERT_EQ(points.size(), 1U);
        EXPECT_EQ(std::bit_cast<std::uint64_t>(points[0].value),
                  std::bit_cast<std::uint64_t>(found[static_cast<std::size_t>(points[0].offset)]))
            << m << "x" << n << "x" << k << ", element " << points[0].offset;
      }
    EXPECT_EQ(wide.has_value(), m * n >= 4 && n != 257) << m << "x" << n << "x" << k;
  }
}

TEST(LoopLanes, KeepTheOrderWhereTurnsMeet) {
  const auto with = [](std::string_view text) { return in_lanes(parse(text)).has_value(); };
  EXPECT_TRUE(
      with("=== loop: a ===\ninput x: f32[8]\noutput y: f32[8]\n"
           "for a0 in 0..8: # free\n  in0 = load x[a0]\n  y[a0] = in0\n"));
  EXPECT_FALSE(
      with("=== loop: a ===\ninput x: f32[8]\ninput i: i32[8]\noutput y: f32[8]\n"
           "for a0 in 0..8: # free\n  in0 = load x[a0]\n  n = load i[a0]\n  y[n] = in0\n"))
      << "a number chooses the element";
  EXPECT_FALSE(
      with("=== loop: a ===\ninput x: f32[8]\noutput y: f32[8]\n"
           "for a0 in 0..8: # free\n  in0 = load x[a0]\n  y[a0] += in0\n"))
      << "sums";
  EXPECT_FALSE(
      with("=== loop: a ===\ninput x: f32[8]\noutput y: f32[8]\noutput z: f32[8]\n"
           "for a0 in 0..8: # free\n  in0 = load x[a0]\n  y[a0] = in0\n  in1 = load y[a0]\n  z[a0] = in1\n"))
      << "an output is read";
}

}  // namespace
}  // namespace deplo::ir::exec
