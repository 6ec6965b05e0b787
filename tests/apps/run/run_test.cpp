// `deplo run`, as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "ir/torch/pt2/zip.h"
#include "measure/check/npy.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/host_memory.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Ran run(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"deplo", "run"});
  return run_program(flags);
}

Json run_json(std::vector<std::string> flags) {
  flags.emplace_back("--json");
  const Ran ran = run(flags);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  return Json::parse(ran.out);
}

void expect_error(const std::vector<std::string>& flags, int code, const std::string& text) {
  const Ran ran = run(flags);
  EXPECT_EQ(ran.code, code) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(text));
  EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << "one line: " << ran.err;
}

const char* const attention =
    "q = torch.randn(1, 4, 33, 16); k = torch.randn(1, 2, 33, 16)\n"
    "F.scaled_dot_product_attention(q, k, k, is_causal=True, enable_gqa=True)";

TEST(Run, AgreesWithTheReferenceOnEveryDevice) {
  for (const char* device : {"opencl", "interpreter"})
    for (const char* code :
         {"x = torch.randn(100)\n"
          "(x * 1e300, x * -1e300, x * 1e300 * 0, x * 1e-300 + 1e-40, x * 3.4028235677973366e38, x / 1e-300)",
          "x = torch.randn(33)\n"
          "(x.clamp(max=1e300), x > 1e300, x.masked_fill(x > 0, -1e300))",
          "(torch.full((3, 5), 1e300), torch.full((3,), -2147483648), torch.full((3,), float('inf')) * 0)"}) {
      const Json report = run_json({"-c", code, "--device", device});
      EXPECT_TRUE(report["right"]) << device << ": " << code;
      EXPECT_GE(report["outputs"].size(), 3U) << code;
      for (const Json& output : report["outputs"]) EXPECT_EQ(output["error"], 0) << code;
    }
}

// A small block with the features of Qwen blocks: odd lengths, grouped heads, biases or norms of q and k.
TEST(Run, BlocksOfASmallModel) {
  const measure::TemporaryFolder folder;
  const auto expect_right = [&](const char* kind, const char* seq) {
    SCOPED_TRACE(fmt::format("{} {}", kind, seq));
    const std::string model = write_file(folder.path(), "small.yaml",
                                         fmt::format("source: a test\nhidden: 64\nffn: 96\nheads: 4\nkv_heads: 2\n"
                                                     "head_dim: 16\nlayers: 2\nrope_theta: 10000\nnorm_eps: 1e-6\n{}",
                                                     kind));
    const Json report = run_json({"--model", model, "--seq", seq, "--layer", "1"});
    EXPECT_TRUE(report["right"]);
    EXPECT_LE(report["kernels"].size(), 16u);
    EXPECT_LT(report["outputs"][0]["error"], 1e-4);
  };
  for (const char* seq : {"1", "33"}) expect_right("", seq);
  for (const char* kind : {"dtype: bf16\n", "dtype: f16\nqk_norm: true\n", "qkv_bias: true\nqk_norm: true\n"})
    expect_right(kind, "7");
}

TEST(Run, ExportedPrograms) {
  const std::string file = std::string(DEPLO_SOURCE_DIR) + "/tests/data/pt2/llama_block_2.8.0.pt2";
  const Json report = run_json({"--pt2", file, "--device", "interpreter"});
  EXPECT_TRUE(report["right"]);
  EXPECT_GE(report["kernels"].size(), 9u);
}

TEST(Run, WarnsAboutFloat64) {
  const std::string file = std::string(DEPLO_SOURCE_DIR) + "/tests/data/pt2/written_2.15.0.pt2";
  EXPECT_THAT(run({"--pt2", file, "--device", "interpreter"}).err,
              HasSubstr("warning: 'float_power' is float64 in PyTorch; such tensors are computed in float32\n"));
  EXPECT_EQ(run({"-c", "torch.randn(3).double() + 1", "--device", "interpreter", "--no-measure"}).err,
            "warning: tensors of float64 are computed in float32\n");
}

TEST(Run, TakesTheSizesOfTheExampleOrThoseGiven) {
  const std::string file = std::string(DEPLO_SOURCE_DIR) + "/tests/data/pt2/dynamic_2.15.0.pt2";
  EXPECT_THAT(run({"--pt2", file, "--device", "interpreter"}).err,
              HasSubstr("warning: the sizes of dynamic_shapes are those of the example: s77=4 (dimension 0 of x), "));
  const Ran bench =
      run_program({"deplo", "bench", "--pt2", file, "--device", "interpreter", "--time", "0", "--only", "gt"});
  EXPECT_THAT(bench.err, HasSubstr("warning: the sizes of dynamic_shapes are those of the example: s77=4"));
  const Json longer = run_json({"--pt2", file, "-s", "s77=6", "-s", "s27=12", "--device", "interpreter"});
  EXPECT_TRUE(longer["right"]);
  const measure::TemporaryFolder folder;
  const std::string archive = folder.file("x.npz");
  run_json({"-c", "torch.ones(2, 8, 4)", "--outputs", archive, "--device", "interpreter"});
  const std::string inputs = write_file(folder.path(), "inputs.yaml", "x: " + archive + ":0\n");
  expect_error({"--pt2", file, "--inputs", inputs}, 1,
               "inputs.yaml:1: expected the shape (4, 8, 4), found (2, 8, 4) (the sizes of dynamic_shapes are those of "
               "the example: s77=4");
}

// Weights of 4 and 8 bits. The reference here is the one that the tests of Pt2 compare with PyTorch's values.
TEST(Run, PackedWeights) {
  for (const char* name : {"packed", "packed_core_aten"})
    for (const char* device : {"opencl", "interpreter"}) {
      const std::string file = fmt::format("{}/tests/data/pt2/{}_2.15.0.pt2", DEPLO_SOURCE_DIR, name);
      const Json report = run_json({"--pt2", file, "--device", device});
      EXPECT_TRUE(report["right"]) << name << device;
      EXPECT_EQ(report["kernels"].size(), 4U) << name << ": one for each product";
    }
}

TEST(Run, InfinityAndNotANumberAsInTheReference) {
  EXPECT_EQ(run({"-c", "x = torch.randn(3); y = x - x; (1 / y, torch.log(y), y / y)"}).code, 0);
}

TEST(Run, TheSameSeedGivesTheSame) {
  const auto errors = [](const char* seed) {
    return run_json({"-c", "torch.randn(40, 50) @ torch.randn(50, 60)", "--seed", seed})["outputs"][0]["error"];
  };
  EXPECT_EQ(errors("1"), errors("1"));
  EXPECT_NE(errors("1"), errors("2"));
}

TEST(Run, EqualKernelsAreBuiltOnceAndBuffersShared) {
  const Json report = run_json({"-c",
                                "x = torch.randn(32, 32); a = torch.randn(32, 32)\n"
                                "for_1 = x @ a; for_2 = for_1 @ a; for_3 = for_2 @ a; for_3 @ a @ a"});
  ASSERT_EQ(report["kernels"].size(), 5u);
  for (const Json& kernel : report["kernels"]) EXPECT_EQ(kernel["first"], 0);
  EXPECT_LT(report["buffer_bytes"], report["tensor_bytes"]);
}

TEST(Run, AGraphAsAWhole) {
  for (const char* device : {"opencl", "interpreter"}) {
    const Json report = run_json({"--whole", "-c", attention, "--attention", "split", "--device", device});
    ASSERT_GT(report["kernels"].size(), 1U);
    EXPECT_EQ(report["samples_us"].size(), 15U);
    EXPECT_GT(report["microseconds"], 0);
    EXPECT_GT(report["warm_us"], 0);
    EXPECT_TRUE(report["right"]) << "as the kernels one by one";
    EXPECT_EQ(report["outputs"].size(), 1U);
  }
  // The interpreter's time is a count of statements, so the time of the whole graph is the sum.
  const Json counted = run_json({"--whole", "-c", attention, "--device", "interpreter"});
  double sum = 0;
  for (const Json& kernel : counted["kernels"]) sum += double(kernel["microseconds"]);
  EXPECT_NEAR(counted["microseconds"], sum, 1e-6 * sum);
  EXPECT_FALSE(run_json({"-c", "torch.randn(5)"}).contains("microseconds"));
  expect_error({"--whole", "--bench", "-c", attention}, 1,
               "bench: expected one of its flags, found '--whole', a flag of run");
}

// One run can read the outputs of another.
TEST(Run, OutputsAreWritten) {
  const measure::TemporaryFolder folder;
  run_json({"-c", "x = torch.randn(3, 5); (x * 2, x.sum())", "--outputs", folder.file("new/out")});
  const std::string file = folder.file("new/out/0.npy"), scalar = folder.file("new/out/1.npy");
  const std::string inputs = write_file(folder.path(), "inputs.yaml", "y: " + file + "\ns: " + scalar + "\n");
  // The result is 0 only if both inputs are the outputs of the first run.
  const Json again = run_json({"-c", "y = torch.randn(3, 5); s = torch.randn(()); y.sum() / 2 - s", "--inputs", inputs,
                               "--outputs", folder.file("again")});
  EXPECT_TRUE(again["right"]);
  const float zero = measure::read_npy(folder.file("again/0.npy"), {ir::DType::f32, {}}).at(0);
  EXPECT_NEAR(zero, 0, 1e-5);
  const std::string all = write_file(folder.path(), "all.yaml", "x: " + file + "\n");
  run_json({"--whole", "-c", "x = torch.randn(3, 5); x / 2 + 1", "--inputs", all, "--outputs", folder.file("whole")});
  const std::vector<float> of = measure::read_npy(file, {ir::DType::f32, {3, 5}});
  const std::vector<float> whole = measure::read_npy(folder.file("whole/0.npy"), {ir::DType::f32, {3, 5}});
  for (std::size_t i = 0; i < of.size(); ++i) EXPECT_FLOAT_EQ(whole[i], of[i] / 2 + 1);
  expect_error({"-c", "torch.randn(5)", "--outputs", inputs}, 2, "--outputs: cannot create the folder");
  expect_error({"-c", "torch.randn(5)", "--outputs", folder.file("y.npy")}, 1,
               "--outputs: expected a folder or FILE.npz, found '");
  EXPECT_FALSE(std::filesystem::exists(folder.file("y.npy")));
}

// The archive is the only file that is written. Another run can read its arrays as inputs by their names.
TEST(Run, OutputsInOneArchive) {
  const measure::TemporaryFolder folder;
  const std::string archive = folder.file("out.npz");
  run_json({"-c", "x = torch.arange(15).reshape(3, 5); (x * 2, torch.ones(2, 3), x[:0])", "--outputs", archive});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  const ir::torch::Zip zip{archive};
  EXPECT_THAT(zip.names(), ::testing::ElementsAre("0.npy", "1.npy", "2.npy"));
  const std::string inputs = write_file(folder.path(), "inputs.yaml", "y: " + archive + ":0\n");
  const Json again = run_json({"-c", "y = torch.randint(0, 9, (3, 5)); (y == torch.arange(15).reshape(3, 5) * 2).all()",
                               "--inputs", inputs, "--outputs", folder.file("again")});
  EXPECT_TRUE(again["right"]);
  EXPECT_EQ(measure::read_npy(folder.file("again/0.npy"), {ir::DType::boolean, {}}).at(0), 1);
  expect_error({"-c", "torch.randn(5)", "--outputs", folder.file("none/out.npz")}, 2, "none/out.npz");
}

TEST(Run, OutputsOfARunThatIsNotValidAreNotWritten) {
  const measure::TemporaryFolder folder;
  const std::string inputs = write_file(folder.path(), "i.yaml", "i: constant(7)\n"), out = folder.file("none");
  expect_error(
      {"-c", "x = torch.randn(5, 3); i = torch.randint(0, 5, (2,)); x[i]", "--inputs", inputs, "--outputs", out}, 1,
      "expected an index from -5 to 4, found 7");
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Run, OutputsWithoutElements) {
  const measure::TemporaryFolder folder;
  const Json report =
      run_json({"-c", "x = torch.randn(3, 5); (x[:, 5:], x[3:].sum(0), x[:0] + 1)", "--outputs", folder.file("out")});
  EXPECT_TRUE(report["right"]);
  EXPECT_EQ(report["outputs"].size(), 3U);
  EXPECT_EQ(report["outputs"][2]["shape"], (std::vector<int>{0, 5}));
  EXPECT_EQ(measure::read_npy(folder.file("out/0.npy"), {ir::DType::f32, {3, 0}}).size(), 0U);
  EXPECT_EQ(measure::read_npy(folder.file("out/1.npy"), {ir::DType::f32, {5}}), std::vector<float>(5, 0));
  EXPECT_EQ(run_json({"-c", "torch.randn(0, 4) * 2"})["kernels"].size(), 0U);
}

TEST(Run, OverTheToleranceIsOne) {
  const Ran ran = run({"-c", "torch.randn(40, 50) @ torch.randn(50, 60)", "--tolerance", "1e-12"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("WRONG at ["));
}

TEST(Run, SchedulesOfTheStore) {
  const measure::TemporaryFolder folder;
  const char* const code = "torch.randn(8, 9) @ torch.randn(9, 10)";
  const std::string experiment = write_file(
      folder.path(), "x.yaml",
      fmt::format(
          "device: interpreter\nbudget: {{trials: 3}}\nkernels:\n  - {{name: m, key_parts: 4, expression: \"{}\"}}\n",
          code));
  const std::string store = folder.file("s.db");
  ASSERT_EQ(run_program({"deplo-tune", "--quiet", "--store", store, "--config", experiment}).code, 0);
  const Json tuned = run_json({"-c", code, "--device", "interpreter", "--tuned", store});
  EXPECT_EQ(tuned["kernels"][0]["schedule"], "tuned");
  EXPECT_TRUE(tuned["right"]);
  const Json other = run_json({"-c", "torch.exp(torch.randn(4))", "--device", "interpreter", "--tuned", store});
  EXPECT_EQ(other["kernels"][0]["schedule"], "heuristic");
  expect_error({"-c", code, "--tuned", folder.file("none.db")}, 1, "--tuned: expected the store of an earlier");
}

/// Makes a store with tuned kernels of an expression.
std::string tuned_store(const measure::TemporaryFolder& folder, const std::string& code, const char* device) {
  const std::string experiment = write_file(
      folder.path(), "tuned.yaml",
      fmt::format("device: {}\nbudget: {{trials: 2}}\nkernels:\n  - {{name: m, expression: \"{}\"}}\n", device, code));
  const std::string store = folder.file("tuned.db");
  EXPECT_EQ(run_program({"deplo-tune", "--quiet", "--store", store, "--config", experiment}).code, 0);
  return store;
}

TEST(Run, RequireTunedRunsMeasuredSchedulesOnly) {
  const measure::TemporaryFolder folder;
  const std::string code = "x = torch.randn(8, 9); F.softmax(x, dim=-1) @ torch.randn(9, 10)";
  const std::string store = tuned_store(folder, code, "interpreter");
  const auto with = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--device", "interpreter", "--require-tuned", "--tuned", store});
    return flags;
  };
  const Json ran = run_json(with({"-c", code}));
  for (const Json& kernel : ran["kernels"]) EXPECT_EQ(kernel["schedule"], "tuned");
  EXPECT_EQ(run(with({"-c", code, "--whole"})).code, 0);
  EXPECT_EQ(run(with({"-c", code, "--bench", "--time", "0"})).code, 0);
  EXPECT_EQ(run(with({"-c", code, "--bench", "--time", "0", "--store", folder.file("new.db")})).code, 0);
  // The error names every missing kernel with its nearest entry, and nothing is run, timed or written.
  const std::string other = "x = torch.randn(8, 19); F.softmax(x, dim=-1) @ torch.randn(19, 10)";
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"--whole"},
                                               {"--bench"},
                                               {"--no-measure"},
                                               {"--outputs", folder.file("out")},
                                               {"--bench", "--store", folder.file("none.db")}}) {
    std::vector<std::string> flags = with({"-c", other});
    flags.insert(flags.end(), more.begin(), more.end());
    expect_error(flags, 1, "--require-tuned: 2 kernels have no schedules that were measured on ");
    expect_error(flags, 1, "its sizes are (8, 9), ");
    expect_error(flags, 1, "; matmul: the nearest entry is m.matmul: its sizes are ");
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("out")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("none.db")));
  expect_error(with({"-c", "torch.exp(torch.randn(4))"}), 1, "a kernel has no schedule that was measured");
  expect_error(with({"-c", code, "--nearest"}), 1, "--nearest cannot be combined with --require-tuned");
  expect_error({"-c", code, "--bench", "--ab", "", "", "--require-tuned"}, 1,
               "--require-tuned cannot be combined with --ab");
  const Ran bare = run_program({"deplo", "run", "-c", code, "--device", "interpreter", "--require-tuned"},
                               {.environment = {"XDG_CACHE_HOME=" + folder.file("home")}});
  EXPECT_EQ(bare.code, 1);
  EXPECT_THAT(bare.err, HasSubstr("expected the store of an earlier `deplo tune`, found no file '" +
                                  folder.file("home") + "/deplo/tuned.db'"));
}

// A fingerprint does not depend on the inputs, which the seed draws.
TEST(Run, FingerprintsAreThoseOfTheOrder) {
  const auto flags = [](const char* seed) {
    return std::vector<std::string>{
        "-c", "F.softmax(torch.randn(4, 100), dim=-1)", "--no-measure", "--fingerprint", "--seed", seed};
  };
  const std::string found = run_json(flags("1"))["kernels"][0]["fingerprint"];
  EXPECT_THAT(found, ::testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(run_json(flags("2"))["kernels"][0]["fingerprint"], found);
  EXPECT_THAT(run(flags("1")).out, HasSubstr("fingerprint of 0 softmax: " + found + ", of each row "));
  EXPECT_EQ(run_json({"-c", "torch.randn(5) > 0", "--no-measure"})["kernels"][0]["fingerprint"], "");
}

TEST(Run, NoMeasureHasNoTimes) {
  for (const char* device : {"opencl", "interpreter"}) {
    const Json report = run_json({"--no-measure", "-c", attention, "--attention", "split", "--device", device});
    EXPECT_TRUE(report["right"]);
    ASSERT_GT(report["kernels"].size(), 1U);
    for (const Json& kernel : report["kernels"]) EXPECT_TRUE(kernel["microseconds"].is_null()) << kernel;
    const Ran table = run({"--no-measure", "-c", "torch.randn(5)", "--device", device});
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_THAT(table.out, ::testing::Not(HasSubstr("GFLOP/s")));
  }
  expect_error({"--no-measure", "--whole", "-c", attention}, 1, "--no-measure cannot be combined with --whole");
  expect_error({"--no-measure", "--bench", "-c", attention}, 1, "found '--no-measure', a flag of run");
}

// `tune` and `run` have the same kernels, because both derive them from the target's name.
TEST(Run, SchedulesOfKeysInParts) {
  const measure::TemporaryFolder folder;
  const std::string code = "q = torch.randn(1, 16); k = torch.randn(4099, 16); F.scaled_dot_product_attention(q, k, k)";
  const std::string experiment = write_file(
      folder.path(), "x.yaml",
      fmt::format(
          "device: opencl\nbudget: {{trials: 2}}\nkernels:\n  - {{name: m, key_parts: 4, expression: \"{}\"}}\n",
          code));
  const std::string store = folder.file("s.db");
  ASSERT_EQ(run_program({"deplo-tune", "--quiet", "--store", store, "--config", experiment}).code, 0);
  const Json tuned = run_json({"-c", code, "--device", "opencl", "--tuned", store, "--key-parts", "4"});
  ASSERT_EQ(tuned["kernels"].size(), 2);
  for (const Json& kernel : tuned["kernels"]) EXPECT_EQ(kernel["schedule"], "tuned") << kernel.dump();
  EXPECT_TRUE(tuned["right"]);
}

TEST(Run, ProvesTheEmittedSource) {
  const std::string code = "F.relu(torch.randn(8, 8) @ torch.randn(8, 8))";
  expect_error({"-c", code, "--prove", "--device", "interpreter"}, 1, "--prove requires a device of the PTX machine");
  expect_error({"-c", code, "--prove", "--json", "--device", "ptx:sm_90"}, 1, "cannot be combined with");
  if (!measure::cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  const Ran ran = run({"-c", code, "--prove", "--device", "ptx:sm_90:3"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "relu: proved\n");
}

TEST(Run, BadInput) {
  expect_error({}, 1,
               "expected one of -c CODE, --file FILE, --pt2 FILE, --model NAME, --tile FILE, --space FILE, found none");
  expect_error({"-c", "x"}, 1, "-c:1:1: expected");
  expect_error({"-c", "torch.randn(4)", "--file", "x.py"}, 1, "--code cannot be combined with --file");
  expect_error({"-c", "torch.randn(4)", "--device", "metal"}, 1, "--device: expected a device");
  expect_error({"-c", "torch.randn(4)", "--target", "sm_1"}, 1, "--target: expected a target");
  expect_error({"-c", "torch.randn(4)", "--target", "sm_90"}, 1, "expected a target in opencl for the device opencl");
  for (const char* tolerance : {"x", "-1", "nan", "inf", ""})
    expect_error({"-c", "torch.randn(4)", "--tolerance", tolerance}, 1, "--tolerance: expected a number between");
  for (const char* seed : {"x", "-1", "1.5"})
    expect_error({"-c", "torch.randn(4)", "--seed", seed}, 1, "--seed: expected an integer");
  if (measure::free_host_memory() < 60e9)
    expect_error({"-c", "torch.randn(100000, 75000) + 1"}, 2, "GB of free memory");
  expect_error({"-c", "F.embedding(torch.randint(5, 9, (3,)), torch.randn(5, 8))"}, 1, "embedding");
}

}  // namespace
}  // namespace deplo::testing
