// Proofs in exact arithmetic: equal formulas agree; other formulas do not, however close their values are in floats.
#include "ir/interpret/proof.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rng.h"

namespace deplo::ir::proof_test {
namespace {

using ::testing::HasSubstr;

Memory random_inputs(const Program& program, std::uint64_t seed) {
  Rng rng(seed);
  Memory memory;
  for (const Buffer& buffer : program.buffers)
    for (std::int64_t i = 0; i < span(buffer); ++i) memory[buffer.name].push_back(rng.uniform(-1, 1));
  return memory;
}

std::string difference(const std::string& meaning, const std::string& other, std::uint64_t seed = 1) {
  const Program program = parse(meaning);
  return Proof(program, random_inputs(program, seed), seed).difference(parse(other));
}

/// Returns a program that computes a row y from a row x by these statements.
std::string of_row(const std::string& body, int extent = 16) {
  return fmt::format("=== loop: row ===\ninput x: f32[{0}]\noutput y: f32[{0}]\nfor a0 in 0..1: # free\n{1}", extent,
                     body);
}

const std::string three_sweeps = of_row(R"(  for a1 in 0..16: # reduce
    in0 = load x[a1]
    acc0 <- maximum(acc0, in0)
  for a2 in 0..16: # reduce
    in1 = load x[a2]
    v0 = subtract(in1, acc0)
    v1 = exp(v0)
    acc1 <- add(acc1, v1)
  for a3 in 0..16: # free
    in2 = load x[a3]
    v2 = subtract(in2, acc0)
    v3 = exp(v2)
    v4 = divide(v3, acc1)
    y[a3] = v4
)");

TEST(Proof, TheOnlineSoftmaxIsThatOfThreeSweeps) {
  const std::string online = of_row(R"(  for a1 in 0..16: # reduce
    in0 = load x[a1]
    acc0, acc1 <- softmax_sum(in0, 1)
  for a3 in 0..16: # free
    in2 = load x[a3]
    v2 = subtract(in2, acc0)
    v3 = exp(v2)
    v4 = divide(v3, acc1)
    y[a3] = v4
)");
  EXPECT_EQ(difference(three_sweeps, online), "");
  const std::string without_maximum = of_row(R"(  for a2 in 0..16: # reduce
    in1 = load x[a2]
    v1 = exp(in1)
    acc1 <- add(acc1, v1)
  v0 = reciprocal(acc1)
  for a3 in 0..16: # free
    in2 = load x[a3]
    v3 = exp(in2)
    v4 = multiply(v3, v0)
    y[a3] = v4
)");
  EXPECT_EQ(difference(three_sweeps, without_maximum), "") << "equal as a formula, though it overflows";
}

// Three formulas of the variance: E[x^2] - E[x]^2, the mean of squared differences, and Welford's recurrence.
TEST(Proof, FormsOfTheVarianceAgree) {
  const std::string differences = of_row(R"(  for a1 in 0..16: # reduce
    in0 = load x[a1]
    acc0 <- add(acc0, in0)
  v0 = divide(acc0, 16)
  for a2 in 0..16: # reduce
    in1 = load x[a2]
    v1 = subtract(in1, v0)
    v2 = multiply(v1, v1)
    acc1 <- add(acc1, v2)
  v3 = divide(acc1, 16)
  v4 = add(v3, 1e-05)
  v5 = rsqrt(v4)
  for a3 in 0..16: # free
    in2 = load x[a3]
    v6 = subtract(in2, v0)
    v7 = multiply(v6, v5)
    y[a3] = v7
)");
  const auto squares = [](const char* epsilon) {
    return of_row(fmt::format(R"(  for a1 in 0..16: # reduce
    in0 = load x[a1]
    acc0 <- add(acc0, in0)
    v0 = multiply(in0, in0)
    acc1 <- add(acc1, v0)
  v1 = multiply(acc0, 0.0625)
  v2 = multiply(acc1, 0.0625)
  v3 = multiply(v1, v1)
  v4 = subtract(v2, v3)
  v5 = add(v4, {})
  v6 = sqrt(v5)
  for a3 in 0..16: # free
    in2 = load x[a3]
    v7 = subtract(in2, v1)
    v8 = divide(v7, v6)
    y[a3] = v8
)",
                              epsilon));
  };
  EXPECT_EQ(difference(differences, squares("1e-05")), "");
  EXPECT_THAT(difference(differences, squares("1.0000001e-05")), HasSubstr("16 of 16 elements")) << "of y alone";
}

std::string sum(const std::string& term, int terms, const std::string& end = "") {
  return of_row(fmt::format(R"(  for a1 in 0..{}: # reduce
    in0 = load x[a1]
    v0 = multiply(in0, in0)
    acc0 <- add(acc0, {})
{}  y[a0] = acc0
)",
                            terms, term, end),
                4096);
}

TEST(Proof, SeesWhatNoToleranceSees) {
  const std::string whole = sum("v0", 4096);
  EXPECT_EQ(difference(whole, whole), "");
  EXPECT_THAT(difference(whole, sum("v0", 4095)), HasSubstr("1 of 4096 elements are another formula of the inputs"));
  const auto ending = [](const char* statements, const char* value) {
    std::string text = sum("v0", 4096, statements);
    return text.replace(text.find("= acc0"), 6, value);
  };
  EXPECT_EQ(difference(whole, ending("  v9 = add(acc0, 0)\n", "= v9")), "");
  EXPECT_NE(difference(whole, ending("  v9 = add(acc0, 1e-12)\n", "= v9")), "");
  EXPECT_NE(difference(whole, ending("  v9 = multiply(acc0, 1.0000000000000002)\n", "= v9")), "");
}

// An index has the same value as a float and as a converted integer. The PTX machine found that this was not so.
TEST(Proof, IndicesAreTheNumbersThatTheyAre) {
  const auto with = [](const std::string& statements) {
    return of_row("  for a1 in 0..16: # free\n" + statements + "    in0 = load x[a1]\n    v2 = multiply(v1, in0)\n" +
                  "    y[a1] = v2\n");
  };
  const std::string as_float = with("    v1 = index (a1 - 8)\n");
  const std::string converted = with("    v0:i32 = index (a1 - 8)\n    v1 = copy(v0)\n");
  EXPECT_EQ(difference(as_float, converted), "");
  EXPECT_NE(difference(as_float, with("    v1 = index (a1 - 7)\n")), "");
}

TEST(Proof, SeesAMissingFunction) {
  const auto with = [](const char* function) {
    return of_row(
        fmt::format("  for a1 in 0..16: # free\n    in0 = load x[a1]\n    v0 = {}(in0)\n    y[a1] = v0\n", function));
  };
  for (const char* function : {"relu", "absolute", "sqrt", "tanh", "negative", "exp"}) {
    EXPECT_EQ(difference(with(function), with(function)), "");
    EXPECT_NE(difference(with(function), with("copy")), "") << function;
  }
}

TEST(Proof, SeesAMissingPartOfTheSoftmax) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = three_sweeps;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_NE(difference(three_sweeps, with("v1 = exp(v0)", "v1 = exp(in1)")), "");
  EXPECT_NE(difference(three_sweeps, with("for a2 in 0..16", "for a2 in 0..15")), "");
  EXPECT_NE(difference(three_sweeps, with("v2 = subtract(in2, acc0)", "v2 = subtract(acc0, in2)")), "");
  EXPECT_NE(difference(three_sweeps, with("divide(v3, acc1)", "multiply(v3, acc1)")), "");
  EXPECT_EQ(difference(three_sweeps, with("for a1 in 0..16", "for a1 in 0..7")), "")
      << "any number may be subtracted from all";
}

// A limit of proofs (docs/proofs.md): in their arithmetic exp(exp(x)) does not depend on x.
TEST(Proof, DoesNotSeeInsideTwoExponentials) {
  const auto twice = [](const char* inner) {
    return of_row(fmt::format(R"(  for a1 in 0..16: # free
    in0 = load x[a1]
    v0 = {}
    v1 = exp(v0)
    v2 = exp(v1)
    y[a1] = v2
)",
                              inner));
  };
  EXPECT_EQ(difference(twice("copy(in0)"), twice("multiply(in0, 2)")), "");
}

TEST(Proof, LeavesIntegersAndMasksAsTheyAre) {
  const auto masked = [](const char* bound) {
    return of_row(fmt::format(R"(  for a1 in 0..16: # free
    for a2 in 0..16: # reduce
      in0 = load x[a2]
      i0:bool = index {}
      v0 = select(i0, in0, -inf)
      v1 = exp(v0)
      acc0 <- add(acc0, v1)
    y[a1] = acc0
)",
                              bound));
  };
  EXPECT_EQ(difference(masked("(a2 < (a1 + 1))"), masked("(a2 < min((a1 + 1), 16))")), "");
  EXPECT_THAT(difference(masked("(a2 < (a1 + 1))"), masked("(a2 < a1)")), HasSubstr("16 of 16"));
}

TEST(Proof, LeavesTruthValuesAsTheyAre) {
  const auto counted = [](const char* condition) {
    return of_row(fmt::format(R"(  for a1 in 0..16: # free
    in0 = load x[a1]
    i0:bool = less(in0, 0.25)
    i1:bool = less(-0.25, in0)
    i2:bool = {}
    v0 = copy(i2)
    y[a1] = v0
)",
                              condition));
  };
  EXPECT_EQ(difference(counted("bit_and(i0, i1)"), counted("logical_and(i1, i0)")), "");
  EXPECT_EQ(difference(counted("bit_or(i0, i1)"), counted("maximum(i1, i0)")), "");
  EXPECT_NE(difference(counted("bit_and(i0, i1)"), counted("bit_or(i0, i1)")), "");
}

TEST(Proof, NamesWhatItIgnores) {
  const Program plain = parse(sum("v0", 16)),
                rounding = parse(sum("v1", 16).replace(sum("v1", 16).find("    acc0"), 0, "    v1 = round_tf32(v0)\n"));
  EXPECT_EQ(ignored(plain, plain), "");
  EXPECT_EQ(ignored(plain, rounding), "rounding of factors to tf32");
  EXPECT_EQ(ignored(rounding, rounding), "");
}

}  // namespace
}  // namespace deplo::ir::proof_test
