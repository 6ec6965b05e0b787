// The inputs with which kernels are measured: those of the expression, or those of --inputs.
#include "engine/source/inputs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "core/error.h"
#include "engine/source/experiment.h"
#include "engine/source/graph.h"
#include "ir/torch/expression/expression.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store_fixture.h"

namespace deplo::apps {
namespace {

using deplo::testing::Ran;
using deplo::testing::run_program;
using deplo::testing::write_file;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Draw = ir::Fill::Draw;
using Json = nlohmann::json;

std::optional<ir::Fill> fill(const std::string& code, const std::string& input, std::size_t kernel = 0) {
  const ir::Module module = engine::lower_to_measure(ir::torch::parse_expression(code, "-c"));
  const ir::Buffer* const buffer = module.kernels.at(kernel).find(input);
  EXPECT_NE(buffer, nullptr) << print(module);
  return buffer->fill;
}

TEST(Inputs, FollowTheExpression) {
  EXPECT_EQ(fill("x = torch.rand(100); x.log()", "x"), (ir::Fill{Draw::uniform, 0, 1}));
  EXPECT_EQ(fill("x = torch.randn(100); x.exp()", "x"), (ir::Fill{Draw::normal, 0, 1}));
  EXPECT_EQ(fill("i = torch.randint(3, 9, (5,)); F.embedding(i, torch.randn(9, 4))", "i"),
            (ir::Fill{Draw::integers, 3, 9}));
  EXPECT_EQ(fill("nn.LayerNorm(16)(torch.randn(2, 16))", "p_weight"), (ir::Fill{Draw::uniform, 0.5, 1.5}));
  EXPECT_EQ(fill("w = nn.Parameter(torch.full((4,), 2.0)); w.log() * torch.randn(4)", "p_w"),
            (ir::Fill{Draw::uniform, 1, 3}))
      << "around a constant";
}

// The tensors are so large that softmax is a kernel of its own. Its results lie between 0 and 1, so the inputs of the
// next kernel must lie there, too.
TEST(Inputs, OfTensorsBetweenKernelsFollowTheGraph) {
  const std::string code = "x = torch.randn(64, 512); p = F.softmax(x, dim=-1); (p @ torch.randn(512, 64), p)";
  const ir::Module module = engine::lower_to_measure(ir::torch::parse_expression(code, "-c"));
  ASSERT_GE(module.kernels.size(), 2u);
  const ir::Buffer* const p = module.kernels[1].find("softmax");
  ASSERT_NE(p, nullptr) << print(module);
  ASSERT_TRUE(p->fill.has_value());
  EXPECT_GT(p->fill->a, 0);
  EXPECT_LT(p->fill->b, 1);
  EXPECT_EQ(engine::lower_to_measure(ir::torch::parse_expression(code, "-c")), module) << "the same each time";
}

TEST(Inputs, BetweenKernelsTheUsualStandsForWhatContainsIt) {
  const ir::Module module =
      engine::lower_to_measure(ir::torch::parse_expression("a = torch.randn(64, 64); b = a @ a; b @ a", "-c"));
  ASSERT_EQ(module.kernels.size(), 2u);
  for (const ir::Buffer& buffer : module.kernels[1].buffers)
    if (buffer.role == ir::Role::input && buffer.name != "a") {
      EXPECT_FALSE(buffer.fill.has_value()) << buffer.name;
    }
}

// The usual inputs are used after a very long reduction. To find better ones, a former version evaluated four rows of a
// reduction over 2^31 - 1 terms, before it checked the device.
TEST(Inputs, BehindALongReductionAreTheUsual) {
  const auto fill_of_sums = [](const std::string& terms) {
    const std::string code = "a = torch.rand(4, " + terms + "); F.softmax(a @ a.T, dim=-1)";
    const ir::Module module = engine::lower_to_measure(ir::torch::parse_expression(code, "-c"));
    EXPECT_EQ(module.kernels.size(), 2u) << print(module);
    return module.kernels.back().buffers.front().fill;
  };
  EXPECT_EQ(fill_of_sums("2147483647"), std::nullopt);
  const auto fill = fill_of_sums("1000");
  ASSERT_TRUE(fill.has_value());
  EXPECT_GT(fill->a, 100) << "sums of 1,000 products of numbers from 0 to 1";
}

TEST(Inputs, Texts) {
  EXPECT_EQ(engine::parse_fill("uniform(0.1, 1)", "p"), (ir::Fill{Draw::uniform, 0.1, 1}));
  EXPECT_EQ(engine::parse_fill(" normal( 0 ,2e-1 ) ", "p"), (ir::Fill{Draw::normal, 0, 0.2}));
  EXPECT_EQ(engine::parse_fill("randint(-5, 5)", "p"), (ir::Fill{Draw::integers, -5, 5}));
  EXPECT_EQ(engine::parse_fill("distinct(0, 9)", "p"), (ir::Fill{Draw::distinct, 0, 9}));
  EXPECT_EQ(engine::parse_fill("constant(7)", "p"), (ir::Fill{Draw::constant, 7, 0}));
  for (const char* bad : {"", "(", ")", "uniform", "uniform(", "uniform()", "uniform(1)", "uniform(1, 2, 3)",
                          "uniform(a, b)", "uniform(1,, 2)", "gamma(1, 2)", "constant(1, 2)", "uniform(1, 2", "0.5"}) {
    try {
      engine::parse_fill(bad, "p");
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("p: expected uniform(a, b), normal(mean, deviation), randint(first, end), "
                                          "distinct(first, end), constant(value) or a .npy file, found '"));
    }
  }
}

class InputsProgram : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) { return write_file(folder_.path(), name, text); }
  std::string store() const { return folder_.file("s.db"); }
  Ran tune(const std::string& kernels, std::vector<std::string> flags = {}) {
    const std::string yaml =
        file("x.yaml", "device: interpreter\nsearch: {strategy: random}\nbudget: {trials: 2}\nkernels:\n" + kernels);
    flags.insert(flags.begin(), {"deplo", "tune", "--quiet", "--store", store(), "--config", yaml});
    return run_program(flags);
  }
  std::string protocol() {
    measure::sqlite::Database database(store());
    measure::sqlite::Statement select(database, "SELECT protocol FROM trial ORDER BY id DESC LIMIT 1");
    return select.step() ? select.text(0) : "";
  }
  measure::TemporaryFolder folder_;
};

TEST_F(InputsProgram, FunctionsOfPositiveInputsAreTuned) {
  const char* const codes[] = {"torch.log(torch.rand(100) + 0.1)",
                               "torch.sqrt(torch.randn(50).abs())",
                               "torch.rsqrt(torch.rand(50) + 1e-3)",
                               "torch.log(torch.rand(40) + 1) / math.log(2)",
                               "torch.rand(60) ** 0.3",
                               "1 / torch.randn(64)",
                               "torch.exp(torch.randn(64) * 100)",
                               "p = torch.rand(8, 40); -(p * p.log()).sum(-1)",
                               "F.log_softmax(torch.randn(4, 40), dim=-1)",
                               "torch.log(F.softmax(torch.randn(4, 40), dim=-1))",
                               "F.softmax(torch.randn(4, 400), dim=-1).sum(-1) - 1",
                               "F.layer_norm(torch.randn(4, 200) + 1000, (200,))"};
  std::string kernels;
  int number = 0;
  for (const char* code : codes) kernels += fmt::format("  - {{name: k{}, expression: \"{}\"}}\n", number++, code);
  const Ran ran = tune(kernels, {"--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Json result = Json::parse(ran.out);
  for (const Json& row : result["kernels"]) EXPECT_GT(row["best_us"], 0) << row;
}

TEST_F(InputsProgram, AKernelThatCannotBeTunedCostsItselfOnly) {
  const Ran ran = tune(
      "  - {name: bad, expression: \"torch.log(torch.rand(100) - 2)\"}\n"
      "  - {name: good, expression: \"torch.exp(torch.randn(100))\"}\n");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("deplo: 1 of 2 kernels cannot be tuned; bad: kernel "));
  EXPECT_THAT(ran.out, HasSubstr("bad cannot be tuned: kernel "));
  EXPECT_THAT(ran.out, HasSubstr("expected finite results in f32, found none"));
  const Ran again = tune(
      "  - {name: bad, expression: \"torch.log(torch.rand(100) - 2)\"}\n"
      "  - {name: good, expression: \"torch.exp(torch.randn(100))\"}\n",
      {"--json"});
  const Json rows = Json::parse(again.out)["kernels"];
  EXPECT_TRUE(rows[0]["best_us"].is_null());
  EXPECT_EQ(rows[0]["stop"], "cannot be tuned");
  EXPECT_THAT(rows[0]["fault"].get<std::string>(), HasSubstr("expected finite results"));
  EXPECT_GT(rows[1]["best_us"], 0);
  const Ran in_process = tune("  - {name: bad, expression: \"torch.log(torch.rand(100) - 2)\"}\n", {"--in-process"});
  EXPECT_EQ(in_process.code, 1);
  EXPECT_THAT(in_process.err, HasSubstr("1 of 1 kernels cannot be tuned"));
}

TEST_F(InputsProgram, OnRequest) {
  const std::string bad = "  - {name: k, expression: \"x = torch.rand(100); torch.log(-x)\"}\n";
  EXPECT_EQ(tune(bad).code, 1);
  const std::string inputs = file("inputs.yaml", "x: uniform(-2, -0.5)\n");
  const Ran ran = tune(bad, {"--inputs", inputs});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(protocol(), HasSubstr(" inputs={x: uniform(-2, -0.5)}"));
  EXPECT_EQ(tune("  - name: k\n    expression: \"x = torch.rand(100); torch.log(-x)\"\n"
                 "    inputs: {x: \"uniform(-2, -0.5)\"}\n")
                .code,
            0);
  file("log.loop",
       "=== loop: log ===\ninput x: f32[64]\noutput y: f32[64]\nfor a0 in 0..64: # free\n  in0 = load x[a0]\n"
       "  v0 = subtract(-1, in0)\n  v1 = log(v0)\n  y[a0] = v1\n");
  EXPECT_EQ(tune("  - {kernel: log.loop}\n").code, 1);
  EXPECT_EQ(tune("  - {kernel: log.loop}\n", {"--inputs", inputs}).code, 0);
  const std::string loop = folder_.file("log.loop");
  EXPECT_EQ(run_program({"deplo", "run", "--bench", "--time", "0", "-k", loop, "--device", "interpreter"}).code, 1);
  EXPECT_EQ(
      run_program({"deplo", "run", "--bench", "--time", "0", "-k", loop, "--device", "interpreter", "--inputs", inputs})
          .code,
      0);
  EXPECT_EQ(run_program({"deplo", "run", "-c", "x = torch.randn(100); torch.log(x)", "--inputs", inputs}).code, 0);
}

TEST_F(InputsProgram, ARangeInTheKernel) {
  file("log.loop",
       "=== loop: log ===\nsymbols N\ninput x: f32[N] in (0.1, 1)\noutput y: f32[N]\nfor a0 in 0..N: # free\n"
       "  in0 = load x[a0]\n  v0 = log(in0)\n  y[a0] = v0\n");
  const Ran ran = tune("  - {kernel: log.loop, symbols: {N: 64}}\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(protocol(), HasSubstr(" inputs={x: uniform(0.1, 1)}"));
  measure::sqlite::Database database(store());
  EXPECT_EQ(database.integer("SELECT count(*) FROM kernel WHERE text LIKE '% in (%'"), 0)
      << "one kernel whatever it is";
  // The benchmark times the tuned schedule with the kernel's own range.
  const Ran bench = run_program({"deplo", "run", "--bench", "--time", "0", "-k", folder_.file("log.loop"), "-s", "N=64",
                                 "--device", "interpreter", "--tuned", store()});
  EXPECT_EQ(bench.code, 0) << bench.out << bench.err;
  EXPECT_THAT(bench.out, HasSubstr("tuned"));
}

TEST_F(InputsProgram, BadFilesNameTheirLine) {
  const std::string kernel = "  - {name: k, expression: \"x = torch.randn(100); x * 2\"}\n";
  const auto message = [&](const std::string& text) {
    const Ran ran = tune(kernel, {"--inputs", file("inputs.yaml", text)});
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(message(""), HasSubstr("expected a map"));
  EXPECT_THAT(message("x: 3\n"), HasSubstr("inputs.yaml:1: expected uniform(a, b), normal(mean, deviation)"));
  EXPECT_THAT(message("x: uniform(1, 0)\n"),
              HasSubstr("inputs.yaml:1: x (f32): expected a range whose start is below"));
  EXPECT_THAT(message("y: uniform(0, 1)\n"),
              HasSubstr("inputs.yaml:1: expected an input or a parameter (x), found 'y'"));
  EXPECT_THAT(message("x: [1, 2]\n"), HasSubstr("inputs.yaml:1: expected"));
  EXPECT_THAT(tune(kernel, {"--inputs", "none.yaml"}).err, HasSubstr("none.yaml"));
  EXPECT_THAT(run_program({"deplo", "run", "-c", "torch.randn(3)", "--inputs", folder_.path().string()}).err,
              HasSubstr("deplo: "));
}

// The values are 1.5 followed by ones, which no named distribution describes.
TEST_F(InputsProgram, ValuesOfAFile) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (100,), }";
  header.resize(117, ' ');
  std::vector<float> values(100, 1);
  values[0] = 1.5;
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(118) + '\0' + header + '\n';
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  file("x.npy", bytes);
  const std::string inputs = file("inputs.yaml", "x: x.npy\n");
  const std::string code = "x = torch.randn(100); torch.log(x)";
  const std::string kernel = "  - {name: k, expression: \"" + code + "\"}\n";
  for (const bool in_process : {false, true}) {
    std::vector<std::string> flags = {"--inputs", inputs};
    if (in_process) flags.insert(flags.end(), {"--in-process", "--tolerance", "0.001"});
    const Ran ran = tune(kernel, flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(protocol(), HasSubstr(" inputs={x: x.npy "));
  }
  EXPECT_EQ(tune("  - {name: k, expression: \"" + code + "\", inputs: {x: x.npy}}\n").code, 0);
  EXPECT_EQ(run_program({"deplo", "run", "-c", code, "--inputs", inputs}).code, 0);
  EXPECT_EQ(run_program({"deplo", "run", "--bench", "--time", "0", "-c", code, "--inputs", inputs, "--device",
                         "interpreter", "--tuned", store()})
                .code,
            0);
  EXPECT_THAT(tune("  - {name: k, expression: \"x = torch.randn(99); torch.log(x)\"}\n", {"--inputs", inputs}).err,
              HasSubstr("x.npy: expected the shape (99,), found (100,)"));
}

TEST_F(InputsProgram, ToleranceIsStoredWithTheTrials) {
  const std::string kernel = "  - {name: k, expression: \"torch.randn(100) * 2\"}\n";
  ASSERT_EQ(tune(kernel, {"--tolerance", "0.01"}).code, 0);
  EXPECT_THAT(protocol(), HasSubstr(" tolerance=0.01"));
  ASSERT_EQ(tune(kernel).code, 0);
  EXPECT_THAT(protocol(), ::testing::Not(HasSubstr("tolerance")));
  for (const char* bad : {"x", "-1", "nan", "inf", ""})
    EXPECT_THAT(tune(kernel, {"--tolerance", bad}).err, HasSubstr("--tolerance: expected a number between"));
}

TEST_F(InputsProgram, RoundingNoiseIsRightInRun) {
  for (const char* code :
       {"F.softmax(torch.randn(4, 1000), dim=-1).sum(-1) - 1", "F.softmax(torch.randn(1000), dim=-1).sum() - 1",
        "F.layer_norm(torch.randn(8, 256) + 1000, (256,))", "x = torch.rand(1000) + 1000; (x - x.mean()).sum()",
        "x = torch.randn(64); (x + 1e4) - 1e4"}) {
    const Ran ran = run_program({"deplo", "run", "-c", code});
    EXPECT_EQ(ran.code, 0) << code << "\n" << ran.out << ran.err;
  }
}

TEST_F(InputsProgram, BenchGoesOnBehindAKernelThatCannotBeTimed) {
  const std::string yaml = file("x.yaml",
                                "kernels:\n  - {name: bad, expression: \"torch.log(torch.rand(100) - 2)\"}\n"
                                "  - {name: good, expression: \"torch.exp(torch.randn(100))\"}\n");
  const Ran ran =
      run_program({"deplo", "run", "--bench", "--time", "0", "--config", yaml, "--device", "interpreter", "--json"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("expected finite results"), HasSubstr("\"good\"")));
}

}  // namespace
}  // namespace deplo::apps
