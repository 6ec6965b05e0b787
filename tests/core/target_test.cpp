#include "core/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"

namespace deplo {
namespace {

TEST(Target, EveryFileLoads) {
  const auto names = list_data("configs/targets", ".yaml");
  EXPECT_THAT(names, ::testing::IsSupersetOf({"opencl-cpu", "opencl-gpu", "sm_80", "sm_90", "sm_120"}));
  for (const auto& name : names) {
    const Target target = load_target(name);
    EXPECT_EQ(target.name, name);
    EXPECT_EQ(target.dialect == Dialect::cuda, name.starts_with("sm_"));
    EXPECT_EQ(target.warp == 1, target.cpu);
  }
}

TEST(Target, UnknownNamesAreAnsweredWithThoseThatExist) {
  try {
    load_target("sm_9");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("sm_120, sm_80, sm_90), found 'sm_9'; did you mean 'sm_"));
  }
  EXPECT_THROW(load_target("../targets/sm_90"), Error);
  EXPECT_THROW(load_target(""), Error);
}

}  // namespace
}  // namespace deplo
