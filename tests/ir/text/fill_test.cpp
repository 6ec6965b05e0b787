// The distributions of a kernel's inputs: text, well-formedness, and what does not depend on them.
#include "ir/types/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "ir/canonical/canonical.h"
#include "ir/program.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;

std::string text_of(const std::string& input, const std::string& rest = "") {
  return "=== loop: k ===\ninput x: " + input + "\noutput y: f32[4]\n" + rest;
}

std::string parse_message(const std::string& input) {
  try {
    parse(text_of(input), {}, "t");
  } catch (const Error& error) {
    return error.what();
  }
  return "parsed";
}

TEST(Fill, TextReadsBack) {
  for (const char* input :
       {"f32[4] in (0.1, 1)", "f32[4] in (-1e+30, 2.5e-07)", "f32[2, 2] strides=(1, 2) in (0, 1)", "i32[4] in (-3, 7)",
        "i32[4] in (-2147483648, 2147483648)", "f32[4] in normal(0, 1)", "f32[4] in randint(2, 9)", "bool[4] in (0, 2)",
        "f32[4] in constant(2.5)", "i32[4] in constant(-1)", "i32[4] in distinct(-2, 2)"}) {
    const Program program = parse(text_of(input));
    ASSERT_TRUE(program.buffers[0].fill.has_value()) << input;
    EXPECT_EQ(print(program), text_of(input));
    EXPECT_EQ(parse(print(program)), program);
    EXPECT_EQ(verify(program), "") << input;
  }
  EXPECT_EQ(parse(text_of("f32[4] in (0.1, 1)")).buffers[0].fill, (Fill{Fill::Draw::uniform, 0.1, 1}));
  EXPECT_EQ(parse(text_of("i32[4] in (0, 9)")).buffers[0].fill, (Fill{Fill::Draw::integers, 0, 9}));
}

TEST(Fill, ASymbolMayBeABound) {
  const Program program =
      parse("=== loop: k ===\nsymbols N\ninput i: i32[4] in (0, N)\noutput y: f32[N]\n", {{"N", 8}});
  EXPECT_EQ(program.buffers[0].fill, (Fill{Fill::Draw::integers, 0, 8}));
}

TEST(Fill, BadTextSaysWhere) {
  EXPECT_EQ(parse_message("f32[4] in"),
            "t:2:19: expected a range `(0.1, 1)`, `normal(0, 1)`, `randint(0, 9)`, "
            "`constant(2)` or `distinct(0, 9)`, found the end of the line");
  EXPECT_THAT(parse_message("f32[4] in gamma(1)"), HasSubstr("t:2:20: expected a range"));
  EXPECT_THAT(parse_message("f32[4] in (1)"), HasSubstr("t:2:22: expected `,`"));
  EXPECT_THAT(parse_message("f32[4] in (a, 1)"), HasSubstr("expected a number"));
  EXPECT_THAT(parse_message("f32[4] in (nan, 1)"), HasSubstr("expected a number"));
  EXPECT_THAT(parse_message("f32[4] in (0, 1"), HasSubstr("expected `)`"));
}

TEST(Fill, TheVerifierKnowsWhatATypeHolds) {
  const auto fault = [](const std::string& input) { return verify(parse(text_of(input))); };
  EXPECT_EQ(fault("f32[4] in (1, 1)"),
            "k: buffer `x`: expected a range whose start is below its end, found uniform(1, 1)");
  EXPECT_THAT(fault("f32[4] in (2, 1)"), HasSubstr("whose start is below its end"));
  EXPECT_THAT(fault("f32[4] in (0, inf)"), HasSubstr("expected numbers that f32 holds"));
  EXPECT_THAT(fault("f32[4] in (0, 1e39)"), HasSubstr("expected numbers that f32 holds"));
  EXPECT_THAT(fault("f32[4] in normal(0, -1)"), HasSubstr("a deviation of at least 0"));
  EXPECT_THAT(fault("i32[4] in (0, 2147483649)"), HasSubstr("whole numbers that i32 holds"));
  EXPECT_THAT(fault("i32[4] in (0.5, 2)"), HasSubstr("whole numbers that i32 holds"));
  EXPECT_THAT(fault("i32[4] in normal(0, 1)"), HasSubstr("expected randint or constant for i32"));
  EXPECT_THAT(fault("bool[4] in (0, 3)"), HasSubstr("whole numbers that bool holds"));
  EXPECT_THAT(fault("f32[4] in distinct(0, 4)"),
              HasSubstr("expected integers for distinct numbers, found distinct(0, 4)"));
  EXPECT_THAT(fault("i32[4] in distinct(0, 3)"), HasSubstr("expected 4 distinct numbers, found distinct(0, 3)"));
  EXPECT_THAT(verify(parse("=== loop: k ===\noutput y: f32[4] in (0, 1)\n")), HasSubstr("only inputs have"));
}

TEST(Fill, WhatIsComputedDoesNotDependOnIt) {
  const std::string body = "for a0 in 0..4: # free\n  in0 = load x[a0]\n  y[a0] = in0\n";
  const Program plain = parse(text_of("f32[4]", body)), ranged = parse(text_of("f32[4] in (0.1, 1)", body));
  EXPECT_NE(print(plain), print(ranged));
  EXPECT_EQ(structural_keys(plain).exact, structural_keys(ranged).exact);
  EXPECT_EQ(structural_keys(plain).schedule, structural_keys(ranged).schedule);
}

TEST(Fill, DrawsWhatItSays) {
  Rng rng(1);
  std::set<double> whole;
  double sum = 0, squares = 0;
  for (int i = 0; i < 10000; ++i) {
    whole.insert(draw({Fill::Draw::integers, -2, 3}, DType::i32, rng));
    const double normal = draw({Fill::Draw::normal, 5, 2}, DType::f32, rng);
    sum += normal;
    squares += (normal - 5) * (normal - 5);
    const double uniform = draw({Fill::Draw::uniform, 2, 3}, DType::f32, rng);
    EXPECT_TRUE(uniform >= 2 && uniform < 3);
  }
  EXPECT_THAT(whole, ::testing::ElementsAre(-2, -1, 0, 1, 2));
  EXPECT_NEAR(sum / 10000, 5, 0.1);
  EXPECT_NEAR(squares / 10000, 4, 0.2);
}

// All orders of few numbers occur, and all numbers of a large range.
TEST(Fill, DistinctNumbersComeOnce) {
  Rng rng(1);
  std::set<std::vector<double>> orders;
  for (int i = 0; i < 200; ++i) orders.insert(draw({Fill::Draw::distinct, 3, 6}, DType::i32, 3, rng));
  EXPECT_EQ(orders.size(), 6U);
  std::set<double> seen;
  for (int i = 0; i < 200; ++i) {
    const std::vector<double> some = draw({Fill::Draw::distinct, -4, 60}, DType::i32, 5, rng);
    EXPECT_EQ(std::set<double>(some.begin(), some.end()).size(), 5U);
    seen.insert(some.begin(), some.end());
  }
  EXPECT_EQ(seen.size(), 64U);
  EXPECT_EQ(*seen.begin(), -4);
}

}  // namespace
}  // namespace deplo::ir
