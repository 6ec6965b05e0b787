// OpenCL beyond the battery of devices: a real kernel screened, its errors by name, devices that are not there.
#include "measure/opencl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "measure/sampling.h"

namespace deplo::measure {
namespace {

using testing::HasSubstr;

TEST(Opencl, ScreensARealKernel) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  const ir::Program loop = ir::parse(
      "=== loop: twice ===\n"
      "input a: f32[4096]\n"
      "output b: f32[4096]\n"
      "for a0 in 0..4096: # free\n"
      "  in0 = load a[a0]\n"
      "  v0 = multiply(in0, 2)\n"
      "  b[a0] = v0\n");
  Problem problem(loop, *device, 1);
  Candidate candidate;
  candidate.kernel.buffers = loop.buffers;
  candidate.source = {.entry = "twice",
                      .text =
                          "__kernel void twice(__global const float* a, __global float* b) {\n"
                          "  b[get_global_id(0)] = a[get_global_id(0)] * 2;\n}\n",
                      .blocks = 64,
                      .threads = 64,
                      .shared_bytes = 0};
  auto built = device->build(candidate);
  ASSERT_TRUE(built.ok()) << built.failure().message;
  const auto timing = screen(*built.value(), grid_of(candidate.source, device->info()), problem, Protocol(),
                             std::numeric_limits<double>::infinity());
  ASSERT_TRUE(timing.ok()) << timing.failure().message;
  EXPECT_EQ(timing.value().samples.size(), 5U);
  EXPECT_EQ(timing.value().fidelity, 1);
  candidate.source.text.replace(candidate.source.text.find("* 2"), 3, "* 3");
  built = device->build(candidate);
  ASSERT_TRUE(built.ok());
  EXPECT_EQ(screen(*built.value(), grid_of(candidate.source, device->info()), problem, Protocol(), 1).failure().status,
            Status::wrong_result);
}

TEST(Opencl, ErrorsHaveNames) {
  EXPECT_EQ(opencl_error_name(-5), "CL_OUT_OF_RESOURCES");
  EXPECT_EQ(opencl_error_name(-9999), "OpenCL error -9999");
  EXPECT_EQ(first_lines("a\n\nb\n"), "a | b");
  EXPECT_EQ(first_lines(""), "");
  EXPECT_LE(first_lines(std::string(100000, 'x')).size(), 600U);
}

int exit_of_open(const char* name) {
  try {
    open_device(name);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
  return 0;
}

TEST(OpenDevice, UnknownNames) {
  for (const char* name : {"", "cuda9", "opencl:", "opencl:x", "opencl:1x", "opencl:-1", "opencl:99999999999999999999"})
    EXPECT_EQ(exit_of_open(name), 1) << name;
  EXPECT_EQ(exit_of_open("opencl:99"), 2);
}

TEST(OpenDeviceDeathTest, NoDriverIsSaidInOneLine) {
  // A fresh process that inherits the variable: the loader reads it once, which in this process is done.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
  EXPECT_EXIT(_exit(exit_of_open("opencl")), testing::ExitedWithCode(2),
              "^no OpenCL device: .*apt-get install pocl-opencl-icd[^\n]*\n$");
  unsetenv("OCL_ICD_VENDORS");
}

}  // namespace
}  // namespace deplo::measure
