// Constants at the limits of their types, compiled by real compilers. On OpenCL, the results have the same bits as the
// interpreter's.
#include "constants.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "ir/interpret/interpret.h"
#include "measure/cuda/fixture.h"
#include "measure/device.h"
#include "measure/opencl/opencl.h"

namespace deplo::measure {
namespace {

ir::Memory interpreted(const ir::Program& kernel) {
  ir::Memory memory;
  for (const ir::Buffer& buffer : kernel.buffers)
    memory[buffer.name].assign(static_cast<std::size_t>(ir::span(buffer)), std::nan(""));
  ir::interpret(kernel, memory);
  return memory;
}

TEST(Constants, OnOpencl) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  KernelCode candidate = {deplo::testing::constants_kernel(), {}};
  candidate.source = emit(candidate.kernel, target_of(device->info()));
  auto built = device->build(candidate);
  ASSERT_TRUE(built.ok()) << built.failure().message << candidate.source.text;
  const auto arrays = device->allocate(candidate.kernel.buffers);
  ASSERT_TRUE(built.value()->launch(*arrays, candidate.source.blocks).ok());
  const ir::Memory expected = interpreted(candidate.kernel);
  for (std::size_t b = 0; b < candidate.kernel.buffers.size(); ++b) {
    const std::string& name = candidate.kernel.buffers[b].name;
    const ir::Numbers found = arrays->read(b);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(found[i])),
                std::bit_cast<std::uint32_t>(static_cast<float>(expected.at(name)[i])))
          << name << "[" << i << "]: expected " << expected.at(name)[i] << ", found " << found[i];
  }
}

TEST(Constants, InCuda) {
  using cuda::Nvrtc;
  DEPLO_NEED_NVRTC("sm_90");
  const ir::KernelSource source = emit(deplo::testing::constants_kernel(), load_target("sm_90"));
  const auto cubin = cuda::compile_cubin(source, "sm_90", {.cache = nullptr});
  EXPECT_TRUE(cubin.ok()) << cubin.failure().message << source.text;
}

}  // namespace
}  // namespace deplo::measure
