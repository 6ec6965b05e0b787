// Mistakes of users: each gives one clear line and the right exit code, and leaves the store undamaged.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/cuda/cuda.h"
#include "measure/host_memory.h"
#include "measure/mount.h"
#include "measure/opencl/opencl.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;

class BadInput : public ::testing::Test {
 protected:
  /// Expects this exit code, one line on stderr that contains `text`, and nothing on stdout.
  void expect(const std::vector<std::string>& words, int code, const std::string& text, const How& how = {}) {
    const Ran ran = run_program(words, how);
    EXPECT_EQ(ran.code, code) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(text));
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << "one line: " << ran.err;
  }
  void expect_tune(const std::string& yaml, int code, const std::string& text,
                   const std::vector<std::string>& flags = {}) {
    std::vector<std::string> words{"deplo-tune", "--quiet",  "--store",
                                   store(),      "--config", write_file(folder_.path(), "x.yaml", yaml)};
    words.insert(words.end(), flags.begin(), flags.end());
    expect(words, code, text);
  }
  std::string store() const { return folder_.file("s.db"); }

  measure::TemporaryFolder folder_;
  const std::string good_ = "device: interpreter\nkernels:\n  - {kernel: gelu, symbols: {M: 2, N: 3}}\n";
};

TEST_F(BadInput, Flags) {
  expect({"deplo", "tun"}, 1, "tun");
  expect({"deplo-tune"}, 1, "expected the flag --config FILE");
  expect({"deplo-tune", "--confg", "x.yaml"}, 1, "--confg");
  for (const char* time : {"soon", "nan", "inf", "-1", "1e99", "", "5s"})
    expect_tune(good_, 1, fmt::format("--time: expected a number between 0 and 2592000, found '{}'", time),
                {"--time", time});
  for (const char* trials : {"0", "-1", "1.5", "99999999999999999999"})
    expect_tune(good_, 1, fmt::format("--trials: expected an integer between 1 and 1000000000, found '{}'", trials),
                {"--trials", trials});
  for (const char* seed : {"-1", "99999999999999999999"})
    expect_tune(good_, 1, "--seed: expected an integer between 0 and 9223372036854775807, found", {"--seed", seed});
  expect_tune(good_, 1, "--patience: expected a value, found none", {"--patience"});
  expect_tune(good_, 1, "--search: expected a strategy (default, ", {"--search", "mtcs"});
  expect_tune(good_, 1, "heuristic, exec:COMMAND), found 'execute'", {"--search", "execute"});
  expect_tune(good_, 1,
              "--search: expected a strategy without hyperparameters, found 'mcts:c=2'; set them with --set c=2",
              {"--search", "mcts:c=2"});
  expect_tune(good_, 1, "--set: expected NAME=VALUE, found 'c'", {"--search", "mcts", "--set", "c"});
  expect_tune(good_, 1, "--set: c: expected a number between 0 and 1000, found '-1'",
              {"--search", "mcts", "--set", "c=1", "--set", "c=-1"});
  expect_tune(good_, 1, "--set: expected a hyperparameter of mcts (c", {"--search", "mcts", "--set", "x=1"});
  expect_tune(good_, 1, "--device: expected a device", {"--device", "vulkan"});
  expect_tune(good_, 1, "--target: expected a target", {"--target", "sm_1"});
  expect_tune(good_, 1, "expected a target in opencl for the device interpreter, found sm_90 (cuda)",
              {"--target", "sm_90"});
  for (const char* device :
       {"opencl:x", "opencl:", "opencl:-1", "opencl:99999999999999999999", "interpreter:0", "cuda:x", "cuda:"})
    expect_tune(
        good_, 1,
        fmt::format("--device: expected a device (cuda, cuda:N, opencl, opencl:N, interpreter, ptx:sm_N), found '{}'",
                    device),
        {"--device", device});
}

// `-o "$OUT"` passes an empty value if OUT is not set.
TEST_F(BadInput, EmptyPaths) {
  const std::string code = "torch.randn(4) + 1";
  expect_tune(good_, 1, "--store: expected a file, found ''; see deplo-tune --help", {"--store", ""});
  expect_tune(good_, 1, "--warm-start: expected a store, found ''", {"--warm-start", ""});
  expect({"deplo", "report", store(), "-o", ""}, 1, "--output: expected a file, found ''; see deplo report --help");
  expect({"deplo", "report", store(), "--svg", ""}, 1, "--svg: expected a folder, found ''");
  expect({"deplo", "report", ""}, 1, "files: expected a file, found ''");
  expect({"deplo", "compile", "-c", code, "-o", ""}, 1, "--output: expected a file, found ''");
  expect({"deplo", "compile", "-c", code, "--ir", ""}, 1, "--ir: expected a level, found ''");
  expect({"deplo", "compile", "-c", code, "--target", ""}, 1, "--target: expected a target, found ''");
  expect({"deplo", "run", "-c", code, "--inputs", ""}, 1, "--inputs: expected a file, found ''");
  expect({"deplo", "check", "--cuda", "x.cu", "--grid", ""}, 1, "--grid: expected extents such as 64,2, found ''");
}

// The experiment of one source is in no file, so no line is named.
TEST_F(BadInput, OneSource) {
  const auto tune = [&](const std::vector<std::string>& source, const std::string& text) {
    std::vector<std::string> words{"deplo-tune", "--quiet", "--store", store()};
    words.insert(words.end(), source.begin(), source.end());
    expect(words, 1, "deplo: " + text);
  };
  tune({"-c", ""}, "-c: expected an expression such as torch.exp(torch.randn(8)), found none");
  tune({"-c", "x +"}, "-c:1:4: expected an expression");
  tune({"-k", "nosuch"}, "--kernel: expected a kernel (");
  tune({"-k", "gelu"}, "--kernel: expected the symbols ");
  tune({"-k", "nosuch.loop"}, "nosuch.loop: expected a readable file");
}

TEST_F(BadInput, ADeviceThatIsNotThere) {
  if (measure::cuda_devices().empty()) expect_tune(good_, 2, "NVIDIA driver", {"--device", "cuda:1"});
}

TEST_F(BadInput, Experiments) {
  expect({"deplo-tune", "--config", "/nowhere/x.yaml"}, 1, "/nowhere/x.yaml: expected a readable file");
  expect({"deplo-tune", "--config", folder_.path()}, 1, "expected a file, found a folder");
  expect({"deplo-tune", "--config", "two\nlines"}, 1, "two\\x0alines: expected a readable file");
  expect({"deplo-tune", "--config", "/dev/zero"}, 1, "expected a file of at most 64 MiB");
  expect_tune("", 1, "x.yaml:1: expected a map");
  expect_tune("1", 1, "x.yaml:1: expected a map");
  expect_tune("kernels: [\n", 1, "expected YAML");
  expect_tune("kernels:\n  - {kernel: gelo, symbols: {M: 2, N: 3}}\n", 1, "x.yaml:2: expected a kernel (");
  expect_tune("search: {strategy: best}\n" + good_, 1, "x.yaml:1: expected a strategy (");
  expect_tune("search: {strategy: \"mcts:c=2\"}\n" + good_, 1, "found 'mcts:c=2'; set them with `parameters`");
  expect_tune("tme: 1\n" + good_, 1, "x.yaml:1: expected one of");
}

// A message quotes what it found in the file, which may be as long as the file.
TEST_F(BadInput, MessagesStayShort) {
  const std::string yaml = write_file(folder_.path(), "x.yaml", "target: " + std::string(200'000, 'x') + "\n" + good_);
  const Ran ran = run_program({"deplo-tune", "--quiet", "--store", store(), "--config", yaml});
  EXPECT_EQ(ran.code, 1);
  EXPECT_LT(ran.err.size(), 1100U);
  EXPECT_THAT(ran.err, HasSubstr("x.yaml:1: expected a target"));
}

TEST_F(BadInput, Stores) {
  const std::string text = write_file(folder_.path(), "text.db", std::string(5000, 'x'));
  expect_tune(good_, 1, "text.db", {"--store", text});
  EXPECT_EQ(read_file(text), std::string(5000, 'x')) << "left as it was";
  expect_tune(good_, 1, "does not exist", {"--store", folder_.file("no/s.db")});
  expect_tune(good_, 1, "found a directory", {"--store", folder_.path()});
  const auto child = folder_.path() / "readonly";
  std::filesystem::create_directory(child);
  std::filesystem::permissions(child, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  // Root may write everywhere except where no disk is, such as /proc.
  expect_tune(good_, 2, "store ", {"--store", geteuid() == 0 ? "/proc/s.db" : (child / "s.db").string()});
}

TEST_F(BadInput, NoOpenClDevice) {
  const std::string yaml =
      write_file(folder_.path(), "x.yaml", "device: opencl\nkernels:\n  - {kernel: gelu, symbols: {M: 2, N: 3}}\n");
  const How no_driver{.environment = {"OCL_ICD_VENDORS=/nonexistent"}};
  expect({"deplo-tune", "--quiet", "--store", store(), "--config", yaml}, 2, "expected an installed driver", no_driver);
  const Ran devices = run_program({"deplo", "devices"}, no_driver);
  EXPECT_EQ(devices.code, 0);
  EXPECT_THAT(devices.out, ::testing::StartsWith("interpreter"));
  EXPECT_THAT(devices.out, ::testing::HasSubstr("\nopencl       not usable: no OpenCL device: expected an installed"));
}

// Regression test: PoCL or LLVM ended the process with a message of its own.
TEST_F(BadInput, LimitsThatAreTooSmallForADriver) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes terabytes of address space";
#endif
  const std::vector<std::string> words{"deplo", "run", "-c", "torch.relu(torch.randn(7))", "--no-measure"};
  expect(words, 2, "no OpenCL device: a driver needs ", {.max_memory = 300'000'000});
  expect(words, 2, "expected a limit of at least 1024 KiB for a file, found 64 KiB; see `ulimit -f`",
         {.largest_file = 64 << 10});
}

TEST_F(BadInput, FullDiskStopsWithTheStoreIntact) {
  const std::string yaml =
      write_file(folder_.path(), "x.yaml",
                 "device: interpreter\nsearch: {strategy: random}\nbudget: {trials: 1000, patience: 1000}\n"
                 "kernels:\n  - {kernel: matmul, symbols: {M: 4, N: 6, K: 8}}\n");
  expect({"deplo-tune", "--quiet", "--store", store(), "--config", yaml}, 2, "store ", {.largest_file = 150'000});
  measure::sqlite::Database database(store());
  measure::sqlite::Statement check(database, "PRAGMA integrity_check");
  ASSERT_TRUE(check.step());
  EXPECT_EQ(check.text(0), "ok");
  EXPECT_GT(database.integer("SELECT count(*) FROM trial"), 0) << "what was measured before is there";
}

TEST_F(BadInput, NoMoreThreads) {
  constexpr unsigned nobody = 65534;
  if (run_program({"deplo", "--version"}, {.user = nobody}).code != 0)
    GTEST_SKIP() << "only root can become another user, who must be able to run the program";
  expect({"deplo", "space", "-k", "gelu", "-s", "M=2", "-s", "N=3", "--target", "sm_90"}, 2,
         "deplo: cannot start a thread: Resource temporarily unavailable", {.user = nobody, .max_processes = 1});
}

// PoCL says that the source is wrong if it cannot write its files.
TEST_F(BadInput, AFullDiskOfTheCompilerIsNoCandidatesFault) {
  if (measure::opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const measure::Mount disk("1m");
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a tmpfs";
  disk.fill();
  const Ran ran = run_program({"deplo-tune", "--quiet", "--store", store(), "--device", "opencl", "--trials", "3", "-k",
                               "gelu", "-s", "M=2", "-s", "N=3"},
                              {.environment = {"POCL_CACHE_DIR=" + disk.path().string()}});
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("No space left on device"));
  measure::sqlite::Database database(store());
  EXPECT_EQ(database.integer("SELECT count(*) FROM trial"), 0);
}

TEST_F(BadInput, Kernels) {
  const std::string head = "=== loop: mine ===\nsymbols N\ninput x: f32[N]\noutput y: f32[N]\n";
  const auto expect_kernel = [&](const std::string& text, int code, const std::string& message,
                                 const char* size = "7") {
    write_file(folder_.path(), "mine.loop", text);
    expect_tune(fmt::format("device: interpreter\nkernels:\n  - {{kernel: mine.loop, symbols: {{N: {}}}}}\n", size),
                code, message);
  };
  expect_kernel(head, 1, "mine.loop: expected a kernel that writes all its outputs, found no write to 'y'");
  const std::string loop = "for a0 in 0..N: # free\n  in0 = load x[a0]\n";
  expect_kernel(head + loop, 1, "found no write to 'y'");
  expect_kernel("=== loop: mine ===\nsymbols N\ninput x: f32[N]\n" + loop, 1, "expected at least one output");
  expect_kernel(head + loop + "  float = exp(in0)\n  y[a0] = float\n", 1,
                "reserved in OpenCL C or CUDA C++, found 'float'");
  expect_kernel(
      "=== loop: mine ===\nsymbols N\ninput x: f32[N, N]\noutput y: f32[N, N] strides=(1, 1)\n"
      "for a0 in 0..N: # free\n  for a1 in 0..N: # free\n    in0 = load x[a0, a1]\n    y[a0, a1] = in0\n",
      1, "mine: output `y` has elements [1, 0] and [0, 1] at the same address");
  // A kernel that cannot be tuned is left out. The table is still printed, with the reason.
  const auto expect_left_out = [&](const std::string& body, const std::string& message, const char* size = "7") {
    write_file(folder_.path(), "mine.loop", head + loop + body);
    const std::string yaml =
        write_file(folder_.path(), "x.yaml",
                   fmt::format("device: interpreter\nkernels:\n  - {{kernel: mine.loop, symbols: {{N: {}}}}}\n", size));
    const Ran ran = run_program({"deplo-tune", "--quiet", "--store", store(), "--config", yaml});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr(message));
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(fmt::format("mine.N{} cannot be tuned: kernel mine: expected", size)));
  };
  expect_left_out("  v0 = divide(in0, 0)\n  y[a0] = v0\n", "kernel mine: expected finite results");
  expect_left_out("  v0 = multiply(in0, 1e60)\n  y[a0] = v0\n", "kernel mine: expected finite results");
  if (measure::free_host_memory() < 1e12)
    expect_left_out("  y[a0] = in0\n", "GB of free memory for its arrays and its check", "2147483648");
}

TEST_F(BadInput, RecordedSpaces) {
  const std::string store = folder_.file("recorded.db");
  const auto expect_space = [&](const std::string& text, const std::string& message) {
    const std::string file = write_file(folder_.path(), "space.json", text);
    expect({"deplo", "compare", "--spaces", file}, 1, message);
    expect({"deplo", "db", "import", file, "--store", store}, 1, message);
  };
  expect_space(R"({"cache":{"1":{"a":1,"time":1e400}}})",
               "space.json: expected a Kernel Tuner cache or T4 results in "
               "JSON: number overflow parsing '1e400'");
  expect_space(R"({"results": [{"configuration": {"a": 1e999}}]})", "number overflow parsing '1e999'");
  expect_space("[]", "space.json: expected a recorded space, found a JSON array");
  expect_space("", "found nothing");
  expect_space("\xef\xbb\xbf", "found nothing");
  expect_space(std::string("\xff\xfe{\0", 4), "found UTF-16; save it as UTF-8");
  const std::string line = R"({"kernel": "k", "expression": "torch.randn(3) * 2", "library": "l", "variant": "v", )"
                           R"("version": "1", "precision": "fp32", "status": "ok", "message": "", "samples": [1], )"
                           R"("median_us": 1, "protocol": "p", "date": "d", "device": "d", "threads": )";
  const auto expect_lines = [&](const std::string& text, const std::string& message) {
    expect({"deplo", "db", "import", write_file(folder_.path(), "lines.jsonl", text), "--store", store}, 1, message);
  };
  expect_lines(line + "1e400}\n", "lines.jsonl:1: expected a line of torch_suite.py");
  expect_lines(line + "1e300}\n", "lines.jsonl:1: expected 'threads' as an integer");
  expect_lines(line + "1, \"batch\": 1e300}\n", "lines.jsonl:1: expected 'batch' as an integer");
  EXPECT_FALSE(std::filesystem::exists(store)) << "read before the store is touched";
  const std::string deep = "{\"deplo\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  expect({"deplo", "report", write_file(folder_.path(), "deep.json", deep)}, 1, "expected a store, or a comparison");
}

TEST_F(BadInput, ClosedOutputHarmsNoStore) {
  const How how{.no_output = true};
  expect({"deplo-tune", "--quiet", "--store", store(), "--config", write_file(folder_.path(), "x.yaml", good_)}, 2,
         "cannot write to standard output: Bad file descriptor", how);
  measure::sqlite::Database database(store());
  EXPECT_EQ(database.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
  EXPECT_GT(database.integer("SELECT count(*) FROM trial"), 0);
}

TEST_F(BadInput, Compile) {
  expect({"deplo", "compile"}, 1, "--kernel NAME, --tile FILE, --space FILE, found none");
  expect({"deplo", "compile", "-k", "matmull"}, 1, "did you mean 'matmul'?");
  expect({"deplo", "compile", "-k", "gelu", "-s", "M=2"}, 1,
         "--kernel: expected the symbols M, N of kernel 'gelu', found no value for 'N'");
  expect({"deplo", "compile", "-k", "gelu", "-s", "M=2", "-s", "N"}, 1, "--symbol: expected NAME=SIZE");
  expect({"deplo", "compile", "-k", "gelu", "-s", "M=2", "-s", "M=3"}, 1,
         "--symbol: expected each symbol once, found M twice");
  const std::vector<std::string> gelu{"deplo", "compile", "-k", "gelu", "-s", "M=2", "-s", "N=3"};
  const auto with = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), gelu.begin(), gelu.end());
    return flags;
  };
  expect(with({"--ir", "llvm"}), 1,
         "--ir: expected a level (loop, tile, kernel, cuda, opencl, ptx, cubin, sass), found 'llvm'");
  expect(with({"--target", "sm_91"}), 1, "did you mean 'sm_90'?");
  expect(with({"--target", "sm_90", "--ir", "opencl"}), 1,
         "--ir: expected cuda, ptx, cubin, sass (or loop, tile, kernel) for the target sm_90, found opencl");
  expect(with({"--schedule", "nonsense"}), 1, "nonsense");
  const std::string loop = write_file(folder_.path(), "f.loop", "=== loop: f ===\n");
  expect({"deplo", "compile", "-k", loop, "-s", "N=4"}, 1, "--kernel: expected no symbols of kernel '");
  expect(with({"--schedule", "no_rule.knob=1"}), 1, "no_rule.knob");
}

}  // namespace
}  // namespace deplo::testing
