// `deplo space`, as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "apps/run_program.h"

namespace deplo::testing::space_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const char* const two_kernels = "x = torch.randn(8, 8); F.log_softmax(x @ x, dim=-1) @ x";

Ran space(std::vector<std::string> flags, const How& how = {}) {
  flags.insert(flags.begin(), {"deplo", "space"});
  return run_program(flags, how);
}

std::string good(const std::vector<std::string>& flags) {
  const Ran ran = space(flags);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  return ran.out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_error(const std::vector<std::string>& flags, const std::string& text) {
  const Ran ran = space(flags);
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(text));
  EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << "one line: " << ran.err;
}

const std::vector<std::string> gelu = {"-k", "gelu", "-s", "M=2", "-s", "N=6"};

// Regression test: each of the sort's many kernels took a minute.
TEST(Space, ManyLargeKernelsShareTheTime) {
  const auto kernels = nlohmann::json::parse(good({"-c", "torch.sort(torch.randn(1, 100000))", "--json"}))["kernels"];
  ASSERT_GT(kernels.size(), 5U);
  for (const auto& kernel : kernels) {
    EXPECT_GE(kernel["paths"], 1);
    EXPECT_FALSE(kernel["interrupted"]);
    EXPECT_EQ(kernel["shortened"], kernel["paths"] < 2000);
  }
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Space, Table) {
  const std::string text = good(with(gelu, {"--probes", "50", "--seed", "3"}));
  EXPECT_THAT(text, StartsWith("# gelu M=2 N=6 on opencl-cpu\nknob"));
  EXPECT_THAT(text, HasSubstr("candidates: about "));
  EXPECT_THAT(text, HasSubstr("from 50 random paths, seed 3"));
  EXPECT_THAT(text, HasSubstr("duplicates: "));
  EXPECT_THAT(text, HasSubstr("\nchunk_matmul_k "));
  EXPECT_EQ(text, good(with(gelu, {"--probes", "50", "--seed", "3"})));
}

TEST(Space, EnumerationAndEstimateAgree) {
  const auto exact = nlohmann::json::parse(good(with(gelu, {"--enumerate", "--json"})))["kernels"][0];
  const auto drawn = nlohmann::json::parse(good(with(gelu, {"--probes", "400", "--json"})))["kernels"][0];
  EXPECT_TRUE(exact["exact"]);
  EXPECT_FALSE(drawn["exact"]);
  const double count = exact["candidates"];
  EXPECT_GT(count, 1);
  EXPECT_EQ(exact["distinct_candidates"], count) << "no candidate is met twice";
  EXPECT_LE(exact["distinct_kernels"], count);
  EXPECT_NEAR(drawn["candidates"].get<double>(), count, 0.25 * count);
  EXPECT_LE(drawn["distinct_candidates"], count);
  for (const auto& level : exact["levels"]) EXPECT_LE(level["least"], level["most"]) << level;
  for (const auto& skips : exact["skips"]) {
    std::size_t paths = 0;
    for (const auto& reason : skips["reasons"]) paths += reason["paths"].get<std::size_t>();
    EXPECT_EQ(skips["paths"], paths) << skips;
  }
}

TEST(Space, SampledTrailsAreDistinctAndCompile) {
  const std::vector<std::string> trails = lines_of(good(with(gelu, {"--sample", "5", "--seed", "2"})));
  EXPECT_EQ(trails.size(), 5U);
  EXPECT_EQ((std::set<std::string>(trails.begin(), trails.end())).size(), 5U);
  for (const std::string& trail : trails) {
    std::vector<std::string> words = with({"deplo", "compile"}, gelu);
    EXPECT_EQ(run_program(with(words, {"--schedule", trail, "--ir", "kernel"})).code, 0) << trail;
  }
  EXPECT_EQ(trails, lines_of(good(with(gelu, {"--sample", "5", "--seed", "2"}))));
  EXPECT_NE(trails, lines_of(good(with(gelu, {"--sample", "5", "--seed", "3"}))));
  // A sample cannot be larger than the space.
  const auto exact = nlohmann::json::parse(good(with(gelu, {"--enumerate", "--json"})))["kernels"][0];
  if (const double count = exact["candidates"]; count < 200) {
    EXPECT_LE(lines_of(good(with(gelu, {"--sample", "1000"}))).size(), count);
  }
}

TEST(Space, GraphsOfSeveralKernels) {
  const std::vector<std::string> graph{"-c", two_kernels, "--probes", "3"};
  EXPECT_THAT(good(graph), HasSubstr("# 1: "));
  EXPECT_THAT(good(with(graph, {"--only", "1"})), StartsWith("# 1: "));
  EXPECT_THAT(good(with(graph, {"--only", "1"})), Not(HasSubstr("# 0: ")));
  EXPECT_THAT(good({"-c", two_kernels, "--sample", "2"}), HasSubstr("# 1: "));
  const std::string twice = "x = torch.randn(8, 8); torch.exp(x.sum(0)), torch.exp(torch.randn(8, 8).sum(0))";
  EXPECT_THAT(good({"-c", twice, "--probes", "3"}), HasSubstr("\nas 0\n"));
}

TEST(Space, Mistakes) {
  expect_error({},
               "expected one of -c CODE, --file FILE, --pt2 FILE, --model NAME, --kernel NAME, --tile FILE, --space "
               "FILE, found none");
  expect_error(with(gelu, {"-c", "torch.randn(3)"}), "--code cannot be combined with --kernel");
  expect_error({"-k", "gelo", "-s", "M=2"}, "expected a kernel (");
  expect_error({"-k", "gelu", "-s", "M=2"}, "found no value for 'N'");
  expect_error({"-c", "torch.exp(torch.randn(3))", "-s", "M=2"}, "expected an expression that uses M");
  expect_error(with(gelu, {"--only", "0"}), "--kernel cannot be combined with --only");
  expect_error({"-c", two_kernels, "--only", "9"}, "--only: expected a kernel's number (0 … ");
  expect_error(with(gelu, {"--target", "sm_1"}), "expected a target (");
  expect_error(with(gelu, {"--target", "sm_1"}), "expected a target (");
  expect_error({"-c", "F.relu("}, "-c:1");
  for (const char* count : {"0", "-1", "1.5", "many", "99999999999999999999"})
    for (const char* flag : {"--probes", "--sample", "--limit"})
      expect_error(with(gelu, {flag, count}),
                   fmt::format("{}: expected an integer between 1 and 1000000000, found '{}'", flag, count));
  expect_error(with(gelu, {"--seed", "-1"}), "--seed: expected an integer between 0 and");
  expect_error(with(gelu, {"--sample", "2", "--enumerate"}), "--enumerate cannot be combined with --sample");
  expect_error(with(gelu, {"--sample", "2", "--json"}), "--sample cannot be combined with --json");
  expect_error(with(gelu, {"--enumerate", "--limit", "1"}), "--enumerate: expected at most 1 candidates, found ");
  const std::vector<std::string> large{"-k", "matmul", "-s", "M=512", "-s", "N=512", "-s", "K=512"};
  expect_error(with(large, {"--enumerate", "--target", "sm_90"}), "--enumerate: expected at most 100000 candidates");
  EXPECT_EQ(space(gelu, {.no_output = true}).code, 2);
}

TEST(Space, InterruptsEndWithWhatThereIs) {
  const std::vector<std::string> large{"-k",    "matmul", "-s",    "M=512",    "-s",
                                       "N=512", "-s",     "K=512", "--probes", "1000000000"};
  const Ran ran = space(large, {.signal_after_ms = 700});
  EXPECT_EQ(ran.code, 130);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("\ninterrupted\n"));
  EXPECT_THAT(ran.out, HasSubstr("candidates: about "));
}

// A graph of many kernels is fused once for each decision, which takes 20 s here.
TEST(Space, InterruptsEndTheFusionOfALargeGraph) {
  const auto start = std::chrono::steady_clock::now();
  const Ran ran = space({"-c", "torch.sort(torch.randn(65536))[0]", "--target", "sm_90", "--probes", "10"},
                        {.signal_after_ms = 5000});
  EXPECT_EQ(ran.code, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace deplo::testing::space_test
