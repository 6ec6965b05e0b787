// OpenCL beyond the common device tests: screening of a real kernel, limits, names of errors, missing devices.
#include "measure/opencl/opencl.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "measure/add_candidate.h"
#include "measure/protocol/sampling.h"
#include "rules/lower.h"

namespace deplo::measure {
namespace {

using ::testing::HasSubstr;

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
  KernelCode candidate;
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

// Computes an operation on the elements of `x` (and `y`) with one kernel, because PoCL takes a third of a second to
// build a kernel. Elementary functions are deplo's own (ir/emit/simd.cpp), for vectors of 16 lanes and for scalars.
// `written`: text that the source must contain.
std::vector<float> computed(const std::string& operation, int lanes, const std::string& written,
                            const std::vector<float>& x, const std::vector<float>& y = {}) {
  const auto device = open_device("opencl");
  const std::string second = y.empty() ? "" : ", in1";
  const auto loop =
      ir::parse(fmt::format("=== loop: f ===\ninput x: f32[{0}]\n{1}output z: f32[{0}]\nfor a0 in 0..{0}: # free\n"
                            "  in0 = load x[a0]\n{2}  v0 = {3}(in0{4})\n  z[a0] = v0\n",
                            x.size(), y.empty() ? "" : fmt::format("input y: f32[{}]\n", y.size()),
                            y.empty() ? "" : "  in1 = load y[a0]\n", operation, second));
  const Target target = load_target("opencl-cpu");  // on a CPU without AVX-512, 16 lanes take two registers
  rules::Lowering lowering(loop, target);
  while (const auto& fork = lowering.fork()) {
    const auto wanted = std::ranges::find(fork->options, Value{std::int64_t{lanes}});
    const bool decides = fork->knob == (lanes == 1 ? "blockify_launch.elements" : "vectorize.width");
    lowering.choose(decides && wanted != fork->options.end() ? static_cast<std::size_t>(wanted - fork->options.begin())
                                                             : 0);
  }
  KernelCode candidate = {rules::materialize(lowering.program(), target), {}};
  candidate.source = emit(candidate.kernel, target);
  EXPECT_THAT(candidate.source.text, HasSubstr(written));
  const auto arrays = device->allocate(loop.buffers);
  arrays->write(0, x);
  if (!y.empty()) arrays->write(1, y);
  auto built = device->build(candidate);
  EXPECT_TRUE(built.ok() && built.value()->launch(*arrays, candidate.source.blocks).ok());
  return arrays->read(loop.buffers.size() - 1);
}

std::vector<float> simd(const std::string& operation, int lanes, const std::vector<float>& x,
                        const std::vector<float>& y = {}) {
  const std::string suffix = lanes == 1 ? "" : std::to_string(lanes);
  return computed(operation, lanes, fmt::format(" simd_{}{}(in", operation, suffix), x, y);
}

double ulps(float found, double exact) {
  const auto nearest = static_cast<float>(exact);
  const double unit = std::max<double>(std::nextafter(std::abs(nearest), INFINITY) - std::abs(nearest), 0x1p-149);
  return std::abs(found - exact) / unit;
}

using Range = std::pair<float, float>;

constexpr std::size_t special_count = 64;  // how many numbers with_sweeps() returns before the sweeps

/// Returns `special`, padded with zeros to special_count numbers, followed by 65,536 evenly spaced numbers of each
/// range.
std::vector<float> with_sweeps(std::vector<float> special, const std::vector<Range>& ranges) {
  special.resize(special_count);
  constexpr int count = 1 << 16;
  for (const auto& [from, to] : ranges)
    for (int i = 0; i < count; ++i) special.push_back(from + (to - from) * static_cast<float>(i) / count);
  return special;
}

template <class Function>
void sweeps_are_near(const std::vector<float>& x, const std::vector<float>& found, Function exact, double bound) {
  for (std::size_t i = special_count; i < x.size(); ++i)
    ASSERT_LE(ulps(found[i], exact(static_cast<double>(x[i]))), bound) << x[i];
}

class Elementary : public ::testing::TestWithParam<int> {};

TEST_P(Elementary, Exp) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto x = with_sweeps({-INFINITY, -1000, -105, 0, 88.72283F, 88.7229F, 1e30F, INFINITY, NAN,
                              std::bit_cast<float>(0x7fd0beefU),  // a NaN with another payload
                              -97.040606F},                       // ln 2^-140
                             {{-87.3F, 88.7F}});
  const std::vector<float> z = simd("exp", GetParam(), x);
  sweeps_are_near(
      x, z, [](double v) { return std::exp(v); }, 2);
  EXPECT_TRUE(std::isnan(z[9]));
  EXPECT_NEAR(z[10], 0x1p-140F, 0x1p-148F) << "below the normal numbers";
  EXPECT_TRUE(z[0] == 0 && z[1] == 0 && z[2] == 0 && z[3] == 1);
  EXPECT_TRUE(std::isfinite(z[4]) && z[5] == INFINITY && z[6] == INFINITY && z[7] == INFINITY && std::isnan(z[8]));
}

TEST_P(Elementary, Tanh) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto x = with_sweeps({INFINITY, -INFINITY, NAN, -0.0F},
                             {{-20.0F, 20.0F}, {-1.0F, 1.0F}, {-1e-3F, 1e-3F}, {-1e-20F, 1e-20F}});
  const std::vector<float> z = simd("tanh", GetParam(), x);
  sweeps_are_near(
      x, z, [](double v) { return std::tanh(v); }, 4);
  EXPECT_TRUE(z[0] == 1 && z[1] == -1 && std::isnan(z[2]) && z[3] == 0 && std::signbit(z[3]));
}

TEST_P(Elementary, Erf) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto x = with_sweeps({INFINITY, -INFINITY, NAN, -0.0F, 1e30F},
                             {{-4.5F, 4.5F}, {-1.0F, 1.0F}, {-1e-3F, 1e-3F}, {-1e-38F, 1e-38F}});
  const std::vector<float> z = simd("erf", GetParam(), x);
  sweeps_are_near(
      x, z, [](double v) { return std::erf(v); }, 2);
  EXPECT_TRUE(z[0] == 1 && z[1] == -1 && std::isnan(z[2]) && z[3] == 0 && std::signbit(z[3]) && z[4] == 1);
}

TEST_P(Elementary, Log) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  std::vector<Range> ranges;
  for (const float most : {2.0F, 1e-36F, 1e-39F, 1e33F}) ranges.emplace_back(most / 65536, most);
  const auto x = with_sweeps({INFINITY, -INFINITY, NAN, 0, -0.0F, -1e-45F, 1, 1e-45F}, ranges);
  const std::vector<float> z = simd("log", GetParam(), x);
  sweeps_are_near(
      x, z, [](double v) { return std::log(v); }, 2);
  EXPECT_TRUE(z[0] == INFINITY && std::isnan(z[1]) && std::isnan(z[2]) && z[3] == -INFINITY && z[4] == -INFINITY);
  EXPECT_TRUE(std::isnan(z[5]) && z[6] == 0);
  EXPECT_NEAR(z[7], std::log(0x1p-149), 1e-5) << "the least number";
}

TEST_P(Elementary, Power) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto bases = with_sweeps({INFINITY, -INFINITY, NAN, 0.0F, -0.0F, 1.0F, -1.0F, 1e-45F, -1e-45F, 3e38F, -3e38F},
                                 {{-30.0F, 30.0F}});
  std::vector<float> x = bases, y = bases;
  for (const float exponent : {0.75F, -0.5F, 3.0F, -3.0F, 4.0F, 7.5F, 16777217.0F, 25.0F}) {
    x.insert(x.end(), bases.begin(), bases.end());
    y.insert(y.end(), bases.size(), exponent);
  }
  const std::vector<float> found = simd("power", GetParam(), x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
    const auto nearest = static_cast<float>(exact);
    if (std::isnan(nearest))
      ASSERT_TRUE(std::isnan(found[i])) << x[i] << " to " << y[i];
    else if (std::isinf(nearest) || nearest == 0)
      ASSERT_TRUE(found[i] == nearest && std::signbit(found[i]) == std::signbit(nearest)) << x[i] << " to " << y[i];
    else
      ASSERT_LE(ulps(found[i], exact), 1) << x[i] << " to " << y[i];
  }
}

TEST_P(Elementary, Relu) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  std::vector<float> x = with_sweeps({}, {{-2.0F, 2.0F}});
  x[1] = NAN, x[18] = -INFINITY, x[35] = INFINITY;
  const std::vector<float> y = computed("relu", GetParam(), "(0.0f) > in", x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]))
      ASSERT_TRUE(std::isnan(y[i])) << i;
    else
      ASSERT_EQ(y[i], std::max(x[i], 0.0F)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Opencl, Elementary, ::testing::Values(1, 16));

// A CPU can stream a whole vector only to a multiple of its size. At any other address it would end the process.
TEST(Opencl, StreamsToAnyAddress) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  for (const int lanes : {2, 4, 8, 16})
    for (const int first : {0, 1, 8}) {
      KernelCode candidate;
      candidate.kernel =
          ir::parse(fmt::format("=== kernel: twice ===\ninput x: f32[256]\noutput y: f32[272]\n"
                                "Tile(axes=(a0:{0}=BLOCK, a1:1=THREAD)):\n  in0:f32x{1} = load x[(a0 * {1})]\n"
                                "  v0:f32x{1} = add(in0, in0)\n  y[((a0 * {1}) + {2})]:x{1} = v0 streamed\n",
                                256 / lanes, lanes, first));
      candidate.source = emit(candidate.kernel, load_target("opencl-cpu"));
      const auto arrays = device->allocate(candidate.kernel.buffers);
      std::vector<float> x(256);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
      arrays->write(0, x);
      auto built = device->build(candidate);
      ASSERT_TRUE(built.ok() && built.value()->launch(*arrays, candidate.source.blocks).ok());
      const std::vector<float> y = arrays->read(1);
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(y[i + static_cast<std::size_t>(first)], 2 * x[i]) << lanes << " lanes from " << first << " on";
    }
}

TEST(Opencl, CpuDevicesComeLast) {
  const auto devices = opencl_devices();
  for (std::size_t i = 1; i < devices.size(); ++i) EXPECT_LE(devices[i - 1].cpu, devices[i].cpu);
}

void expect_out_of_resources(Device& device, const KernelCode& candidate) {
  const auto built = device.build(candidate);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.failure().status, Status::resource);
  EXPECT_THAT(built.failure().message, HasSubstr("CL_OUT_OF_RESOURCES"));
}

TEST(Opencl, LocalMemoryIsLimited) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  KernelCode candidate = add_candidate();
  candidate.source.shared_bytes = device->info().shared_bytes + 1;
  expect_out_of_resources(*device, candidate);
}

// A user's kernel: only the driver knows how much it needs.
TEST(Opencl, LocalMemoryOfAnyKernelIsLimited) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  KernelCode candidate = add_candidate();
  candidate.source.shared_bytes = 0;
  const auto small = device->build(candidate);
  ASSERT_TRUE(small.ok()) << small.failure().message;
  if (small.value()->resources().static_shared_bytes == 0) GTEST_SKIP() << "the driver does not know local memory";
  const std::string floats = std::to_string(device->info().shared_bytes / 4 + 1024);
  candidate.source.text =
      "__kernel void add(__global float* a, __global float* b, __global float* c) {\n"
      "  __local float t[" +
      floats +
      "];\n"
      "  t[get_local_id(0)] = a[0];\n  barrier(CLK_LOCAL_MEM_FENCE);\n  c[0] = t[1];\n}\n";
  expect_out_of_resources(*device, candidate);
}

TEST(Opencl, WritesBesideABufferAreSeen) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  const auto arrays = device->allocate(add_candidate().kernel.buffers);
  EXPECT_EQ(arrays->overrun(), std::nullopt);
  for (const auto& [index, where] : {std::pair{"size", "wrote outside of 'c': 0 bytes past its end"},
                                     {"size + 9", "wrote outside of 'c': 36 bytes past its end"},
                                     {"-1", "wrote outside of 'c': 1 bytes before its start"}}) {
    KernelCode candidate = add_candidate();
    candidate.source.text =
        std::string("__kernel void add(__global float* a, __global float* b, __global float* c) {\n") +
        "  const int size = 40;\n  c[" + index + "] = 0;\n}\n";
    const auto beside = device->allocate(candidate.kernel.buffers);
    auto built = device->build(candidate);
    ASSERT_TRUE(built.ok()) << built.failure().message;
    ASSERT_TRUE(built.value()->launch(*beside, blocks).ok());
    EXPECT_EQ(beside->overrun(), where);
    const auto view = beside->view(std::vector<Place>{{2}}, {candidate.kernel.buffers[2]});
    EXPECT_EQ(view->overrun(), where);
  }
}

TEST(Opencl, ParametersMustBeTheBuffers) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = open_device("opencl");
  KernelCode candidate = add_candidate();
  candidate.source.text = "__kernel void add(__global float* a) { a[0] = 1; }\n";
  EXPECT_THAT(device->build(candidate).failure().message, HasSubstr("1 parameters for 3 buffers"));
  candidate.source.entry = "subtract";
  EXPECT_THAT(device->build(candidate).failure().message, HasSubstr("CL_INVALID_KERNEL_NAME"));
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
  // The test needs a new process that inherits the variable, because the loader reads the variable only once per
  // process.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
  EXPECT_EXIT(_exit(exit_of_open("opencl")), ::testing::ExitedWithCode(2),
              "^no OpenCL device: .*apt-get install pocl-opencl-icd[^\n]*\n$");
  unsetenv("OCL_ICD_VENDORS");
}

}  // namespace
}  // namespace deplo::measure
