#include "core/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"

namespace deplo {
namespace {

TEST(Target, EveryFileLoads) {
  const auto names = list_data("configs/targets", ".yaml");
  EXPECT_THAT(names, ::testing::IsSupersetOf({"opencl-cpu", "opencl-cpu-avx2", "opencl-gpu", "sm_80", "sm_86", "sm_89",
                                              "sm_90", "sm_100", "sm_120"}));
  for (const auto& name : names) {
    const Target target = load_target(name);
    EXPECT_EQ(target.name, name);
    EXPECT_EQ(target.dialect == Dialect::cuda, name.starts_with("sm_"));
    EXPECT_EQ(target.warp == 1, target.cpu);
  }
}

// The limits of each compute capability. Most generations differ in them, so the test finds a file with the limits of
// another generation.
TEST(Target, LimitsOfComputeCapabilities) {
  struct Row {
    const char* name;
    std::int64_t shared_kib, threads, blocks;
    bool tma;
  };
  for (const Row& row :
       {Row{"sm_80", 164, 2048, 32, false}, Row{"sm_86", 100, 1536, 16, false}, Row{"sm_89", 100, 1536, 24, false},
        Row{"sm_90", 228, 2048, 32, true}, Row{"sm_100", 228, 2048, 32, true}, Row{"sm_120", 100, 1536, 24, true}}) {
    const Target target = load_target(row.name);
    EXPECT_EQ(target.unit_shared_bytes, row.shared_kib * 1024) << row.name;
    EXPECT_EQ(target.shared_bytes, (row.shared_kib - 1) * 1024) << row.name;
    EXPECT_EQ(target.unit_threads, row.threads) << row.name;
    EXPECT_EQ(target.unit_blocks, row.blocks) << row.name;
    EXPECT_EQ(target.tma, row.tma) << row.name;
    EXPECT_TRUE(target.shuffle && target.atomic_add && target.async_copy) << row.name;
    EXPECT_EQ(target.unit_registers, 65536) << row.name;
  }
}

TEST(Target, CpusHaveNoneOfWhatGpusDo) {
  const Target cpu = load_target("opencl-cpu"), gpu = load_target("opencl-gpu");
  EXPECT_FALSE(cpu.shuffle || cpu.async_copy || cpu.tma);
  EXPECT_FALSE(gpu.shuffle || gpu.async_copy || gpu.tma);
  EXPECT_TRUE(gpu.atomic_add);
}

TEST(Target, ArchitecturesHaveACapability) {
  EXPECT_EQ(compute_capability("sm_80"), 80);
  EXPECT_EQ(compute_capability("sm_90a"), 90);
  EXPECT_EQ(compute_capability("sm_120"), 120);
  EXPECT_EQ(compute_capability("90"), 90);
  for (const char* other : {"", "sm_", "opencl-cpu"}) EXPECT_EQ(compute_capability(other), 0) << other;
}

TEST(Target, UnknownNamesAreAnsweredWithThoseThatExist) {
  try {
    load_target("sm_9");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("sm_120, sm_80, sm_86, sm_89, sm_90), found 'sm_9'; did you mean 'sm_"));
  }
  EXPECT_THROW(load_target("../targets/sm_90"), Error);
  EXPECT_THROW(load_target(""), Error);
}

}  // namespace
}  // namespace deplo
