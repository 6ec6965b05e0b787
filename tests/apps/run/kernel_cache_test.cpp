// Compiled kernels that are damaged on disk: every command compiles them again, and leaves no temporary files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "apps/run_program.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KernelCache : public ::testing::Test {
 protected:
  Ran run(std::vector<std::string> words, int killed_after_ms = -1) const {
    const std::string home = folder_.path().string();
    return run_program(std::move(words), {.environment = {"HOME=" + home, "XDG_CACHE_HOME=" + home + "/cache",
                                                          "POCL_CACHE_DIR=" + home + "/pocl", "TMPDIR=" + home},
                                          .signal_after_ms = killed_after_ms,
                                          .signal = 9});
  }
  Ran run_softmax() const { return run({"deplo", "run", "-c", "torch.softmax(torch.rand(16, 32), dim=1)"}); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      if (entry.is_regular_file()) all.push_back(entry.path());
    return all;
  }
  /// Truncates every file that a run has left, except stores and experiments, to the fraction `part` of its size.
  /// Returns the number of these files.
  std::size_t truncate(double part) const {
    std::size_t count = 0;
    for (const fs::path& file : files()) {
      const bool spared = file.string().find(".db") != std::string::npos || file.extension() == ".yaml";
      if (spared || fs::file_size(file) == 0) continue;
      fs::resize_file(file, static_cast<std::uintmax_t>(part * static_cast<double>(fs::file_size(file))));
      ++count;
    }
    return count;
  }
  measure::TemporaryFolder folder_;
};

TEST_F(KernelCache, DamagedFilesAreMadeAgain) {
  ASSERT_EQ(run_softmax().code, 0);
  for (const double part : {0.0, 0.5, 0.97}) {
    EXPECT_GT(truncate(part), 0U) << "what was compiled is kept";
    const Ran ran = run_softmax();
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("right"));
  }
  truncate(0.5);
  const Ran bench = run({"deplo", "run", "--bench", "-c", "torch.softmax(torch.rand(16, 32), dim=1)"});
  EXPECT_EQ(bench.code, 0) << bench.err;
  truncate(0.5);
  const std::string config = write_file(folder_.path(), "c.yaml",
                                        "budget: {time: 3000, trials: 2}\nkernels:\n"
                                        "  - {kernel: softmax, symbols: {M: 16, N: 32}}\n");
  for (const char* program : {"deplo", "deplo-tune"}) {
    std::vector<std::string> words{program};
    if (program == std::string("deplo")) words.emplace_back("tune");
    for (const std::string word : {"--config", config.c_str(), "--retry-failed", "--quiet"}) words.push_back(word);
    words.insert(words.end(), {"--store", folder_.file(std::string(program) + ".db")});
    const Ran tuned = run(words);
    EXPECT_EQ(tuned.code, 0) << tuned.err;
    const Ran failures = run({"deplo", "db", "failures", words.back()});
    EXPECT_THAT(failures.out, ::testing::Not(HasSubstr("build_crash")));
    truncate(0.5);
  }
}

TEST_F(KernelCache, NothingTemporaryIsLeft) {
  ASSERT_EQ(run_softmax().code, 0);
  EXPECT_THAT(left_behind(folder_.path()), IsEmpty());
  for (const int after_ms : {150, 300, 600, 1200})
    run({"deplo", "run", "-c", "torch.softmax(torch.rand(16, 33), dim=1)"}, after_ms);
  ASSERT_EQ(run_softmax().code, 0);
  EXPECT_THAT(left_behind(folder_.path()), IsEmpty()) << "the next command clears up after those that were killed";
}

// More kernels than one process builds alone: the later ones come from builder processes.
TEST_F(KernelCache, BuildersLeaveTheirKernelsInTheCache) {
  const std::vector<std::string> command{
      "deplo", "run", "-c",
      "x = torch.rand(8, 24); (x.softmax(-1), x.cumsum(1), x @ x.t(), x.sum(0), x.argmax(1), x.sort().values)"};
  const Ran first = run(command);
  EXPECT_EQ(first.code, 0) << first.err;
  const auto compiled = files().size();
  EXPECT_THAT(left_behind(folder_.path()), IsEmpty());
  const Ran second = run(command);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(files().size(), compiled) << "everything is in the cache";
}

}  // namespace
}  // namespace deplo::testing
