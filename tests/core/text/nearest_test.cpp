// Tests which name is suggested for a misspelled word.
#include <gtest/gtest.h>

#include "core/text/nearest.h"

namespace deplo::nearest_test {
namespace {

TEST(DidYouMean, SwappedLettersAreOneChange) {
  const std::vector<std::string> flags = {"--code", "--kernel", "--model", "--seed"};
  EXPECT_EQ(did_you_mean("--sede", flags), "; did you mean '--seed'?");
  EXPECT_EQ(did_you_mean("--modle", flags), "; did you mean '--model'?");
  EXPECT_EQ(did_you_mean("ba", {"ab"}), "; did you mean 'ab'?");
}

TEST(DidYouMean, OtherChangesAreOneEach) {
  EXPECT_EQ(did_you_mean("sofmax", {"matmul", "softmax"}), "; did you mean 'softmax'?");
  EXPECT_EQ(did_you_mean("rmssnorn", {"layernorm", "rmsnorm"}), "; did you mean 'rmsnorm'?");
}

TEST(DidYouMean, NothingForAnotherWord) {
  EXPECT_EQ(did_you_mean("conv", {"softmax", "matmul"}), "");
  EXPECT_EQ(did_you_mean("x", {"y"}), "");
  EXPECT_EQ(did_you_mean("foo", {"cos", "log"}), "");
  EXPECT_EQ(did_you_mean("load", {"log", "round"}), "");
  EXPECT_EQ(did_you_mean("", {"y"}), "");
}

}  // namespace
}  // namespace deplo::nearest_test
