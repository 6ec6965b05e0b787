// The front end: the kernels that users' graphs become.
#include "engine/source/graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "core/error.h"
#include "core/file.h"
#include "engine/loop/kernel.h"
#include "engine/source/experiment.h"
#include "engine/source/source.h"
#include "ir/canonical/canonical.h"
#include "ir/program.h"

namespace deplo::engine {
namespace {

ir::Module lower(const std::string& code, const Passes& passes = {}) {
  return lower_by_trail(read_graph({Expression{code, "-c"}}), passes, {}).value().module;
}

// Expects that the code becomes the kernel that is written by hand in configs/kernels, up to names.
void expect_kernel(const std::string& kernel, const ir::Symbols& symbols, const std::string& code) {
  const ir::Module module = lower(code);
  ASSERT_EQ(module.kernels.size(), 1u) << kernel;
  EXPECT_EQ(ir::canonical(module.kernels[0]).program, ir::canonical(load_kernel(kernel, symbols, "test")).program);
}

TEST(Graph, ExpressionsBecomeTheKernelsWrittenByHand) {
  expect_kernel("matmul", {{"M", 33}, {"N", 509}, {"K", 777}}, "torch.randn(33, 777) @ torch.randn(777, 509)");
  expect_kernel("matmul_add", {{"M", 16}, {"N", 32}, {"K", 48}},
                "torch.randn(16, 48) @ torch.randn(48, 32) + torch.randn(16, 32)");
  expect_kernel("rmsnorm", {{"M", 7}, {"D", 129}}, "nn.RMSNorm(129, eps=1e-6)(torch.randn(7, 129))");
  expect_kernel("softmax", {{"M", 19}, {"N", 61}}, "F.softmax(torch.randn(19, 61), dim=-1)");
  expect_kernel("silu_mul", {{"M", 5}, {"N", 77}}, "F.silu(torch.randn(5, 77)) * torch.randn(5, 77)");
  expect_kernel("gelu", {{"M", 3}, {"N", 1021}},
                "x = torch.randn(3, 1021); 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))");
}

TEST(Graph, Passes) {
  const std::string code = "torch.exp(torch.neg(torch.randn(16))[5:8])";
  EXPECT_EQ(lower(code).kernels.size(), 1u);
  EXPECT_EQ(lower(code, parse_passes("dol")).kernels.size(), 3u);
  EXPECT_TRUE(parse_passes("do").optimise);
  EXPECT_FALSE(parse_passes("do").lift);
  EXPECT_FALSE(parse_passes("d").optimise);
  for (const char* text : {"", "o", "dm", "dolmn", "x"}) EXPECT_THROW(parse_passes(text), Error) << text;
}

TEST(Graph, BlocksOfTheModels) {
  for (const char* model : {"tinyllama-1.1b", "qwen2.5-7b", "qwen3-embedding-0.6b"})
    for (const std::int64_t seq : {1, 33, 512}) {
      const auto kernels = read_module({ModelBlock{model, 0, seq}}).kernels;
      EXPECT_GE(kernels.size(), 9u) << model << " " << seq;
      EXPECT_LE(kernels.size(), 16u) << model << " " << seq;
    }
}

TEST(Graph, Errors) {
  const auto message = [](const char* code) -> std::string {
    try {
      lower(code);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message("torch.randn(4) + torch.randn(5)"), ::testing::StartsWith("-c:1:"));
  EXPECT_THAT(message("torch.randn(1000000, 1000000) + 1"), HasSubstr("at most 64 GB"));
  EXPECT_THAT(message("torch.randn(4).chalf()"), HasSubstr("chalf"));
  EXPECT_THAT(message("torch.randn(4).to(torch.complex32)"), HasSubstr("found `complex32`"));
}

struct SuiteRow {
  std::string name, op;
  double gflop = 0;
};

std::vector<SuiteRow> read_suite(const std::filesystem::path& file) {
  std::ifstream table(file);
  std::vector<SuiteRow> rows;
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    SuiteRow row;
    std::string shapes, repeats, gflop;
    for (std::string* field : {&row.name, &row.op, &shapes, &repeats, &gflop}) std::getline(fields, *field, '\t');
    row.gflop = std::stod(gflop);
    rows.push_back(row);
  }
  return rows;
}

TEST(SharedFacts, Suite84HasEveryKernelOfTheTable) {
  const auto table = std::filesystem::path(DEPLO_SOURCE_DIR) / "../shared/facts/kernel_suite_84.tsv";
  if (!std::filesystem::exists(table)) GTEST_SKIP() << "no " << table;
  const Experiment suite = load_experiment(data_folder() / "experiments/suite84.yaml");
  std::map<std::string, std::vector<const KernelCase*>> kernels;  // by the name in the table
  const auto most = [](const std::string& name) { return name.starts_with("silu_mul_matmul") ? 2U : 1U; };
  const auto add = [&](const std::string& name, const KernelCase& kernel) {
    kernels[most(name) > 1 ? name.substr(0, name.rfind('.')) : name].push_back(&kernel);
  };
  for (const KernelCase& kernel : suite.kernels) {
    add(kernel.name, kernel);
    for (const std::string& name : kernel.same) add(name, kernel);
  }
  const std::vector<SuiteRow> rows = read_suite(table);
  EXPECT_EQ(rows.size(), 84u);
  EXPECT_EQ(kernels.size(), 84u);
  for (const SuiteRow& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(kernels[row.name].size(), most(row.name));
    double gflop = 0;
    for (const KernelCase* kernel : kernels[row.name]) gflop += ir::work(kernel->loop).flops * 1e-9;
    if (row.op == "matmul") {
      EXPECT_NEAR(gflop, row.gflop, 0.0006);
    }
    // A matmul_add has one more addition for each element of the result.
    if (row.op == "matmul_add") {
      EXPECT_NEAR(gflop, row.gflop, 0.0006 + 2e-3 * row.gflop);
    }
    // The table also counts those scores of a causal attention that no query sees.
    EXPECT_GE(gflop, row.gflop * (row.name.starts_with("sdpa") ? 0.5 : 1) - 0.0006);
  }
}

}  // namespace
}  // namespace deplo::engine
