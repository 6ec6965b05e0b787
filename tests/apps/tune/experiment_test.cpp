#include "engine/source/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "apps/run_program.h"
#include "core/error.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::apps {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Returns the message of the Error that the text causes, without the folder before "x.yaml".
std::string message(const std::string& yaml) {
  const measure::TemporaryFolder folder;
  try {
    engine::load_experiment(deplo::testing::write_file(folder.path(), "x.yaml", yaml));
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), Exit::user);
    const std::string text = e.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << "one line";
    const std::string prefix = folder.path().string() + "/";
    EXPECT_TRUE(text.starts_with(prefix)) << text;
    return text.substr(prefix.size());
  }
  return "no error";
}

const std::string one_kernel = "kernels:\n  - {kernel: gelu, symbols: {M: 3, N: 5}}\n";

TEST(Experiment, ReadsAllFields) {
  const measure::TemporaryFolder folder;
  const engine::Experiment e = engine::load_experiment(deplo::testing::write_file(
      folder.path(), "x.yaml",
      "target: sm_90\ndevice: interpreter\nsearch: {strategy: mcts, seed: 7, parameters: {c: 0.25}}\n"
      "budget: {time: 1.5, trials: 2, patience: 3, goal: 1.02}\n"
      "kernels:\n  - {kernel: matmul, name: a, symbols: {M: 3, N: 4, K: 5}}\n"
      "  - {kernel: gelu, symbols: {M: 3, N: 5}}\n"));
  EXPECT_EQ(e.target, "sm_90");
  EXPECT_EQ(e.device, "interpreter");
  EXPECT_EQ(e.strategy, "mcts");
  EXPECT_EQ(e.options.seed, 7u);
  EXPECT_EQ(e.options.parameters.at("c"), "0.25");
  EXPECT_DOUBLE_EQ(e.seconds, 1.5);
  EXPECT_EQ(e.trials, 2);
  EXPECT_EQ(e.patience, 3);
  EXPECT_EQ(e.goal, 1.02);
  ASSERT_EQ(e.kernels.size(), 2u);
  EXPECT_EQ(e.kernels[0].name, "a");
  EXPECT_EQ(e.kernels[0].loop.find("a")->shape, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(e.kernels[1].name, "gelu.M3.N5");
}

TEST(Experiment, ChoosesNumbersOfTheProtocol) {
  const auto protocol = [](const std::string& yaml) {
    return engine::parse_experiment(yaml + one_kernel, "x.yaml", "").protocol;
  };
  EXPECT_EQ(protocol(""), measure::Protocol());
  const measure::Protocol read = protocol("protocol: {max_finalists: 1000, finalist_margin: 2.5, samples: 9}\n");
  measure::Protocol expected;
  expected.max_finalists = 1000;
  expected.finalist_margin = 2.5;
  expected.samples = 9;
  EXPECT_EQ(read, expected);
  EXPECT_NE(read.text(), measure::Protocol().text());
  EXPECT_EQ(message("protocol: {samples: 0}\n" + one_kernel),
            "x.yaml:1: expected an integer between 1 and 1000, found '0'");
  EXPECT_THAT(message("protocol: {rounds: many}\n" + one_kernel), HasSubstr("expected an integer"));
  EXPECT_THAT(message("protocol: {tolerance: 1}\n" + one_kernel), HasSubstr("found the key 'tolerance'"));
}

// smoke.yaml says that it shows every key.
TEST(Experiment, SmokeShowsEveryKey) {
  const std::string smoke = read_file(data_folder() / "experiments/smoke.yaml");
  for (const std::string& unknown :
       {"unknown: 1\n" + one_kernel, "search: {unknown: 1}\n" + one_kernel, "budget: {unknown: 1}\n" + one_kernel,
        "protocol: {unknown: 1}\n" + one_kernel, std::string("kernels:\n  - {kernel: matmul, unknown: 1}\n")}) {
    const std::string refusal = message(unknown), list = "expected one of ";
    const std::size_t begin = refusal.find(list), end = refusal.find(", found the key", begin);
    ASSERT_NE(end, std::string::npos) << refusal;
    std::istringstream keys(refusal.substr(begin + list.size(), end - begin - list.size()));
    for (std::string key; std::getline(keys >> std::ws, key, ',');) EXPECT_THAT(smoke, HasSubstr(key + ":"));
  }
}

TEST(Experiment, EveryShippedOneLoads) {
  const auto names = list_data("experiments", ".yaml");
  EXPECT_THAT(names, ::testing::IsSupersetOf({"blocks_bf16", "qwen_s512", "smoke", "suite84", "suite84_bf16",
                                              "suite84_f16", "tinyllama_block_s32", "tinyllama_s32"}));
  for (const auto& name : names) {
    if (name == "tile_samples") continue;  // its files are NVIDIA's and not in the repository
    EXPECT_GE(engine::load_experiment(data_folder() / "experiments" / (name + ".yaml")).kernels.size(), 1u) << name;
  }
}

TEST(Experiment, FloatsOfSixteenBits) {
  const std::string kernels =
      "kernels:\n  - {kernel: softmax, symbols: {M: 3, N: 5}}\n"
      "  - {name: a, expression: torch.randn(3) * 2}\n  - {name: b, expression: torch.randn(3) * 3, dtype: f16}\n";
  const auto types = [](const engine::Experiment& experiment) {
    std::vector<std::string> result;
    for (const engine::KernelCase& kernel : experiment.kernels)
      result.push_back(kernel.name + " " + std::string(name(kernel.loop.buffers.back().dtype)));
    return result;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(types(engine::parse_experiment(kernels, "x.yaml", "")),
              ElementsAre("softmax.M3.N5 f32", "a f32", "b f16"));
  const std::string in_bf16 = "dtype: bf16\n" + kernels;
  const auto all = ElementsAre("softmax.M3.N5.bf16 bf16", "a.bf16 bf16", "b f16");
  EXPECT_THAT(types(engine::parse_experiment(in_bf16, "x.yaml", "")), all);
  EXPECT_THAT(types(engine::parse_experiment(kernels, "x.yaml", "", {}, {ir::DType::bf16})), all);
  EXPECT_THAT(types(engine::parse_experiment(in_bf16, "x.yaml", "", {}, {ir::DType::f32})),
              ElementsAre("softmax.M3.N5 f32", "a f32", "b f16"));
  EXPECT_EQ(message("dtype: f64\n" + one_kernel),
            "x.yaml:1: expected a floating-point type (f32, f16 or bf16), found 'f64'");
}

TEST(Experiment, KeysAreInPartsAsTheTargetWantsThem) {
  const std::string decode =
      "kernels:\n  - {name: a, expression: \"q = torch.randn(4, 1, 16); k = torch.randn(1, 4096, 16); "
      "F.scaled_dot_product_attention(q, k, k, enable_gqa=True)\"}\n";
  const auto parts = [&](const std::string& place) {
    const auto kernels = engine::parse_experiment(place + decode, "x.yaml", "").kernels;
    return kernels.size() == 1 ? 1 : kernels.at(0).loop.buffers.back().shape.at(2);
  };
  EXPECT_EQ(parts("target: sm_90\n"), 16);
  EXPECT_EQ(parts("device: cuda\n"), 16) << "as sm_90";
  EXPECT_EQ(parts("target: opencl-cpu\n"), 2);
  EXPECT_EQ(parts("device: opencl\n"), 2) << "as opencl-cpu";
  EXPECT_EQ(parts("device: interpreter\n"), 2) << "as opencl-cpu";
}

// On targets with tensor cores, an attention of 16-bit floats becomes one kernel. A CUDA device counts as such a
// target.
TEST(Experiment, AttentionIsAsTheTargetWantsIt) {
  const std::string attention =
      "dtype: bf16\nkernels:\n  - {name: a, expression: \"q = torch.randn(2, 64, 32); "
      "F.scaled_dot_product_attention(q, q, q)\"}\n";
  const auto count = [](const std::string& yaml, const engine::Place& place = {}) {
    return engine::parse_experiment(yaml, "x.yaml", "", {}, {}, place).kernels.size();
  };
  EXPECT_EQ(count(attention), 3U);
  EXPECT_EQ(count("target: sm_90\n" + attention), 1U);
  EXPECT_EQ(count("device: cuda\n" + attention), 1U);
  EXPECT_EQ(count("device: cuda\n" + attention, {.device = "opencl"}), 3U);
  EXPECT_EQ(count(attention, {.target = "sm_80"}), 1U);
  EXPECT_EQ(count("target: sm_80\n" + attention, {.target = "opencl-gpu"}), 3U);
  EXPECT_THROW(count(attention, {.target = "sm_1"}), Error);
  EXPECT_EQ(count("attention: fused\n" + attention), 1U);
  EXPECT_EQ(count("device: cuda\nattention: split\n" + attention), 3U);
  EXPECT_EQ(count("attention: fused\nkey_parts: 2\n" + attention), 2U);
  EXPECT_EQ(message("attention: fussed\n" + one_kernel), "x.yaml:1: expected auto, fused or split, found 'fussed'");
  EXPECT_EQ(message("attention: split\nkey_parts: 2\n" + one_kernel),
            "x.yaml:1: key_parts: a number of parts cannot be combined with a split attention");
  EXPECT_THAT(message("kernels:\n  - {kernel: softmax, symbols: {M: 2, N: 3}, attention: fused}\n"),
              HasSubstr("found the key 'attention'"));
}

// allow_tf32 changes only kernels with products of f32. The names and the precision of other kernels stay the same.
TEST(Experiment, Tf32IsAllowedByName) {
  const std::string kernels =
      "kernels:\n  - {kernel: matmul, symbols: {M: 3, N: 5, K: 7}}\n  - {kernel: softmax, symbols: {M: 3, N: 5}}\n"
      "  - {kernel: matmul_add, symbols: {M: 3, N: 5, K: 7}, allow_tf32: false}\n"
      "  - {kernel: matmul_add, name: a, symbols: {M: 3, N: 5, K: 8}, allow_tf32: true}\n"
      "  - {kernel: matmul_add, name: b, symbols: {M: 3, N: 5, K: 8}, dtype: bf16}\n"
      "  - {name: c, expression: \"F.softmax(nn.Linear(8, 3)(torch.randn(5, 8)), 1)\"}\n";
  const auto allowed = [](const engine::Experiment& experiment) {
    std::vector<std::string> result;
    for (const engine::KernelCase& kernel : experiment.kernels)
      result.push_back(kernel.name + (kernel.loop.allow_tf32 ? " yes" : " no"));
    return result;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(allowed(engine::parse_experiment(kernels, "x.yaml", "")),
              ElementsAre("matmul.K7.M3.N5 no", "softmax.M3.N5 no", "matmul_add.K7.M3.N5 no", "a yes", "b no",
                          "c.linear no", "c.softmax no"));
  const auto all = ElementsAre("matmul.K7.M3.N5.tf32 yes", "softmax.M3.N5 no", "matmul_add.K7.M3.N5 no", "a yes",
                               "b no", "c.linear.tf32 yes", "c.softmax no");
  EXPECT_THAT(allowed(engine::parse_experiment("allow_tf32: true\n" + kernels, "x.yaml", "")), all);
  EXPECT_THAT(allowed(engine::parse_experiment("allow_tf32: false\n" + kernels, "x.yaml", "", {}, {{}, true})), all);
  EXPECT_EQ(message("allow_tf32: perhaps\n" + one_kernel), "x.yaml:1: expected true or false, found 'perhaps'");
}

TEST(Experiment, TakesTheKernelsOfAnother) {
  const auto folder = data_folder() / "experiments";
  const auto names = [](const engine::Experiment& experiment) {
    std::vector<std::string> result;
    for (const engine::KernelCase& kernel : experiment.kernels) result.push_back(kernel.name);
    return result;
  };
  EXPECT_EQ(names(engine::parse_experiment("kernels: smoke.yaml", "x.yaml", folder)),
            names(engine::load_experiment(folder / "smoke.yaml")));
  const auto rows = [&](const char* file) {
    std::int64_t count = 0;
    for (const engine::KernelCase& kernel : engine::load_experiment(folder / file).kernels) count += kernel.count();
    return count;
  };
  for (const char* file : {"suite84_bf16.yaml", "suite84_f16.yaml"})
    EXPECT_EQ(rows(file), rows("suite84.yaml") + 2 * 12) << "12 attentions, which are three kernels in 16 bits";
  EXPECT_EQ(message("kernels: nowhere.yaml"),
            "x.yaml:1: expected a list of kernels, or the file of another experiment, found 'nowhere.yaml'");
}

TEST(Experiment, BadKeysAndValuesNameTheirLine) {
  EXPECT_EQ(message("budgte: {time: 1}\n" + one_kernel),
            "x.yaml:1: expected one of name, target, device, dtype, allow_tf32, attention, key_parts, form, search, "
            "budget, "
            "protocol, restrict, family, kernels, "
            "found the key 'budgte'; "
            "did you mean 'budget'?");
  EXPECT_EQ(message("budget:\n  time: soon\n" + one_kernel),
            "x.yaml:2: expected a number between 0 and 2592000, found 'soon'");
  EXPECT_THAT(message("budget:\n  time: 1\n  trials: 0\n" + one_kernel),
              HasSubstr("x.yaml:3: expected an integer between 1 and"));
  EXPECT_THAT(message("search:\n  seed: -1\n" + one_kernel), HasSubstr("x.yaml:2: expected an integer of at least 0"));
  EXPECT_THAT(
      message("search: {strategy: mtcs}\n" + one_kernel),
      AllOf(HasSubstr("x.yaml:1: expected a strategy (default, "), HasSubstr("found 'mtcs'; did you mean 'mcts'?")));
  EXPECT_EQ(message("search:\n  strategy: mcts\n  parameters:\n    c: much\n" + one_kernel),
            "x.yaml:4: c: expected a number between 0 and 1000, found 'much'");
  EXPECT_THAT(message("search:\n  strategy: mcts\n  parameters: {x: 1}\n" + one_kernel),
              AllOf(HasSubstr("x.yaml:3: expected a hyperparameter of mcts (c"), HasSubstr("found 'x'")));
  EXPECT_EQ(message("search: {strategy: heuristic, parameters: {c: 1}}\n" + one_kernel),
            "x.yaml:1: expected a hyperparameter of heuristic (it has none), found 'c'");
  EXPECT_THAT(message("search: mcts\n" + one_kernel), HasSubstr("x.yaml:1: expected a map (key: value), found 'mcts'"));
  EXPECT_THAT(message("\ntarget: sm_70\n" + one_kernel), HasSubstr("x.yaml:2: expected a target (auto, "));
  EXPECT_THAT(message("device: vulkan\n" + one_kernel), HasSubstr("x.yaml:1: expected a device (cuda, "));
}

TEST(Experiment, BadKernelsNameTheirLine) {
  EXPECT_EQ(message("target: auto\n"), "x.yaml:1: expected the key 'kernels', found a map without it");
  EXPECT_EQ(message("kernels: []\n"), "x.yaml:1: expected at least one kernel, found an empty list");
  EXPECT_EQ(message("kernels: gelu\n"), "x.yaml:1: expected a list, found 'gelu'");
  EXPECT_EQ(message("kernels:\n  - {symbols: {M: 1}}\n"),
            "x.yaml:2: expected one of the keys kernel, expression, pt2, model, tile, space, found none of them");
  EXPECT_THAT(message("kernels:\n  - {kernel: gelo, symbols: {M: 1, N: 1}}\n"),
              EndsWith("or the path of a .loop file, found 'gelo'; did you mean 'gelu'?"));
  EXPECT_EQ(message("kernels:\n  - kernel: gelu\n    symbols: {M: 3}\n"),
            "x.yaml:3: expected the symbols M, N of kernel 'gelu', found no value for 'N'");
  EXPECT_EQ(message("kernels:\n  - {kernel: gelu, symbols: {M: 3, N: 5, K: 1}}\n"),
            "x.yaml:2: expected the symbols M, N of kernel 'gelu', found the symbol 'K'");
  EXPECT_EQ(message("kernels:\n  - {kernel: gelu, symbols: {M: 0, N: 5}}\n"),
            "x.yaml:2: expected an integer between 1 and 2147483648, found '0'");
  EXPECT_THAT(message("kernels:\n  - {kernel: gelu, symbols: {M: 1048576, N: 1048576}}\n"),
              HasSubstr("x.yaml:2: expected buffers of at most 64 GB"));
  EXPECT_THAT(message(one_kernel + "  - {kernel: gelu, symbols: {M: 3, N: 5}}\n"),
              HasSubstr("x.yaml:3: expected each name once, found 'gelu.M3.N5' again"));
}

TEST(Experiment, GraphsGiveAllTheirKernels) {
  const measure::TemporaryFolder folder;
  deplo::testing::write_file(folder.path(), "small.yaml",
                             read_file(data_folder() / "configs/models/tinyllama-1.1b.yaml"));
  const engine::Experiment e = engine::load_experiment(deplo::testing::write_file(
      folder.path(), "x.yaml",
      "kernels:\n  - {name: soft, expression: \"F.softmax(torch.randn(19, 61), dim=-1)\"}\n"
      "  - name: two\n    expression: |\n      x = torch.randn(8, 8)\n      F.log_softmax(x @ x, dim=-1) @ x\n"
      "  - {model: small.yaml, seq: 7}\n"));
  EXPECT_EQ(e.kernels[0].name, "soft");
  EXPECT_EQ(e.kernels[0].place.substr(e.kernels[0].place.rfind('/')), "/x.yaml:2");
  EXPECT_THAT(e.kernels[1].name, ::testing::StartsWith("two."));
  EXPECT_THAT(e.kernels.back().name, ::testing::StartsWith("small.layer0.s7."));
  for (const engine::KernelCase& kernel : e.kernels) EXPECT_EQ(ir::verify(kernel.loop), "") << kernel.name;
}

TEST(Experiment, EqualKernelsAreOneThatCountsForAll) {
  const measure::TemporaryFolder folder;
  const engine::Experiment e = engine::load_experiment(deplo::testing::write_file(
      folder.path(), "x.yaml",
      one_kernel + "  - {kernel: softmax, symbols: {M: 3, N: 5}}\n"
                   "  - {name: again, expression: \"y = torch.randn(3, 5); F.softmax(y, dim=1)\"}\n"
                   "  - {name: third, expression: \"F.softmax(torch.randn(3, 5), dim=-1)\"}\n"
                   "  - {name: other, expression: \"F.softmax(torch.randn(3, 6), dim=-1)\"}\n"));
  ASSERT_EQ(e.kernels.size(), 3u);
  EXPECT_EQ(e.kernels[1].name, "softmax.M3.N5");
  EXPECT_THAT(e.kernels[1].same, ::testing::ElementsAre("again", "third"));
  EXPECT_EQ(e.kernels[1].count(), 3);
  EXPECT_EQ(e.kernels[2].name, "other");
  EXPECT_EQ(e.kernels[2].count(), 1);
}

TEST(Experiment, BadGraphsNameTheirLine) {
  const auto entry = [](const std::string& text) { return message("kernels:\n  - " + text + "\n"); };
  EXPECT_EQ(entry("{kernel: gelu, expression: x}"),
            "x.yaml:2: expected one of the keys kernel, expression, pt2, model, tile, space, found several");
  EXPECT_EQ(entry("{expression: \"torch.randn(3)\"}"), "x.yaml:2: expected the key 'name', found a map without it");
  EXPECT_THAT(entry("{name: a, expression: \"torch.rand(\"}"), ::testing::StartsWith("x.yaml:2: expression:1:"));
  EXPECT_THAT(entry("{name: a, expression: \"torch.randn(3).nonzero()\"}"), ::testing::StartsWith("x.yaml:2: "));
  EXPECT_THAT(entry("{name: a, expression: \"torch.exp(torch.randn(3))\", symbols: {M: 1}}"),
              HasSubstr("expected an expression that uses M"));
  EXPECT_THAT(entry("{name: a, expression: \"torch.exp(torch.randn(1000000, 1000000))\"}"), HasSubstr("at most 64 GB"));
  EXPECT_THAT(entry("{pt2: nowhere.pt2}"), HasSubstr("x.yaml:2: nowhere.pt2"));
  EXPECT_THAT(entry("{model: gpt-5, seq: 1}"), HasSubstr("x.yaml:2: "));
  EXPECT_THAT(entry("{model: qwen2.5-7b}"), HasSubstr("x.yaml:2: expected the key 'seq'"));
  EXPECT_THAT(entry("{model: qwen2.5-7b, seq: 0}"), HasSubstr("x.yaml:2: expected an integer between 1 and"));
  EXPECT_THAT(entry("{model: qwen2.5-7b, seq: 4, layer: 28}"), HasSubstr("x.yaml:2: "));
  EXPECT_THAT(entry("gelu"), HasSubstr("x.yaml:2: expected a map"));
  EXPECT_THAT(message("kernels:\n  - {name: a, expression: \"torch.exp(torch.randn(3))\"}\n"
                      "  - {name: a, expression: \"torch.exp(torch.randn(4))\"}\n"),
              HasSubstr("x.yaml:3: expected each name once, found 'a' again"));
}

TEST(Experiment, AUsersOwnKernelFile) {
  const measure::TemporaryFolder folder;
  const std::string text = read_file(data_folder() / "configs/kernels/gelu.loop");
  const std::string kernel = deplo::testing::write_file(folder.path(), "mine.loop", text);
  const auto yaml = [&](const std::string& file) {
    return "kernels:\n  - {kernel: " + file + ", symbols: {M: 3, N: 5}}\n";
  };
  // the kernel's absolute path, and its path relative to the experiment
  for (const std::string& name : {kernel, std::string("mine.loop")})
    EXPECT_EQ(
        engine::load_experiment(deplo::testing::write_file(folder.path(), "x.yaml", yaml(name))).kernels.at(0).name,
        "mine.M3.N5");
  deplo::testing::write_file(folder.path(), "mine.loop", text + "for");
  try {
    engine::load_experiment(deplo::testing::write_file(folder.path(), "x.yaml", yaml(kernel)));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::StartsWith(kernel + ":"));
  }
  EXPECT_THROW(engine::load_experiment(deplo::testing::write_file(folder.path(), "x.yaml", yaml("/nowhere.loop"))),
               Error);
}

}  // namespace
}  // namespace deplo::apps
