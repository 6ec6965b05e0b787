// Loops marked `# scan`: their text, where their accumulators start, their meaning, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "ir/canonical/canonical.h"
#include "ir/interpret/interpret.h"
#include "ir/program.h"

namespace deplo::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string kernel(const std::string& outputs, const std::string& body) {
  return "=== loop: kernel ===\ninput x: f32[2, 3]\n" + outputs + body;
}

Memory run(const Program& program, std::vector<double> x) {
  Memory memory = {{"x", std::move(x)}};
  for (const Buffer& buffer : program.buffers)
    if (buffer.role == Role::output) memory[buffer.name].resize(static_cast<std::size_t>(span(buffer)));
  interpret(program, memory);
  return memory;
}

// Writes the running sum of each row, and then the total of the row.
const std::string running = kernel("output y: f32[2, 3]\noutput total: f32[2]\n", R"(for a0 in 0..2: # free
  for a1 in 0..3: # scan
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
    y[a0, a1] = acc0
  total[a0] = acc0
)");

TEST(Scan, CarriesItsAccumulators) {
  const Program program = parse(running);
  ASSERT_EQ(verify(program), "");
  EXPECT_EQ(parse(print(program)), program);
  const Memory memory = run(program, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(memory.at("y"), ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_THAT(memory.at("total"), ElementsAre(6, 15));
}

// The same text with a free loop restarts its sum in each iteration.
TEST(Scan, IsNoFreeLoop) {
  const std::string body = R"(for a0 in 0..2: # free
  for a1 in 0..3: # MARK
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
    y[a0, a1] = acc0
)";
  const auto result = [&](const std::string& mark) {
    std::string text = kernel("output y: f32[2, 3]\n", body);
    text.replace(text.find("MARK"), 4, mark);
    const Program program = parse(text);
    EXPECT_EQ(verify(program), "");
    return run(program, {1, 2, 3, 4, 5, 6}).at("y");
  };
  EXPECT_THAT(result("free"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(result("scan"), ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_NE(canonical(parse(kernel("output y: f32[2, 3]\n",
                                   "for a0 in 0..2: # free\n  for a1 in 0..3: # free\n"
                                   "    y[a0, a1] = 1\n")))
                .program,
            canonical(parse(kernel("output y: f32[2, 3]\n",
                                   "for a0 in 0..2: # free\n  for a1 in 0..3: # scan\n"
                                   "    y[a0, a1] = 1\n")))
                .program);
}

// A sum inside the body restarts in each iteration. The outer sum is the running total of all rows so far.
TEST(Scan, StartsInnerSumsAnew) {
  const Program program = parse(kernel("output y: f32[2]\n", R"(for a0 in 0..2: # scan
  for a1 in 0..3: # reduce
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
  acc1 <- add(acc1, acc0)
  y[a0] = acc1
)"));
  ASSERT_EQ(verify(program), "");
  EXPECT_THAT(run(program, {1, 2, 3, 4, 5, 6}).at("y"), ElementsAre(6, 21));
}

// A condition decides whether an iteration adds. All iterations read the sum.
TEST(Scan, CarriesWhatAConditionUpdates) {
  const Program program = parse(kernel("output y: f32[2, 3]\n", R"(for a0 in 0..2: # free
  for a1 in 0..3: # scan
    in0 = load x[a0, a1]
    if (0 < a1):
      acc0 <- add(acc0, in0)
    y[a0, a1] = acc0
)"));
  ASSERT_EQ(verify(program), "");
  EXPECT_THAT(run(program, {1, 2, 3, 4, 5, 6}).at("y"), ElementsAre(0, 2, 5, 0, 5, 11));
}

TEST(Scan, OfExtremesKeepsNaN) {
  const Program program = parse(kernel("output y: f32[2, 3]\n", R"(for a0 in 0..2: # free
  for a1 in 0..3: # scan
    in0 = load x[a0, a1]
    acc0 <- maximum(acc0, in0)
    y[a0, a1] = acc0
)"));
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> y = run(program, {-infinity, -2, -3, 4, nan, 6}).at("y");
  EXPECT_THAT(std::vector(y.begin(), y.begin() + 4), ElementsAre(-infinity, -2, -2, 4));
  EXPECT_TRUE(std::isnan(y[4]) && std::isnan(y[5]));
}

// To evaluate a scan at one iteration, the iterations before it are computed, and none after it.
TEST(Scan, IsEvaluatedAtAPlace) {
  const Program program = parse(running);
  EXPECT_EQ(free_axes(program), (std::vector<std::pair<std::string, std::int64_t>>{{"a0", 2}, {"a1", 3}}));
  const auto read = [](const Buffer&, std::int64_t offset) {
    EXPECT_NE(offset, 5);
    return static_cast<double>(offset + 1);
  };
  std::vector<Point> points = evaluate_at(program, read, {{"a0", 1}, {"a1", 1}});
  std::erase_if(points, [](const Point& point) { return point.buffer != "y"; });
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].offset, 4);
  EXPECT_EQ(points[1].value, 9);
  const ElementFinder finder(program, "y", [&](const auto& at) {
    return evaluate_at(
        program, [](const Buffer&, std::int64_t offset) { return offset + 1.0; }, at);
  });
  for (const std::int64_t offset : {0, 2, 3, 5}) EXPECT_EQ(finder.find(offset)->offset, offset);
  EXPECT_EQ(finder.find(5)->value, 15);
}

// A long reduction is computed by partial sums. A scan is a chain, whose error grows with the running total.
TEST(Scan, HasTheRoundingErrorsOfAChain) {
  const auto error = [](const std::string& mark) {
    std::string text = R"(=== loop: kernel ===
input x: f32[1000000]
output y: f32[]
for a0 in 0..1000000: # MARK
  in0 = load x[a0]
  acc0 <- add(acc0, in0)
y[] = acc0
)";
    text.replace(text.find("MARK"), 4, mark);
    Memory memory = {{"x", std::vector<double>(1000000, 0.1)}, {"y", {0}}};
    return interpret_rounding(parse(text), memory).at("y")[0];
  };
  EXPECT_GT(error("scan"), 10 * error("reduce"));
}

TEST(Scan, Refuses) {
  const auto refusal = [](const std::string& body) { return verify(parse(kernel("output y: f32[2, 3]\n", body))); };
  EXPECT_THAT(refusal(R"(for a1 in 0..3: # scan
  for a0 in 0..2: # free
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
  y[0, a1] = acc0
)"),
              HasSubstr("`acc0` accumulates over the free axis `a0`"));
  EXPECT_THAT(refusal(R"(for a0 in 0..2: # free
  for a1 in 0..3: # scan
    y[a0, a1] = acc0
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
)"),
              HasSubstr("`acc0` is not defined before this"));
  EXPECT_THAT(refusal(R"(for a0 in 0..2: # free
  for a1 in 0..3: # scan
    in0 = load x[a0, a1]
    acc0 <- subtract(acc0, in0)
    y[a0, a1] = acc0
)"),
              HasSubstr("subtract has no neutral element"));
  EXPECT_THAT(refusal(R"(for a0 in 0..2: # free
  for a1 in 0..3: # scan
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
    y[a0, 0] = acc0
)"),
              HasSubstr("every value of axis `a1` writes the same element"));
}

}  // namespace
}  // namespace deplo::ir
