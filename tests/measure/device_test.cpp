// One set of tests for several devices: an OpenCL device and the interpreter.
#include "measure/device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

#include "core/rng.h"
#include "ir/types/float16.h"
#include "measure/add_candidate.h"
#include "measure/opencl/opencl.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::measure {
namespace {

using ::testing::HasSubstr;

std::vector<float> ramp(float start) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = start + static_cast<float>(i);
  return values;
}

class AnyDevice : public ::testing::TestWithParam<std::string> {
 protected:
  bool is_opencl() const { return device_->info().backend == "opencl"; }
  std::unique_ptr<Device> device_ = open_device(GetParam());
};

// Regression test: for 7 threads per block, rules had forks without options. tests/attack found this.
TEST(TargetOf, RefusesLimitsThatAreNoDevices) {
  DeviceInfo info;
  info.backend = "opencl";
  info.units = 1;
  info.shared_bytes = 1 << 15;
  info.max_threads = 256;
  EXPECT_EQ(target_of(info).max_threads, 256);
  info.max_threads = 7;
  EXPECT_THROW(target_of(info), Error);
  info.cpu = true;  // a CPU has no warps
  EXPECT_EQ(target_of(info).max_threads, 7);
}

TEST(TargetOf, KnowsCpusByTheirRegisters) {
  DeviceInfo info;
  info.backend = "opencl";
  info.cpu = true;
  info.units = 2;
  info.shared_bytes = 1 << 20;
  info.max_threads = 256;
  EXPECT_EQ(target_of(info).name, "opencl-cpu") << "what stores of before say";
  info.architecture = avx512_bf16;
  EXPECT_EQ(target_of(info).name, "opencl-cpu-bf16");
  EXPECT_TRUE(target_of(info).fast_pairs);
  info.vendor = "GenuineIntel";
  EXPECT_TRUE(target_of(info).dot_pairs && !target_of(info).fast_pairs) << "possible, but slower than f32";
  info.platform = "Portable Computing Language, OpenCL 3.0 PoCL 6.0+debian";
  EXPECT_FALSE(target_of(info).dot_pairs || target_of(info).fast_pairs) << "they are inline assembly";
  info.architecture = avx2;
  EXPECT_EQ(target_of(info).name, "opencl-cpu-avx2");
  EXPECT_LT(target_of(info).register_floats, load_target("opencl-cpu").register_floats);
}

TEST_P(AnyDevice, SaysWhatItIs) {
  const DeviceInfo& info = device_->info();
  EXPECT_FALSE(info.backend.empty());
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.driver.empty());
  EXPECT_GE(info.units, 1);
  EXPECT_GE(info.max_threads, 64);
  EXPECT_GE(info.shared_bytes, 16384);
  EXPECT_THAT(list_devices(), ::testing::Contains(::testing::Pair(GetParam(), info)));
}

TEST_P(AnyDevice, TargetFits) {
  const Target target = target_of(device_->info());
  EXPECT_EQ(target.dialect, device_->dialect());
  EXPECT_EQ(target.cpu, device_->info().cpu);
  EXPECT_LE(target.max_threads, device_->info().max_threads);
  EXPECT_LE(target.shared_bytes, device_->info().shared_bytes);
  EXPECT_EQ(target.units, device_->info().units);
}

TEST_P(AnyDevice, ArraysKeepWhatIsWritten) {
  const auto arrays = device_->allocate(add_candidate().kernel.buffers);
  arrays->write(1, ramp(3));
  EXPECT_EQ(arrays->read(1), ramp(3));
  arrays->poison(1);
  for (const float value : arrays->read(1).floats()) EXPECT_EQ(std::bit_cast<std::uint32_t>(value), 0xffffffffU);
}

TEST_P(AnyDevice, RunsAKernel) {
  const KernelCode candidate = add_candidate();
  auto built = device_->build(candidate);
  ASSERT_TRUE(built.ok()) << built.failure().message;
  const auto arrays = device_->allocate(candidate.kernel.buffers);
  arrays->write(0, ramp(1));
  arrays->write(1, ramp(100));
  arrays->poison(2);
  const auto time = built.value()->launch(*arrays, blocks);
  ASSERT_TRUE(time.ok()) << time.failure().message;
  EXPECT_GT(time.value(), 0);
  EXPECT_LT(time.value(), 1e6);
  const auto c = arrays->read(2);
  for (std::size_t i = 0; i < c.size(); ++i)
    EXPECT_EQ(c[i], 1 + static_cast<float>(i) + 100 + static_cast<float>(i / threads * threads)) << i;
}

// Converts every f16 and bf16 value (including NaN, infinities and subnormals) to f32 and back, with vectors of each
// width.
TEST_P(AnyDevice, KeepsEveryNumberOfSixteenBits) {
  std::vector<float> all(0x10000);
  for (const ir::DType dtype : {ir::DType::f16, ir::DType::bf16})
    for (const int lanes : {1, 2, 4, 8, 16}) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = ir::float16_value(static_cast<std::uint16_t>(i), dtype);
      KernelCode candidate;
      const std::string at = fmt::format("[(((a0 * {}) + a1) * {})]", 64 / lanes, lanes);
      const std::string wide = lanes == 1 ? "" : fmt::format(":f32x{}", lanes),
                        to = lanes == 1 ? "" : fmt::format(":x{}", lanes);
      candidate.kernel = ir::parse(fmt::format(
          "=== kernel: widths ===\ninput x: {0}[65536]\noutput y: f32[65536]\noutput z: {0}[65536]\n"
          "Tile(axes=(a0:1024=BLOCK, a1:{1}=THREAD)):\n  in0{2} = load x{3}\n  y{3}{4} = in0\n  z{3}{4} = in0\n",
          name(dtype), 64 / lanes, wide, at, to));
      ASSERT_EQ(ir::verify(candidate.kernel), "");
      candidate.source = emit(candidate.kernel, target_of(device_->info()));
      auto built = device_->build(candidate);
      ASSERT_TRUE(built.ok()) << built.failure().message << candidate.source.text;
      const auto arrays = device_->allocate(candidate.kernel.buffers);
      arrays->write(0, all);
      for (const std::size_t output : {1, 2}) arrays->poison(output);
      ASSERT_TRUE(built.value()->launch(*arrays, 1024).ok());
      for (const std::size_t output : {1, 2}) {
        const std::vector<float> found = arrays->read(output);
        for (std::size_t i = 0; i < all.size(); ++i)
          ASSERT_TRUE(std::isnan(all[i])
                          ? std::isnan(found[i])
                          : std::bit_cast<std::uint32_t>(all[i]) == std::bit_cast<std::uint32_t>(found[i]))
              << name(dtype) << " " << i << ": " << all[i] << " became " << found[i];
      }
    }
}

// Rounds f32 to 16 bits, by stores to 16-bit buffers and by round_f16 and round_bf16: ties, overflow, subnormals, NaN.
TEST_P(AnyDevice, RoundsToSixteenBits) {
  std::vector<float> values;
  Rng rng(1);
  for (int i = 0; i < 2048; ++i)
    values.push_back(static_cast<float>(std::ldexp(rng.uniform(-2, 2), static_cast<int>(rng.below(200)) - 100)));
  for (std::uint32_t bits = 0x3f80'0000; values.size() < 3072; bits += 0x800)
    values.push_back(std::bit_cast<float>(bits));
  for (const float value :
       {0.0F, -0.0F, 65504.0F, 65519.9F, 65520.0F, -65520.0F, 0x1p-14F, 0x1p-24F, 0x1p-25F, 0x1.000002p-25F,
        0x1.FEp127F, 0x1.FFp127F, 0x1.FFFFFEp127F, INFINITY, -INFINITY, std::nanf("")})
    values.push_back(value);
  while (values.size() < 4096)
    values.push_back(static_cast<float>(std::ldexp(rng.uniform(-2, 2), -14 - static_cast<int>(rng.below(14)))));
  for (const int lanes : {1, 4, 8}) {
    KernelCode candidate;
    const std::string at = fmt::format("[(((a0 * {}) + a1) * {})]", 64 / lanes, lanes);
    const std::string wide = lanes == 1 ? "" : fmt::format(":f32x{}", lanes),
                      to = lanes == 1 ? "" : fmt::format(":x{}", lanes);
    candidate.kernel = ir::parse(
        fmt::format("=== kernel: rounding ===\ninput x: f32[4096]\noutput h: f16[4096]\noutput b: bf16[4096]\n"
                    "output r: f32[4096]\noutput s: f32[4096]\nTile(axes=(a0:64=BLOCK, a1:{0}=THREAD)):\n"
                    "  in0{1} = load x{2}\n  h{2}{3} = in0\n  b{2}{3} = in0\n  v0{1} = round_f16(in0)\n"
                    "  r{2}{3} = v0\n  v1{1} = round_bf16(in0)\n  s{2}{3} = v1\n",
                    64 / lanes, wide, at, to));
    ASSERT_EQ(ir::verify(candidate.kernel), "");
    candidate.source = emit(candidate.kernel, target_of(device_->info()));
    auto built = device_->build(candidate);
    ASSERT_TRUE(built.ok()) << built.failure().message << candidate.source.text;
    const auto arrays = device_->allocate(candidate.kernel.buffers);
    arrays->write(0, values);
    for (const std::size_t output : {1, 2, 3, 4}) arrays->poison(output);
    ASSERT_TRUE(built.value()->launch(*arrays, 64).ok());
    for (const std::size_t output : {1, 2, 3, 4}) {
      const std::vector<float> found = arrays->read(output);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double expected =
            ir::rounded(static_cast<double>(values[i]), output % 2 == 1 ? ir::DType::f16 : ir::DType::bf16);
        ASSERT_TRUE(std::isnan(expected) ? std::isnan(found[i]) : static_cast<float>(expected) == found[i])
            << candidate.kernel.buffers[output].name << ": " << values[i] << " became " << found[i] << ", expected "
            << expected << ", " << lanes << " lanes";
      }
    }
  }
}

// Multiplies bf16 matrices by dot products of pairs, with b in both layouts. NaN and infinity are among the elements of
// a.
TEST_P(AnyDevice, MultipliesPairs) {
  Target target = target_of(device_->info());
  if (!target.dot_pairs) GTEST_SKIP() << "no dot products of pairs";
  target.fast_pairs = true;  // the heuristic applies them
  constexpr std::int64_t m = 96, n = 64, k = 70;
  for (const char* name : {"matmul", "linear"}) {
    ir::Program loop = ir::parse(rules::kernel(name).text, {{"M", m}, {"N", n}, {"K", k}}, name);
    for (ir::Buffer& buffer : loop.buffers)
      if (buffer.role == ir::Role::input) buffer.dtype = ir::DType::bf16;
    KernelCode candidate;
    candidate.kernel = rules::materialize(rules::heuristic(loop, target).program(), target);
    candidate.source = emit(candidate.kernel, target);
    ASSERT_NE(candidate.source.text.find("vdpbf16ps"), std::string::npos) << candidate.source.text;
    auto built = device_->build(candidate);
    ASSERT_TRUE(built.ok()) << built.failure().message << candidate.source.text;
    const auto arrays = device_->allocate(candidate.kernel.buffers);
    std::vector<float> a(m * k), b(k * n);
    Rng rng(7);
    for (std::vector<float>* values : {&a, &b})
      for (float& value : *values)
        value = static_cast<float>(ir::rounded(static_cast<double>(rng.below(2000)) / 1000 - 1, ir::DType::bf16));
    a[3 * k + 5] = std::numeric_limits<float>::quiet_NaN();
    a[4 * k + 69] = std::numeric_limits<float>::infinity();
    arrays->write(0, a);
    arrays->write(1, b);
    arrays->poison(2);
    ASSERT_TRUE(built.value()->launch(*arrays, candidate.source.blocks).ok());
    const std::vector<float> found = arrays->read(2);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0, absolute = 0;
        for (std::int64_t t = 0; t < k; ++t) {
          const double product =
              static_cast<double>(a[static_cast<std::size_t>(i * k + t)]) *
              static_cast<double>(b[static_cast<std::size_t>(name[0] == 'm' ? t * n + j : j * k + t)]);
          sum += product;
          absolute += std::abs(product);
        }
        const double value = static_cast<double>(found[static_cast<std::size_t>(i * n + j)]);
        if (!std::isfinite(sum))
          ASSERT_TRUE(std::isnan(sum) ? std::isnan(value) : value == sum) << name << " " << i << " " << j;
        else
          ASSERT_NEAR(value, sum, absolute * k * 0x1p-24) << name << " " << i << " " << j;
      }
  }
}

TEST_P(AnyDevice, APrefixLeavesTheRestAlone) {
  const KernelCode candidate = add_candidate();
  auto built = device_->build(candidate);
  ASSERT_TRUE(built.ok()) << built.failure().message;
  const auto arrays = device_->allocate(candidate.kernel.buffers);
  arrays->write(0, ramp(1));
  arrays->write(1, ramp(1));
  arrays->poison(2);
  ASSERT_TRUE(built.value()->launch(*arrays, 2).ok());
  const auto c = arrays->read(2);
  for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(std::isnan(c[i]), i >= 2 * threads) << i;
}

TEST_P(AnyDevice, BlocksAddToOutputsThatStartAtZero) {
  KernelCode candidate;
  candidate.kernel = ir::parse(
      "=== kernel: sums ===\n"
      "input a: f32[40]\n"
      "output y: f32[8]\n"
      "output n: i32[2]\n"
      "Tile(axes=(a0:5=BLOCK, a1:8=THREAD)):\n"
      "  in0 = load a[((a0 * 8) + a1)]\n"
      "  y[a1] += in0\n"
      "  v0:i32 = index a0\n"
      "  n[0] += v0\n");
  candidate.source = emit(candidate.kernel, target_of(device_->info()));
  EXPECT_THAT(candidate.source.zeroed, ::testing::ElementsAre(1, 2));
  auto built = device_->build(candidate);
  ASSERT_TRUE(built.ok()) << built.failure().message;
  const auto arrays = device_->allocate(candidate.kernel.buffers);
  arrays->write(0, ramp(1));
  for (const std::size_t output : {1, 2}) arrays->poison(output);
  // Elements that no block adds to are 0.
  for (const std::int64_t some : {blocks, blocks, std::int64_t{2}, blocks}) {
    const auto time = built.value()->launch(*arrays, some);
    ASSERT_TRUE(time.ok()) << time.failure().message;
    EXPECT_GT(time.value(), 0);
    const auto y = arrays->read(1);
    for (std::size_t i = 0; i < y.size(); ++i) {  // the sum of 1 + i + 8 b over all blocks b < some
      const auto each = static_cast<float>(some), before = static_cast<float>(some * (some - 1) / 2 * threads);
      EXPECT_EQ(y[i], each * (1 + static_cast<float>(i)) + before) << i << ", " << some << " blocks";
    }
    EXPECT_THAT(arrays->read(2), ::testing::ElementsAre(threads * some * (some - 1) / 2, 0));
  }
}

TEST_P(AnyDevice, ABatchWorksOnEverySet) {
  const KernelCode candidate = add_candidate();
  auto built = device_->build(candidate);
  ASSERT_TRUE(built.ok()) << built.failure().message;
  std::vector<std::unique_ptr<Arrays>> owned;
  std::vector<Arrays*> sets;
  for (int i = 0; i < 3; ++i) {
    sets.push_back(owned.emplace_back(device_->allocate(candidate.kernel.buffers)).get());
    sets[i]->write(0, ramp(static_cast<float>(100 * i)));
    sets[i]->write(1, ramp(0));
    sets[i]->poison(2);
  }
  const auto two = built.value()->sample(sets, blocks, 2);
  ASSERT_TRUE(two.ok()) << two.failure().message;
  EXPECT_GT(two.value().us, 0);
  EXPECT_EQ(sets[1]->read(2)[0], 100);
  EXPECT_TRUE(std::isnan(sets[2]->read(2)[0]));
  ASSERT_TRUE(built.value()->sample(sets, blocks, 7).ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sets[i]->read(2)[1], static_cast<float>(100 * i + 1));
    EXPECT_EQ(sets[i]->overrun(), std::nullopt);
  }
}

// A kernel without a bounds check reads past the end of an input, and writes what it computes from it past the end of
// the output.
TEST_P(AnyDevice, WritesOfWhatWasReadPastAnEndAreFound) {
  KernelCode sum = add_candidate(), copy;
  copy.kernel = ir::parse(
      "=== kernel: copy ===\n"
      "input x: f32[40]\n"
      "output y: f32[40]\n"
      "Tile(axes=(a0:5=BLOCK, a1:8=THREAD)):\n"
      "  v = load x[((a0 * 8) + a1)]\n"
      "  y[((a0 * 8) + a1)] = v\n");
  copy.source = emit(copy.kernel, target_of(device_->info()));
  for (const KernelCode& candidate : {sum, copy}) {
    auto built = device_->build(candidate);
    ASSERT_TRUE(built.ok()) << built.failure().message;
    std::vector<ir::Buffer> shorter = candidate.kernel.buffers;
    for (ir::Buffer& buffer : shorter) buffer.shape[0] -= 3;
    const auto arrays = device_->allocate(shorter);
    for (std::size_t i = 0; i < shorter.size(); ++i)
      arrays->write(i, std::vector<float>(static_cast<std::size_t>(shorter[i].shape[0]), 1));
    EXPECT_EQ(arrays->overrun(), std::nullopt);
    if (const auto time = built.value()->launch(*arrays, blocks); !time.ok()) continue;  // the interpreter finds it
    ASSERT_TRUE(arrays->overrun()) << candidate.kernel.name;
    EXPECT_THAT(*arrays->overrun(), HasSubstr("outside of '" + shorter.back().name + "': 0 bytes past its end"));
  }
}

TEST_P(AnyDevice, BuildErrorsAreData) {
  KernelCode candidate = add_candidate();
  candidate.source.text = "__kernel void add(__global float* a) {\n  a[0] = undefined_name;\n}\n";
  candidate.kernel.body[0].as<ir::Tile>()->body.emplace_back(ir::Load{"in9", {}, "no_such_buffer", {}});
  const auto built = device_->build(candidate);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.failure().status, Status::build_error);
  EXPECT_THAT(built.failure().message, HasSubstr(is_opencl() ? "undefined_name" : "no_such_buffer"));
  EXPECT_EQ(built.failure().message.find('\n'), std::string::npos);
}

TEST_P(AnyDevice, TooManyThreadsAreTooMuch) {
  KernelCode candidate = add_candidate();
  candidate.source.threads = device_->info().max_threads * 2;
  candidate.kernel = ir::parse(
      "=== kernel: add ===\n"
      "input a: f32[1]\n"
      "input b: f32[1]\n"
      "output c: f32[1]\n"
      "Tile(axes=(a0:1=BLOCK, a1:1048576=THREAD)):\n"
      "  in0 = load a[0]\n"
      "  c[0] = in0\n");
  const auto built = device_->build(candidate);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.failure().status, Status::resource);
  EXPECT_THAT(built.failure().message, HasSubstr(is_opencl() ? "CL_INVALID_WORK_GROUP_SIZE" : "threads a block"));
}

TEST_P(AnyDevice, BuildsFromSeveralThreads) {
  std::vector<std::jthread> builders;
  std::atomic<int> right = 0;
  for (int i = 0; i < 3; ++i)
    builders.emplace_back([&, i] {
      KernelCode candidate = add_candidate();
      candidate.source.text += "// another source " + std::to_string(i) + "\n";
      right += device_->build(candidate).ok();
    });
  builders.clear();
  EXPECT_EQ(right, 3);
}

// The devices are named here, because listing them takes 35 ms, and each of a thousand tests runs in its own process.
INSTANTIATE_TEST_SUITE_P(Devices, AnyDevice, ::testing::Values("opencl:0", "interpreter"),
                         [](const auto& device) { return device.param.substr(0, device.param.find(':')); });

TEST(Interpreter, ItsTimeIsTheNumberOfStatements) {
  const auto device = open_device("interpreter");
  const KernelCode candidate = add_candidate();
  const auto built = device->build(candidate);
  ASSERT_TRUE(built.ok());
  const auto arrays = device->allocate(candidate.kernel.buffers);
  constexpr double all = 0.01 * (1 + 8 * size);  // one for the tile, and eight for each thread
  for (int i = 0; i < 2; ++i) EXPECT_DOUBLE_EQ(built.value()->launch(*arrays, blocks).value(), all);
  EXPECT_DOUBLE_EQ(built.value()->launch(*arrays, 2).value(), all * 2 / blocks);
  Arrays* const set = arrays.get();
  EXPECT_DOUBLE_EQ(built.value()->sample({&set, 1}, blocks, 3).value().us, all);
}

}  // namespace
}  // namespace deplo::measure
