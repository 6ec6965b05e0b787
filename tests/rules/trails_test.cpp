// Random kernels × awkward extents × targets × trails: every schedule ends, verifies, fits its target and means the
// same as Loop, Tile and Kernel IR. `test_rules --cases=N` takes N per target, from seed `--seed=S` on.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "rules/options.h"
#include "rules/trail_case.h"

namespace deplo::rules {
namespace {

std::string report(const TrailCase& drawn, const Finding& finding) {
  const TrailCase small = shrink(drawn);
  return fmt::format("{}\n  {}\n{}\nshortest:\n  {}\n{}", describe(drawn), print(finding.trail), finding.failure,
                     describe(small), attempt(small).failure);
}

class Trails : public testing::TestWithParam<const char*> {};

TEST_P(Trails, every_schedule_means_the_same) {
  constexpr int most_reports = 5;
  int failures = 0;
  const std::uint64_t first = test_options().seed;
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + test_options().cases - 1));
  for (std::uint64_t seed = first; seed < first + test_options().cases && failures < most_reports; ++seed) {
    const TrailCase drawn = random_case(GetParam(), seed);
    const Finding finding = attempt(drawn);
    if (finding.failure.empty()) continue;
    ++failures;
    ADD_FAILURE() << report(drawn, finding);
  }
}

std::string target_name(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(targets, Trails, testing::Values("opencl-cpu", "opencl-gpu", "sm_80", "sm_90", "sm_120"),
                         target_name);

// What a search asks first, on every kernel.
TEST(Heuristic, is_right_on_every_kernel) {
  for (const Kernel& kernel : kernels())
    for (const char* target : {"opencl-cpu", "opencl-gpu", "sm_90"})
      for (const std::int64_t size : {1, 13, 33}) {
        TrailCase c{kernel.name, target, {}, {}, 0, false};
        for (const std::string& symbol : kernel.symbols) c.symbols[symbol] = size;
        if (ir::work(ir::parse(kernel.text, c.symbols)).flops > 6e6) continue;  // seconds to interpret
        EXPECT_EQ(attempt(c).failure, "") << describe(c);
      }
}

// Each was found by the trails above.
TEST(Trails, that_once_failed) {
  const TrailCase cases[] = {
      // One row has no row index: register_tile took it for no matmul and left 96 threads on a target of 64.
      {"matmul_transposed_b",
       "opencl-cpu",
       {{"M", 1}, {"N", 64}, {"K", 2}},
       parse_trail("register_tile.fm=1"),
       0,
       false},
      // The axis of a kernel without free loops had the name of its reduce loop.
      {"total", "opencl-cpu", {{"M", 2}, {"N", 1}}, {}, 0, false},
  };
  for (const TrailCase& c : cases) EXPECT_EQ(attempt(c).failure, "") << describe(c);
}

}  // namespace
}  // namespace deplo::rules
