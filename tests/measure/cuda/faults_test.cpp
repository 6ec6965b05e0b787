// Failures of a CUDA device, and cuBLAS, on the fake driver.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "core/rng.h"
#include "measure/baselines/baselines.h"
#include "measure/cuda/clock.h"
#include "measure/cuda/cublas.h"
#include "measure/cuda/device.h"
#include "measure/matmul_shape.h"
#include "measure/protocol/problem.h"
#include "measure/protocol/sampling.h"

namespace deplo::measure::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(FakeDevice, EveryFailedCallOfABuildIsACandidatesFailure) {
  for (const auto& [call, code, status] :
       std::vector<std::tuple<const char*, int, Status>>{{"cuModuleLoadData", 209, Status::load_error},
                                                         {"cuModuleLoadData", 2, Status::out_of_memory},
                                                         {"cuModuleGetFunction", 500, Status::load_error}}) {
    fake().fail[call] = code;
    const auto built = device_->build(candidate());
    ASSERT_FALSE(built.ok()) << call;
    EXPECT_EQ(built.failure().status, status) << call << " " << code;
    EXPECT_TRUE(fake().fail.empty());
  }
  const auto broken = device_->build(candidate(source_of("nonsense")));
  EXPECT_EQ(broken.failure().status, Status::build_error);
  EXPECT_TRUE(device_->build(candidate()).ok());
}

TEST_F(FakeDevice, EveryFailedCallOfALaunchOrASampleIsToo) {
  const auto arrays = device_->allocate(buffers());
  Arrays* const set = arrays.get();
  KernelCode adds = candidate();
  adds.source.zeroed = {1};
  for (const char* call : {"cuEventRecord", "cuMemsetD8Async", "cuLaunchKernel", "cuStreamSynchronize"}) {
    const auto executable = build(adds);
    fake().fail[call] = 701;
    const auto launched = executable->launch(*arrays, 1);
    ASSERT_FALSE(launched.ok()) << call;
    EXPECT_EQ(launched.failure().status, Status::resource) << call;
    EXPECT_TRUE(executable->launch(*arrays, 1).ok()) << call;
  }
  for (const char* call : {"cuStreamBeginCapture_v2", "cuMemsetD8Async", "cuLaunchKernel", "cuStreamEndCapture",
                           "cuGraphInstantiateWithFlags", "cuGraphUpload", "cuGraphLaunch", "cuEventRecord"}) {
    const auto executable = build(adds);
    fake().fail[call] = 1;
    const auto sampled = executable->sample({&set, 1}, 2, 4);
    ASSERT_FALSE(sampled.ok()) << call;
    EXPECT_EQ(sampled.failure().status, Status::launch_error) << call;
    EXPECT_EQ(fake().graphs, 0) << call;
    EXPECT_TRUE(executable->sample({&set, 1}, 2, 4).ok()) << call;
  }
}

TEST_F(FakeDevice, AStickyErrorStaysAndIsSaid) {
  const auto arrays = device_->allocate(buffers());
  Arrays* const set = arrays.get();
  const auto executable = build(candidate());
  fake().fails_at_wait = 700;
  const auto launched = executable->launch(*arrays, 1);
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.failure().status, Status::illegal_access);
  EXPECT_EQ(launched.failure().message, "32 threads a block: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  // From now on every call fails with an error. No call hangs or aborts.
  EXPECT_THROW(arrays->read(0), Error);
  EXPECT_THROW(arrays->overrun(), Error);
  EXPECT_THROW(executable->launch(*arrays, 1), Error);
  EXPECT_THROW(executable->sample({&set, 1}, 1, 1), Error);
  EXPECT_THROW(device_->allocate(buffers()), Error);
}

TEST_F(FakeDevice, OutOfMemoryIsOneLineAndLeaksNothing) {
  const std::size_t before = fake().memory.size();
  for (int i = 0; i < 2; ++i) {
    fake().fail["cuMemAlloc_v2"] = 2;
    try {
      device_->allocate(buffers());
      FAIL();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "CUDA: cannot allocate 256 bytes for 'x': CUDA_ERROR_OUT_OF_MEMORY (2)");
    }
  }
  fake().fail["cuMemcpyHtoDAsync_v2"] = 1;
  EXPECT_THROW(device_->allocate(buffers()), Error);
  EXPECT_EQ(fake().memory.size(), before);
}

TEST(ClockMhz, ComparesEachUnitWithItself) {
  const std::vector<ClockReading> before{{0, 1000, 50}, {1, 1000, 90'000}, {2, 1000, 0}, {3, 5000, 7}};
  const std::vector<ClockReading> after{{2, 3000, 4000}, {1, 2000, 91'500}, {0, 3000, 3050}, {3, 4000, 9}, {4, 9, 9}};
  EXPECT_DOUBLE_EQ(clock_mhz(before, after), 1500) << "2000, 1500 and 1500; what ran backwards or alone is left out";
  EXPECT_EQ(clock_mhz({}, after), 0);
  EXPECT_EQ(clock_mhz(before, before), 0) << "no time went by";
}

TEST_F(FakeDevice, CublasIsRowMajorToUs) {
  const Cublas cublas(*device_, DEPLO_FAKE_CUDA);
  EXPECT_EQ(cublas.version(), "13.0.2");
  constexpr std::int64_t m = 3, n = 5, k = 4, batch = 2;
  for (const bool transposed : {false, true})
    for (const std::int64_t count : {std::int64_t{1}, batch}) {
      const auto arrays = device_->allocate({dense_buffer("a", ir::DType::f32, {count, m, k}, ir::Role::input),
                                             dense_buffer("b", ir::DType::f32, {count, k, n}, ir::Role::input),
                                             dense_buffer("c", ir::DType::f32, {count, m, n}, ir::Role::output)});
      Rng rng(1);
      const auto draw = [&](std::int64_t size) {
        std::vector<float> values;
        for (std::int64_t i = 0; i < size; ++i) values.push_back(static_cast<float>(rng.below(9)) - 4);
        return values;
      };
      const std::vector<float> a = draw(count * m * k), b = draw(count * k * n);
      arrays->write(0, a);
      arrays->write(1, b);
      auto gemm = cublas.gemm({.m = m, .n = n, .k = k, .batch = count, .b_transposed = transposed});
      ASSERT_TRUE(gemm.ok());
      ASSERT_TRUE(gemm.value()->launch(*arrays, 1).ok());
      std::vector<float> expected;
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t row = 0; row < m; ++row)
          for (std::int64_t column = 0; column < n; ++column) {
            float sum = 0;
            for (std::int64_t p = 0; p < k; ++p)
              sum += a[static_cast<std::size_t>((i * m + row) * k + p)] *
                     b[static_cast<std::size_t>(transposed ? (i * n + column) * k + p : (i * k + p) * n + column)];
            expected.push_back(sum);
          }
      EXPECT_EQ(arrays->read(2), expected) << transposed << " " << count;
      Arrays* const set = arrays.get();
      EXPECT_FLOAT_EQ(static_cast<float>(gemm.value()->sample({&set, 1}, 1, 3).value().us), 30);
    }
}

TEST_F(FakeDevice, CublasOfSixteenBitsSumsInF32) {
  const Cublas cublas(*device_, DEPLO_FAKE_CUDA);
  constexpr std::int64_t m = 3, n = 5, k = 4;
  for (const ir::DType result : {ir::DType::bf16, ir::DType::f32})
    for (const std::int64_t batch : {1, 2}) {
      const auto arrays = device_->allocate({dense_buffer("a", ir::DType::bf16, {batch, m, k}, ir::Role::input),
                                             dense_buffer("b", ir::DType::bf16, {batch, n, k}, ir::Role::input),
                                             dense_buffer("c", result, {batch, m, n}, ir::Role::output)});
      std::vector<float> a(static_cast<std::size_t>(batch * m * k)), b(static_cast<std::size_t>(batch * n * k));
      std::iota(a.begin(), a.end(), -3.0F);
      std::iota(b.begin(), b.end(), -9.0F);
      for (float& value : a) value = std::fmod(value, 4.0F);
      for (float& value : b) value = std::fmod(value, 3.0F);
      arrays->write(0, a);
      arrays->write(1, b);
      forget();
      const auto gemm = cublas.gemm(
          {.m = m, .n = n, .k = k, .batch = batch, .b_transposed = true, .factors = ir::DType::bf16, .result = result});
      ASSERT_TRUE(gemm.ok());
      ASSERT_TRUE(gemm.value()->launch(*arrays, 1).ok());
      EXPECT_THAT(calls("cublasSetMathMode"), ElementsAre("cublasSetMathMode 16")) << "no reduced partial sums";
      EXPECT_THAT(calls("cublasGemmEx").at(0),
                  HasSubstr(fmt::format("types=14,14,{} compute=68", result == ir::DType::f32 ? 0 : 14)));
      std::vector<float> expected;
      for (std::int64_t i = 0; i < batch; ++i)
        for (std::int64_t row = 0; row < m; ++row)
          for (std::int64_t column = 0; column < n; ++column) {
            float sum = 0;
            for (std::int64_t p = 0; p < k; ++p)
              sum += a[static_cast<std::size_t>((i * m + row) * k + p)] *
                     b[static_cast<std::size_t>((i * n + column) * k + p)];
            expected.push_back(sum);
          }
      EXPECT_EQ(arrays->read(2), expected) << batch;
    }
}

TEST_F(FakeDevice, CublasSaysTf32ByName) {
  const Cublas cublas(*device_, DEPLO_FAKE_CUDA);
  const auto arrays = device_->allocate({buffers()[0], buffers()[0], buffers()[1]});
  for (const bool tf32 : {false, true, false}) {
    const auto gemm = cublas.gemm({.m = 8, .n = 8, .k = 8}, tf32);
    forget();
    ASSERT_TRUE(gemm.value()->launch(*arrays, 1).ok());
    EXPECT_THAT(calls("cublasSetMathMode"), ElementsAre(tf32 ? "cublasSetMathMode 3" : "cublasSetMathMode 0"));
  }
  fake().fail["cublasSgemmStridedBatched"] = 13;  // the next call fails
  const auto failed = cublas.gemm({.m = 8, .n = 8, .k = 8}).value()->launch(*arrays, 1);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().message, "cuBLAS: CUBLAS_STATUS_SOMETHING");
  EXPECT_EQ(cublas.gemm({.m = std::int64_t{1} << 40}).failure().status, Status::invalid);
  try {
    const Cublas missing(*device_, "/nowhere/libcublas.so");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no cuBLAS: expected a library in /nowhere/libcublas.so; it comes with"));
  }
}

// tf32 is a computation of reduced precision. It passes the check only with a tolerance of its own.
TEST_F(FakeDevice, Tf32IsABaselineThatIsMarkedAsSuch) {
  const ir::Program loop = ir::parse(
      "=== loop: product ===\ninput a: f32[8, 64]\ninput b: f32[64, 8]\noutput c: f32[8, 8]\n"
      "for a0 in 0..8: # free\n  for a1 in 0..8: # free\n    for a2 in 0..64: # reduce\n"
      "      in0 = load a[a0, a2]\n      in1 = load b[a2, a1]\n      v0 = multiply(in0, in1)\n      acc0 <- add(acc0, "
      "v0)\n"
      "    c[a0, a1] = acc0\n");
  const auto both = cublas_matmuls(std::make_shared<const Cublas>(*device_, DEPLO_FAKE_CUDA), *matmul_shape(loop));
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].precision, "fp32");
  EXPECT_EQ(both[1].precision, "tf32");
  Problem problem(loop, *device_, 1);
  Protocol protocol;
  protocol.rounds = protocol.max_rounds = 6;
  const auto times = confirm(std::vector<Contender>{{both[0].executable.get(), {}, false},
                                                    {both[1].executable.get(), {}, true},
                                                    {both[1].executable.get(), {}, false}},
                             problem, protocol, {});
  EXPECT_TRUE(times[0].ok()) << times[0].failure().message;
  EXPECT_TRUE(times[1].ok()) << times[1].failure().message;
  ASSERT_FALSE(times[2].ok());
  EXPECT_EQ(times[2].failure().status, Status::wrong_result);
  // If the kernel allows tf32, cuBLAS's result is checked like those of deplo's kernels, and passes.
  ir::Program allows = loop;
  allows.allow_tf32 = true;
  Problem allowed(allows, *device_, 1);
  EXPECT_TRUE(confirm(std::vector<Contender>{{both[1].executable.get(), {}, false}}, allowed, protocol, {})[0].ok());
}

TEST_F(FakeDevice, MatmulsOfSixteenBitsHaveABaselineOfTheirType) {
  ir::Program loop = ir::parse(
      "=== loop: product ===\ninput a: bf16[8, 64]\ninput b: bf16[64, 8]\noutput c: f32[8, 8]\n"
      "for a0 in 0..8: # free\n  for a1 in 0..8: # free\n    for a2 in 0..64: # reduce\n"
      "      in0 = load a[a0, a2]\n      in1 = load b[a2, a1]\n      v0 = multiply(in0, in1)\n"
      "      acc0 <- add(acc0, v0)\n    c[a0, a1] = acc0\n");
  const auto found = cublas_matmuls(std::make_shared<const Cublas>(*device_, DEPLO_FAKE_CUDA), *matmul_shape(loop));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].precision, "bf16");
  Problem problem(loop, *device_, 1);
  Protocol protocol;
  protocol.rounds = protocol.max_rounds = 6;
  const auto times = confirm(std::vector<Contender>{{found[0].executable.get(), {}, false}}, problem, protocol, {});
  EXPECT_TRUE(times[0].ok()) << times[0].failure().message;
}

}  // namespace
}  // namespace deplo::measure::cuda
