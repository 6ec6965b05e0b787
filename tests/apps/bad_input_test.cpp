// What a careless user does: each gives one clear line, the right exit code, and no damaged store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;

class BadInput : public ::testing::Test {
 protected:
  /// Expects that code and one line on stderr with that text, nothing on stdout.
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
  expect({"deplo"}, 1, "expected a command (tune, compile, devices), found none");
  expect({"deplo", "tun"}, 1, "tun");
  expect({"deplo-tune"}, 1, "expected the flag --config FILE");
  expect({"deplo-tune", "--confg", "x.yaml"}, 1, "--confg");
  expect_tune(good_, 1, "--time", {"--time", "soon"});
  expect_tune(good_, 1, "--trials", {"--trials", "0"});
  expect_tune(good_, 1, "--seed", {"--seed", "-1"});
  expect_tune(good_, 1, "--search: expected a searcher (mcts, random, exhaustive, heuristic), found 'mtcs'",
              {"--search", "mtcs"});
  expect_tune(good_, 1, "--device: expected a device", {"--device", "cuda"});
  expect_tune(good_, 1, "--target: expected a target", {"--target", "sm_1"});
  expect_tune(good_, 1, "expected a target in opencl for the device interpreter, found sm_90 (cuda)",
              {"--target", "sm_90"});
  expect_tune(good_, 1, "opencl:x", {"--device", "opencl:x"});
}

TEST_F(BadInput, Experiments) {
  expect({"deplo-tune", "--config", "/nowhere/x.yaml"}, 1, "/nowhere/x.yaml: expected a readable file");
  expect({"deplo-tune", "--config", folder_.path()}, 1, "expected a file, found a folder");
  expect_tune("", 1, "x.yaml:1: expected a map");
  expect_tune("kernels: [\n", 1, "expected YAML");
  expect_tune("kernels:\n  - {kernel: gelo, symbols: {M: 2, N: 3}}\n", 1, "x.yaml:2: expected a kernel (");
  expect_tune("search: {strategy: best}\n" + good_, 1, "x.yaml:1: expected a searcher (");
  expect_tune("tme: 1\n" + good_, 1, "x.yaml:1: expected one of");
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
  // Root may write everywhere but where there is no disk.
  expect_tune(good_, 2, "store ", {"--store", geteuid() == 0 ? "/proc/s.db" : (child / "s.db").string()});
}

TEST_F(BadInput, NoOpenClDevice) {
  const std::string yaml =
      write_file(folder_.path(), "x.yaml", "device: opencl\nkernels:\n  - {kernel: gelu, symbols: {M: 2, N: 3}}\n");
  const How no_driver{{"OCL_ICD_VENDORS=/nonexistent"}, -1, -1};
  expect({"deplo-tune", "--quiet", "--store", store(), "--config", yaml}, 2, "OpenCL", no_driver);
  const Ran devices = run_program({"deplo", "devices"}, no_driver);
  EXPECT_EQ(devices.code, 0);
  EXPECT_THAT(devices.out, ::testing::StartsWith("interpreter"));
}

TEST_F(BadInput, FullDiskStopsWithTheStoreIntact) {
  const std::string yaml =
      write_file(folder_.path(), "x.yaml",
                 "device: interpreter\nsearch: {strategy: random}\nbudget: {trials: 1000, patience: 1000}\n"
                 "kernels:\n  - {kernel: matmul, symbols: {M: 4, N: 6, K: 8}}\n");
  expect({"deplo-tune", "--quiet", "--store", store(), "--config", yaml}, 2, "store ", {{}, -1, 150'000});
  measure::Database database(store());
  measure::Statement check(database, "PRAGMA integrity_check");
  ASSERT_TRUE(check.step());
  EXPECT_EQ(check.text(0), "ok");
  EXPECT_GT(database.integer("SELECT count(*) FROM trial"), 0) << "what was measured before is there";
}

TEST_F(BadInput, Compile) {
  expect({"deplo", "compile"}, 1, "expected the flag --kernel NAME");
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
  expect(with({"--ir", "ptx"}), 1, "--ir");
  expect(with({"--target", "sm_91"}), 1, "did you mean 'sm_90'?");
  expect(with({"--target", "sm_90", "--ir", "opencl"}), 1,
         "--ir: expected cuda (or loop, tile, kernel) for the target sm_90, found opencl");
  expect(with({"--schedule", "nonsense"}), 1, "nonsense");
  expect(with({"--schedule", "no_rule.knob=1"}), 1, "no_rule.knob");
}

}  // namespace
}  // namespace deplo::testing
