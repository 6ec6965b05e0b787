#include "core/text/select_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace deplo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<std::string> names = {"matmul.K61.M33", "matmul_add.K4", "softmax", "softmax.N9", "softmax"};

std::vector<std::size_t> select(const std::string& filter) {
  return select_names("--kernel", "a kernel", filter, names);
}

TEST(SelectNames, TheNameItselfElseItsBeginningOrAPattern) {
  EXPECT_THAT(select(""), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(select("softmax"), ElementsAre(2, 4)) << "and not softmax.N9";
  EXPECT_THAT(select("softmax."), ElementsAre(3));
  EXPECT_THAT(select("matmul"), ElementsAre(0, 1));
  EXPECT_THAT(select("matmul.*"), ElementsAre(0));
  EXPECT_THAT(select("*.[KN]?"), ElementsAre(1, 3));
  EXPECT_THAT(select("*K*M*"), ElementsAre(0));
}

TEST(SelectNames, NoneIsAnErrorThatNamesWhatThereIs) {
  EXPECT_THAT([] { select("sofmax"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("--kernel: expected a kernel (matmul.K61.M33, matmul_add.K4, "
                                                   "softmax, softmax.N9), found 'sofmax'"),
                                         HasSubstr("did you mean 'softmax'?"))));
  EXPECT_THAT([] { select("matmol"); }, ThrowsMessage<Error>(HasSubstr("did you mean 'matmul'?")));
  EXPECT_THAT([] { select("add*"); }, ThrowsMessage<Error>(HasSubstr("found 'add*'")));
  const std::vector<std::string> many = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"};
  EXPECT_THAT([&] { select_names("--kernel", "a kernel", "x", many); },
              ThrowsMessage<Error>(HasSubstr("k, l and 2 more), found 'x'")));
  EXPECT_THAT([] { select_names("--kernel", "a kernel", "x", {}); },
              ThrowsMessage<Error>(HasSubstr("(there is none), found 'x'")));
}

}  // namespace
}  // namespace deplo
