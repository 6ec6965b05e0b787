// Random schedules for every CUDA target. The emitter and NVRTC compile them, and the PTX machine runs them. The
// outputs must match the reference, and the machine must find nothing wrong. A failure prints the seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "drawn_seeds.h"
#include "measure/cuda/fixture.h"
#include "measure/ptx/schedule_case.h"
#include "rules/programs.h"

namespace deplo::measure::ptx {
namespace {

void check(const ScheduleCase& c, std::uint64_t seed) {
  if (!cuda::Nvrtc::get().supports(c.target)) return;
  const auto device = open_device(fmt::format("ptx:{}:{}", c.target, seed));
  EXPECT_EQ(run(loop_of(c), candidate_of(c), *device), "") << describe(c) << "\n" << trail_of(c);
}

void check(std::uint64_t first, std::uint64_t count) {
  if (!cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  for (std::uint64_t seed = first; seed < first + count; ++seed) check(random_case(seed), seed);
}

// Needs no NVRTC. Checks that the random schedules together contain every kind of instruction.
TEST(PtxSchedules, HaveEveryKindOfInstruction) {
  std::map<std::string, int> count;
  const std::vector<std::string> words = {
      "wgmma.mma_async", "multicast::cluster", "cluster_load_",        "barrier.cluster", "cp_async_16(&",
      "ld_matrix_4",     "mma_m16n8k16",       "mma_m16n8k8_tf32(",    "atomicAdd",       "__shfl_xor",
      "tma_load_2d(&",   "tma_load_3d(&",      "mbarrier_arrive_afar", "return;"};
  for (std::uint64_t seed = 1'000; seed < 1'400; ++seed) {
    const std::string text = candidate_of(random_case(seed)).source.text;
    for (const std::string& word : words) count[word] += text.find(word) != std::string::npos ? 1 : 0;
  }
  for (const std::string& word : words) EXPECT_GE(count[word], 3) << word;
}

TEST(PtxSchedules, AFew) { check(first_seed(1), 24); }
TEST(PtxSchedules, Many) { check(many_cases().first, many_cases().count); }

// Runs the heuristic's schedule of every kernel that leaves no element unwritten. The architectures take turns.
TEST(PtxSchedules, HeuristicsOfAllKernels) {
  if (!cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  std::uint64_t seed = 0;
  for (const rules::Kernel& kernel : rules::kernels()) {
    if (kernel.name.starts_with("guarded")) continue;
    const std::array targets = {"sm_90", "sm_80", "sm_100", "sm_120"};
    const int types = static_cast<int>(seed / targets.size() % 3);
    ScheduleCase c{.kernel = kernel.name, .target = targets.at(seed % targets.size()), .symbols = {}, .types = types};
    for (const std::string& symbol : kernel.symbols) c.symbols[symbol] = seed / 3 % 2 == 0 ? 64 : 33;
    constexpr double many = 2e6;  // operations, which take about a second
    while (ir::work(loop_of(c)).flops > many)
      for (auto& [symbol, size] : c.symbols) size = (size + 1) / 2;
    check(c, ++seed);
  }
}

}  // namespace
}  // namespace deplo::measure::ptx
