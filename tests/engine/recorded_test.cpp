// Spaces of stores in the form that other tools get.
#include "engine/learn/recorded.h"

#include <gtest/gtest.h>

#include "engine/loop/kernel.h"
#include "ir/program.h"
#include "measure/store_fixture.h"

namespace deplo::engine {
namespace {

class ProblemSize : public ::testing::Test {
 protected:
  /// Returns the problem size of the only space of a store that has this text for its kernel.
  std::string of(const std::string& text) {
    const std::string path = folder_.file(std::to_string(++stores_) + ".db");
    {
      auto store = measure::Store::open(path);
      measure::Ids ids = measure::add_context(store);
      ids.kernel = store.add_kernel({"k", text});
      store.append(measure::some_trial(ids, 0, "BLOCK=8", 10));
    }
    const auto spaces = read_store(path);
    EXPECT_EQ(spaces.size(), 1U);
    return spaces.empty() ? "none" : spaces[0].problem_size;
  }

 private:
  measure::TemporaryFolder folder_;
  int stores_ = 0;
};

TEST_F(ProblemSize, OfAKernelFileIsItsSpaces) {
  const std::string arguments = "kernel file k\nargument n int = 256\nargument c float[65536] output\n";
  EXPECT_EQ(of(arguments + "problem 256 128\noption -O3\n__kernel void k() {}\n"), "[256, 128]");
  EXPECT_EQ(of(arguments + "option -O3\nproblem 3\n"), "[65536]") << "the source is no statement of sizes";
  EXPECT_EQ(of(arguments + "__kernel void k() {}\n"), "[65536]");
  EXPECT_EQ(of("kernel file k\nargument a float[16]\n__kernel void k() {}\n"), "");
  EXPECT_EQ(of(arguments + "problem 1],\"x\":[2\n"), "") << "the store of a stranger";
}

TEST_F(ProblemSize, OfAProgramIsItsFirstOutputs) {
  EXPECT_EQ(of(print(load_kernel("matmul", {{"M", 48}, {"N", 32}, {"K", 16}}, "test"))), "[48, 32]");
  EXPECT_EQ(of("a language of a later version"), "");
}

TEST_F(ProblemSize, OfATileProgramIsItsGrid) {
  EXPECT_EQ(of("tile program block by block, entry k, 4 x 2 x 1 blocks\narray x f32[4]\n"), "[4, 2, 1]");
}

}  // namespace
}  // namespace deplo::engine
