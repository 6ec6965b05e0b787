// `deplo compile` of graphs, as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "apps/cli/columns.h"
#include "apps/run_program.h"
#include "core/text/text.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/store_fixture.h"

namespace deplo::testing::compile_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const char* const rms_norm = "nn.RMSNorm(2048)(torch.randn(1,32,2048))";
const char* const two_kernels = "x = torch.randn(8, 8); F.log_softmax(x @ x, dim=-1) @ x";

Ran compile(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"deplo", "compile"});
  return run_program(flags);
}

std::string good(const std::vector<std::string>& flags) {
  const Ran ran = compile(flags);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  return ran.out;
}

void expect_error(const std::vector<std::string>& flags, const std::string& text) {
  const Ran ran = compile(flags);
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(text));
  EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << "one line: " << ran.err;
}

TEST(CompileGraph, EveryLevel) {
  const auto at = [](const char* level) { return good({"-c", rms_norm, "--ir", level}); };
  EXPECT_THAT(at("torch"), StartsWith("# Graph: "));
  EXPECT_THAT(at("torch"), HasSubstr("rms_norm(x, p_weight"));
  EXPECT_THAT(at("tensor"), HasSubstr("sum("));
  EXPECT_THAT(at("loop"), StartsWith("# 0: x, p_weight -> rms_norm\n=== loop: rms_norm ===\n"));
  EXPECT_THAT(at("tile"), HasSubstr("=== tile: rms_norm ==="));
  EXPECT_THAT(at("kernel"), HasSubstr("=== kernel: rms_norm ==="));
  EXPECT_THAT(at("cuda"), StartsWith("// 0: x, p_weight -> rms_norm\n"));
  EXPECT_THAT(at("cuda"), HasSubstr("__global__"));
  EXPECT_THAT(at("opencl"), HasSubstr("__kernel"));
  EXPECT_EQ(good({"-c", rms_norm}), at("opencl"));
}

TEST(CompileKernel, BanksOfStagedBuffers) {
  const std::vector<std::string> matmul{"-k", "matmul", "-s", "M=64", "-s", "N=64", "-s", "K=64", "--smem"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> flags = matmul;
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  };
  EXPECT_THAT(good(matmul), StartsWith("matmul on sm_90: "));
  EXPECT_THAT(good(matmul), HasSubstr("\na_smem = a: "));
  EXPECT_THAT(good(with({"-v"})), StartsWith(">>> t:tileify\n"));
  EXPECT_THAT(good({"-c", two_kernels, "--smem", "--target", "sm_80"}), HasSubstr("# 1: "));
  expect_error(with({"--ir", "tile"}), "--ir cannot be combined with --smem");
  expect_error({"-c", two_kernels, "--smem", "--summary"}, "--summary cannot be combined with --smem");
}

TEST(CompileKernel, WithoutALevelTheTargetChoosesTheLanguage) {
  const std::vector<std::string> gelu{"-k", "gelu", "-s", "M=2", "-s", "N=3"};
  std::vector<std::string> gpu = gelu;
  gpu.insert(gpu.end(), {"--target", "sm_90"});
  EXPECT_THAT(good(gelu), HasSubstr("__kernel"));
  EXPECT_THAT(good(gpu), HasSubstr("__global__"));
}

TEST(CompileKernel, ProvesSchedules) {
  const std::vector<std::string> matmul{"-k", "matmul", "-s", "M=33", "-s", "N=20", "-s", "K=65", "--prove"};
  EXPECT_EQ(good(matmul), "matmul: proved\n");
  std::vector<std::string> gpu = matmul, bits = matmul;
  gpu.insert(gpu.end(), {"--target", "sm_90"});
  EXPECT_EQ(good(gpu), "matmul: proved\n");
  bits.insert(bits.end(), {"--ir", "tile"});
  expect_error(bits, "--prove: expected --ir kernel or ptx, found --ir tile");
  const std::string two = good({"-c", two_kernels, "--prove", "--target", "sm_80"});
  EXPECT_THAT(two, StartsWith("matmul: proved\n"));
  EXPECT_EQ(std::ranges::count(two, '\n'), 3) << two;
}

TEST(CompileKernel, ProvesPtx) {
  if (!measure::cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  const std::vector<std::string> matmul{"-k", "matmul", "-s",   "M=33", "-s",     "N=20",
                                        "-s", "K=65",   "--ir", "ptx",  "--prove"};
  EXPECT_EQ(good(matmul), "matmul: proved\n");
}

TEST(CompileGraph, PassesAndGuard) {
  const std::string code = "torch.exp(torch.neg(torch.randn(16))[5:8])";
  EXPECT_THAT(good({"-c", code, "--ir", "loop", "--passes", "dol"}), HasSubstr("# 2: "));
  EXPECT_THAT(good({"-c", code, "--ir", "loop"}), Not(HasSubstr("# 1: ")));
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  const std::string maps = "torch.randn(4, 8).T[2:4]";  // two index maps, which are composed into one
  EXPECT_EQ(lines(good({"-c", maps, "--ir", "tensor", "--passes", "d"})),
            lines(good({"-c", maps, "--ir", "tensor", "--passes", "do"})) + 1);
  EXPECT_THAT(good({"-c", two_kernels, "--ir", "loop"}), HasSubstr("# 1: "));
  const std::string unguarded = good({"-c", two_kernels, "--ir", "loop", "--no-guard"});
  EXPECT_LT(lines(unguarded), 200);
  const std::string attention = "q = torch.randn(17, 8); F.scaled_dot_product_attention(q, q, q)";
  EXPECT_THAT(good({"-c", attention, "--summary"}), HasSubstr("1 kernel,"));
  EXPECT_THAT(good({"-c", attention, "--summary", "--attention=split"}), HasSubstr("3 kernels,"));
  EXPECT_THAT(good({"-c", attention, "--summary", "--dtype", "bf16"}), HasSubstr("3 kernels,"));
  EXPECT_THAT(good({"-c", attention, "--summary", "--dtype", "bf16", "--attention", "fused"}), HasSubstr("1 kernel,"));
  EXPECT_THAT(good({"-c", attention, "--ir", "kernel"}), HasSubstr("p_smem"));
  expect_error({"-c", attention, "--attention", "flash"}, "--attention: expected auto, fused or split, found 'flash'");
  expect_error({"--kernel", "softmax", "-s", "M=2", "-s", "N=2", "--attention", "split"},
               "--attention cannot be combined with --kernel, which is not a graph");
  expect_error({"-c", code, "--form", "elements"}, "--form cannot be combined with -c, which is not a tile program");
  expect_error({"-c", code, "--ir", "loop", "--passes", "do"},
               "--passes: expected dol or dolm for --ir loop, found 'do'");
  expect_error({"-c", code, "--passes", "x"}, "--passes: expected a prefix of dolm (d, do, dol, dolm), found 'x'");
}

TEST(CompileGraph, SaysWhyAttentionIsOneKernelOrSeveral) {
  const auto line = [](const std::string& code, const std::vector<std::string>& more) {
    std::vector<std::string> flags = {"-c", code, "--summary", "-vv"};
    flags.insert(flags.end(), more.begin(), more.end());
    const std::string text = good(flags);
    return text.substr(0, text.find('\n'));
  };
  const std::string plain = "q = torch.randn(8, 512, 16); o = F.scaled_dot_product_attention(q, q, q)";
  const std::string of_plain = "attention scaled_dot_product_attention of 8 x 512 x 512 scores: ";
  EXPECT_EQ(line(plain, {}),
            of_plain + "one kernel, because its scores of f32 stay on the chip (--attention split leaves 3)");
  EXPECT_EQ(line("q = torch.randn(8, 512, 128); o = F.scaled_dot_product_attention(q, q, q)", {"--target", "sm_90"}),
            of_plain + "3 kernels, because its heads of f32 are deep (--attention fused makes one)");
  EXPECT_EQ(line(plain, {"--attention", "fused"}), of_plain + "one kernel, as --attention fused says");
  EXPECT_EQ(line(plain, {"--attention", "split"}), of_plain + "3 kernels, as --attention split says");
  EXPECT_EQ(line(plain, {"--dtype", "bf16"}), of_plain +
                                                  "3 kernels, because its operands are 16-bit and the target has no "
                                                  "tensor cores (--attention fused makes one)");
  EXPECT_EQ(line(plain, {"--dtype", "bf16", "--target", "sm_80"}),
            of_plain + "one kernel, because tensor cores multiply its 16-bit operands (--attention split leaves 3)");
  EXPECT_EQ(
      line("q = torch.randn(8, 512, 24); o = F.scaled_dot_product_attention(q, q, q)",
           {"--dtype", "bf16", "--target", "sm_80"}),
      of_plain +
          "3 kernels, because its sizes do not fit the instructions of tensor cores (--attention fused makes one)");
  EXPECT_EQ(line("q = torch.randn(7, 8); F.softmax(q @ q.T, -1) @ torch.randn(7, 300)", {"--attention", "fused"}),
            "attention matmul_1 of 7 x 7 scores: several kernels, because the guard refuses one kernel: a score has "
            "more sums than a block can hold");
  EXPECT_EQ(line("q = torch.randn(7, 8); s = q @ q.T; (s - s.amax(-1, True)).exp() @ q", {}),
            "attention matmul_1: several kernels, because its sums are used without being divided by their total");
  EXPECT_EQ(line("F.softmax(torch.randn(7, 7), -1) @ torch.randn(7, 8)", {}),
            "attention matmul: several kernels, because its scores are read from memory");
  EXPECT_EQ(line("q = torch.randn(7, 8); s = q @ q.T; (F.softmax(s, -1) @ q, s)", {}),
            "attention matmul_1 of 7 x 7 scores: several kernels, because its scores are an output, or another kernel "
            "reads them");
  EXPECT_EQ(line("q = torch.randn(7, 8); p = F.softmax(q @ q.T, -1); (p @ q, p)", {}),
            "attention matmul_1: several kernels, because its probabilities are an output, or another kernel reads "
            "them");
  for (const char* none : {"F.softmax(torch.randn(7, 8), -1)", "x = torch.randn(7, 7); torch.exp(x) @ x",
                           "x = torch.randn(7, 7); p = F.softmax(x, -1); (p, p.sum(0))"})
    EXPECT_THAT(good({"-c", none, "--ir", "loop", "-vv"}), Not(HasSubstr("attention "))) << none;
  const std::string two =
      "q = torch.randn(7, 8); k = torch.randn(5, 8)\n"
      "F.scaled_dot_product_attention(q, k, k) + F.scaled_dot_product_attention(q * 2, k, k)";
  const std::string both = good({"-c", two, "--ir", "loop", "-v", "--attention", "fused"});
  EXPECT_THAT(both, StartsWith("attention scaled_dot_product_attention of 7 x 5 scores: one kernel"));
  EXPECT_THAT(both, HasSubstr("\nattention add of 7 x 5 scores: one kernel"));
  EXPECT_EQ(good({"-c", plain, "--ir", "tensor", "-vv"}),
            good({"-c", plain, "--ir", "tensor"}));  // nothing is fused at this level yet
}

TEST(CompileGraph, SaysWhyKeysAreInParts) {
  const auto line = [](const std::vector<std::string>& more) {
    std::vector<std::string> flags = {
        "-c", "q = torch.randn(1, 64); k = torch.randn(16384, 64); o = F.scaled_dot_product_attention(q, k, k)",
        "--summary", "-v"};
    flags.insert(flags.end(), more.begin(), more.end());
    const std::string text = good(flags);
    const std::size_t start = text.find("keys of ");
    return text.substr(start, text.find('\n', start) - start);
  };
  const std::string of = "keys of scaled_dot_product_attention: ";
  EXPECT_EQ(line({}), of + "2 parts of 8192, because of 1 block for 2 cores");
  EXPECT_EQ(line({"--target", "sm_90"}), of + "64 parts of 256, because of 1 block for 132 multiprocessors");
  EXPECT_EQ(line({"--key-parts", "3"}), of + "3 parts of 5462, as --key-parts says");
  EXPECT_EQ(line({"--key-parts", "1"}), of + "one part, as --key-parts says");
  expect_error({"-c", two_kernels, "--key-parts", "0"},
               "--key-parts: expected auto or a number between 1 and 2147483648, found '0'");
  expect_error({"-c", two_kernels, "--key-parts", "all"},
               "--key-parts: expected auto or a number between 1 and 2147483648, found 'all'");
  expect_error({"-c", two_kernels, "--key-parts", "2", "--attention", "split"},
               "--key-parts: a number of parts cannot be combined with a split attention");
  expect_error({"--kernel", "softmax", "-s", "M=2", "-s", "N=2", "--key-parts", "2"},
               "--key-parts cannot be combined with --kernel, which is not a graph");
}

TEST(CompileGraph, OneOfSeveralKernels) {
  const std::string all = good({"-c", two_kernels, "--ir", "loop"});
  const std::string second = good({"-c", two_kernels, "--ir", "loop", "--only", "1"});
  EXPECT_THAT(second, StartsWith("# 1: "));
  EXPECT_THAT(all, HasSubstr(second));
  const std::string header = "=== loop: ";
  const std::size_t begin = second.find(header) + header.size();
  const std::string name = second.substr(begin, second.find(' ', begin) - begin);
  EXPECT_EQ(good({"-c", two_kernels, "--ir", "loop", "--only", name}), second);
  for (const char* only : {"99", "-1", "1.5", "", "nothing"})
    expect_error({"-c", two_kernels, "--ir", "loop", "--only", only}, "--only: expected a kernel's number (0 … ");
}

TEST(CompileGraph, SchedulesAreOfASingleKernel) {
  const std::string verbose = good({"-c", two_kernels, "--only", "0", "--ir", "tile", "-v"});
  const std::size_t begin = verbose.find("schedule: ") + 10;
  const std::string schedule = verbose.substr(begin, verbose.find('\n', begin) - begin);
  EXPECT_EQ(good({"-c", two_kernels, "--only", "0", "--schedule", schedule}), good({"-c", two_kernels, "--only", "0"}));
  expect_error({"-c", two_kernels, "--schedule", schedule}, "--schedule: expected a single kernel, found ");
  expect_error({"-c", two_kernels, "--only", "0", "--schedule", "no_rule.knob=1"}, "no_rule.knob");
  expect_error({"-c", two_kernels, "--only", "0", "--schedule", schedule, "--ir", "loop"},
               "--schedule: expected a level below loop, found --ir loop");
}

// By default, `tune` writes the store that `compile --tuned` and `run` read.
TEST(CompileTuned, ByTheUsersOwnStore) {
  const measure::TemporaryFolder folder;
  const How home{.environment = {"XDG_CACHE_HOME=" + folder.path().string()}};
  const char* const code = "torch.randn(8, 9) @ torch.randn(9, 10)";
  const std::string experiment = write_file(
      folder.path(), "x.yaml",
      std::string("device: interpreter\nbudget: {trials: 3}\nkernels:\n  - {name: m, expression: \"") + code + "\"}\n");
  const std::vector<std::string> tuned{"deplo", "compile",  "-c",         code,     "--ir",
                                       "tile",  "--target", "opencl-gpu", "--tuned"};
  EXPECT_THAT(run_program(tuned, home).err, HasSubstr("found no file '" + folder.path().string() + "/deplo/tuned.db'"));
  ASSERT_EQ(run_program({"deplo-tune", "--quiet", "--config", experiment}, home).code, 0);
  const Ran ran = run_program(tuned, home);
  EXPECT_THAT(ran.out, HasSubstr("# schedule: tuned, measured ")) << ran.err;
  EXPECT_EQ(run_program({"deplo", "compile", "-c", code, "--ir", "tile"}, home).out,
            run_program({"deplo", "compile", "-c", code, "--ir", "tile"}).out)
      << "without the flag the store plays no part";
  const Ran run = run_program({"deplo", "run", "-c", code, "--device", "interpreter"}, home);
  EXPECT_THAT(run.out, HasSubstr("0  matmul  tuned, proved ")) << run.err;
  const auto refused = [&](std::vector<std::string> more) {
    std::vector<std::string> words = tuned;
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, home).err;
  };
  EXPECT_THAT(refused({"--schedule", "a.b=1"}), HasSubstr("--schedule cannot be combined with --tuned"));
  EXPECT_THAT(refused({"--tuned-on", "H100"}), HasSubstr("expected one device for opencl-gpu named 'H100'"));
  expect_error({"-c", code, "--nearest"}, "--nearest requires --tuned");
  expect_error({"-c", code, "--ir", "loop", "--tuned"}, "--tuned: expected a level below loop, found --ir loop");
  const Ran required = run_program(
      {"deplo", "compile", "-c", code, "--ir", "tile", "--target", "opencl-gpu", "--tuned", "--require-tuned"}, home);
  EXPECT_EQ(required.out, ran.out) << required.err;
  const Ran missing = run_program({"deplo", "compile", "-c", "torch.randn(8, 9) @ torch.randn(9, 20)", "--target",
                                   "opencl-gpu", "--tuned", "--require-tuned"},
                                  home);
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.out, "");
  EXPECT_THAT(missing.err, HasSubstr("--require-tuned: a kernel has no schedule that was measured on "));
  EXPECT_THAT(missing.err, HasSubstr("its sizes are (8, 9), (9, 10), (8, 10), not (8, 9), (9, 20), (8, 20)"));
  EXPECT_THAT(refused({"--require-tuned", "--nearest"}),
              HasSubstr("--nearest cannot be combined with --require-tuned"));
  expect_error({"-c", code, "--require-tuned"}, "--require-tuned requires --tuned");
}

TEST(CompileGraph, Summary) {
  const std::string text = good({"--model", "qwen2.5-7b", "--layer", "0", "--seq", "512", "--ir", "loop", "--summary"});
  EXPECT_THAT(text, HasSubstr("kernel"));
  EXPECT_THAT(text, HasSubstr("FLOP/byte"));
  EXPECT_THAT(text, HasSubstr(" distinct\n"));
  EXPECT_THAT(text, HasSubstr("  as "));
  EXPECT_EQ(good({"--model", "qwen2.5-7b", "--seq", "512", "--summary"}), text) << "layer 0 and --ir loop by default";
  expect_error({"-c", rms_norm, "--summary", "--ir", "cuda"},
               "--summary cannot be combined with --ir cuda, only with --ir loop");
}

TEST(CompileGraph, Verbose) {
  EXPECT_THAT(good({"-c", rms_norm, "--ir", "tile", "-v"}), HasSubstr(">>> t:"));
  EXPECT_THAT(good({"-c", rms_norm, "--ir", "tile", "-vv"}), HasSubstr("@@ "));
}

TEST(CompileGraph, Files) {
  const measure::TemporaryFolder folder;
  const std::string file = write_file(folder.path(), "f.py", "x = torch.randn(8)\n\ntorch.relu(x)\n");
  EXPECT_THAT(good({"--file", file, "--ir", "loop"}), HasSubstr("relu(in0)"));
  const std::string bad = write_file(folder.path(), "g.py", "x = torch.randn(8)\ntorch.rely(x)\n");
  const std::string marked = write_file(folder.path(), "marked.py", "\xef\xbb\xbftorch.relu(torch.randn(8))\n");
  EXPECT_THAT(good({"--file", marked, "--ir", "loop"}), HasSubstr("relu(in0)")) << "as Windows' editors write it";
  expect_error({"--file", bad}, "g.py:2:");
  expect_error({"--file", "/nowhere/f.py"}, "/nowhere/f.py: expected a readable file");
  expect_error({"--file", folder.path()}, "expected a file, found a folder");
  expect_error({"--pt2", "/nowhere/f.pt2"}, "/nowhere/f.pt2");
  expect_error({"--pt2", file}, "f.py: expected");
}

TEST(CompileGraph, BadSources) {
  expect_error({},
               "expected one of -c CODE, --file FILE, --pt2 FILE, --model NAME, --kernel NAME, --tile FILE, --space "
               "FILE, found none");
  expect_error({"-c", rms_norm, "--model", "qwen2.5-7b", "--seq", "1"}, "--code cannot be combined with --model");
  expect_error({"-c", rms_norm, "-k", "gelu"}, "--code cannot be combined with --kernel");
  expect_error({"-c", ""}, "expected an expression");
  expect_error({"-c", " \n ; "}, "expected");
  expect_error({"-c", "torch.randn(4"}, "-c:1:");
  expect_error({"-c", "torch.randm(4)"}, "-c:1:");
  expect_error({"-c"}, "--code: expected a value, found none");
  expect_error({"--model", "qwen2.5-8b", "--seq", "1"}, "qwen2.5-7b");
  expect_error({"--model", "qwen2.5-7b"}, "--model requires --seq");
  for (const char* seq : {"0", "-1", "x", "1.5"})
    expect_error({"--model", "qwen2.5-7b", "--seq", seq}, "--seq: expected an integer between 1 and");
  expect_error({"--model", "qwen2.5-7b", "--seq", "1", "--layer", "28"}, "layer");
  expect_error({"--model", "qwen2.5-7b", "--seq", "2147483648"}, "expected");
  expect_error({"-c", rms_norm, "--seq", "4"}, "--seq requires --model");
  expect_error({"-c", rms_norm, "-s", "M=3"}, "expected an expression that uses M");
  for (const char* flag : {"--summary", "--no-guard"})
    expect_error({"-k", "gelu", "-s", "M=2", "-s", "N=3", flag},
                 fmt::format("--kernel cannot be combined with {}", flag));
  expect_error({"-c", rms_norm, "--ir", "llvm"},
               "--ir: expected a level (torch, tensor, loop, tile, kernel, cuda, opencl, ptx, cubin, sass), found "
               "'llvm'");
  expect_error({"-k", "gelu", "-s", "M=2", "-s", "N=3", "--ir", "torch"}, "--ir: expected a level (loop, ");
}

TEST(AlignColumns, FitsTheWindow) {
  const std::vector<std::vector<std::string>> rows{{"a", "µs", "name"}, {"long", "1234", "a name that is long"}};
  EXPECT_EQ(apps::align_columns(rows, {false, true, false}, 0), "a       µs  name\nlong  1234  a name that is long\n");
  std::istringstream lines(apps::align_columns(rows, {false, true, false}, 20));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 20u) << line;
}

TEST(AlignColumns, LeavesSpareColumnsOutBeforeItStacks) {
  const std::vector<std::vector<std::string>> rows{{"name", "x", "y"}, {"a", "1", "2"}, {"b", "3", "4"}};
  constexpr std::string_view spare[] = {"x"};
  const auto aligned = [&](std::size_t width) { return apps::align_columns(rows, {false, true, true}, width, spare); };
  EXPECT_EQ(aligned(10), "name  x  y\na     1  2\nb     3  4\n");
  EXPECT_EQ(aligned(7), "name  y\na     2\nb     4\n");
  EXPECT_EQ(aligned(6), "a\n  x 1\n  y 2\n\nb\n  x 3\n  y 4\n") << "with all of them";
}

}  // namespace
}  // namespace deplo::testing::compile_test
