// Kernels of graphs, run on the devices and compared with the reference: source text, dtypes, vectors, gathers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/rng.h"
#include "ir/emit/emit.h"
#include "measure/protocol/problem.h"
#include "rules/lower.h"

namespace deplo::measure {
namespace {

std::vector<std::string> kernel_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(DEPLO_SOURCE_DIR "/tests/kernels"))
    if (!entry.path().stem().string().starts_with("guarded"))  // these kernels leave elements unwritten
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

ir::Program load_kernel(const std::string& file, std::int64_t extent) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  ir::Symbols symbols;
  for (const std::string& symbol : ir::declared_symbols(text, file)) symbols[symbol] = extent;
  return ir::parse(text, symbols, file);
}

/// `seed` 0: the heuristic's choices.
rules::Lowering lower(const ir::Program& loop, const Target& target, std::uint64_t seed) {
  rules::Lowering lowering(loop, target);
  Rng rng(seed);
  while (lowering.fork()) lowering.choose(seed == 0 ? 0 : rng.below(lowering.fork()->options.size()));
  return lowering;
}

/// Returns "" if the device's outputs match the reference, and otherwise an error message.
std::string run(const ir::Program& loop, Device& device, const rules::Lowering& lowering) {
  const Target target = target_of(device.info());
  KernelCode candidate{rules::materialize(lowering.program(), target), {}};
  candidate.source = ir::emit(candidate.kernel, target);
  Problem problem(loop, device, 1);
  problem.poison_outputs();
  auto built = device.build(candidate);
  if (!built.ok()) return built.failure().message + "\n" + candidate.source.text;
  if (const auto time = built.value()->launch(problem.arrays(), candidate.source.blocks); !time.ok())
    return time.failure().message;
  const auto failure = problem.check(Coverage::whole);
  return failure ? failure->message + "\n" + candidate.source.text : "";
}

class GraphKernels : public ::testing::TestWithParam<std::string> {
 protected:
  void check(const std::string& file, std::int64_t extent, std::uint64_t seed) {
    const ir::Program loop = load_kernel(file, extent);
    ASSERT_EQ(ir::verify(loop), "") << file;
    const rules::Lowering lowering = lower(loop, target_of(device_->info()), seed);
    EXPECT_EQ(run(loop, *device_, lowering), "") << file << ", " << extent << ", " << print(lowering.trail());
  }
  std::unique_ptr<Device> device_ = open_device(GetParam());
};

TEST_P(GraphKernels, ComputeTheReference) {
  for (const std::string& file : kernel_files()) check(file, 13, 0);
}

// The extent is a multiple of the vectors' widths. Tests every other kernel; the next test runs the rest with random
// schedules. PoCL takes half a second to compile a kernel.
TEST_P(GraphKernels, ComputeTheReferenceInVectors) {
  const std::vector<std::string> files = kernel_files();
  for (std::size_t i = 0; i < files.size(); i += 2) check(files[i], 16, 0);
}

TEST_P(GraphKernels, ComputeTheReferenceBySomeSchedule) {
  const std::vector<std::string> files = kernel_files();
  for (std::size_t i = 1; i < files.size(); i += 2) check(files[i], 7, i);
}

INSTANTIATE_TEST_SUITE_P(Devices, GraphKernels, ::testing::Values("opencl", "interpreter"),
                         [](const auto& device) { return device.param; });

}  // namespace
}  // namespace deplo::measure
