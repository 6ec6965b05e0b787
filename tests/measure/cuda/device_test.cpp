// The CUDA backend on a fake driver: it makes the real calls, but needs no GPU.
#include "measure/cuda/device.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "measure/check/red_zone.h"
#include "measure/store_fixture.h"

namespace deplo::measure::cuda {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::environment) << error.what();
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "no error";
}

TEST(CudaDriver, WhatIsMissingIsSaidInOneLine) {
  fake() = FakeCuda();
  EXPECT_THAT(error_of([] { Driver driver("/nowhere/libcuda.so.1"); }),
              HasSubstr("no NVIDIA driver: expected a library in /nowhere/libcuda.so.1; it comes with the driver"));
  fake().init_code = 34;
  EXPECT_THAT(error_of([] { Driver driver(DEPLO_FAKE_CUDA); }), HasSubstr("stub"));
  fake().init_code = 100;
  EXPECT_EQ(error_of([] { Driver driver(DEPLO_FAKE_CUDA); }),
            "no CUDA device: the NVIDIA driver sees none; see nvidia-smi");
  fake().init_code = 999;
  EXPECT_EQ(error_of([] { Driver driver(DEPLO_FAKE_CUDA); }), "CUDA: cannot start the driver: CUDA error 999");
  fake().init_code = 0;
  fake().devices = 0;
  const Driver driver(DEPLO_FAKE_CUDA);
  EXPECT_TRUE(cuda_devices(driver).empty());
  EXPECT_EQ(error_of([&] { open_cuda(0, driver); }), "no CUDA device: the NVIDIA driver sees none; see nvidia-smi");
}

TEST(CudaDriver, TheToolkitsStubIsNoDriver) {
  for (const char* file : {"/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/local/cuda-13.0/lib64/stubs/libcuda.so"}) {
    if (!std::filesystem::exists(file)) continue;
    EXPECT_THAT(error_of([&] { Driver driver(file); }), HasSubstr("no NVIDIA driver: found the CUDA toolkit's stub"));
  }
}

// Statuses: docs/measurement.md, "Isolation". Codes: CUDA Driver API, CUresult.
TEST(CudaDriver, StatusesOfErrors) {
  fake() = FakeCuda();
  const Driver driver(DEPLO_FAKE_CUDA);
  const std::vector<std::pair<int, Status>> statuses{
      {1, Status::launch_error},     {2, Status::out_of_memory},    {701, Status::resource},
      {702, Status::hang},           {200, Status::load_error},     {209, Status::load_error},
      {218, Status::load_error},     {700, Status::illegal_access}, {710, Status::illegal_access},
      {714, Status::illegal_access}, {715, Status::illegal_access}, {716, Status::illegal_access},
      {717, Status::illegal_access}, {718, Status::illegal_access}, {719, Status::illegal_access},
      {721, Status::illegal_access}, {226, Status::device_lost},    {810, Status::device_lost},
      {911, Status::device_lost},    {999, Status::device_lost},    {46, Status::device_lost},
      {720, Status::launch_error}};
  for (const auto& [code, status] : statuses)
    EXPECT_EQ(driver.failure(code, Status::launch_error, "launch").status, status) << code;
  EXPECT_EQ(driver.failure(700, Status::launch_error, "launch").message, "launch: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_EQ(driver.error_name(12345), "CUDA error 12345");
}

TEST_F(FakeDevice, SaysWhatItIs) {
  const DeviceInfo info = device_->info();
  EXPECT_EQ(info.backend, "cuda");
  EXPECT_EQ(info.name, "Fake GPU 0");
  EXPECT_EQ(info.architecture, "sm_90");
  EXPECT_EQ(info.units, 4);
  EXPECT_EQ(info.clock_mhz, 1980);
  EXPECT_EQ(info.l2_bytes, 50 << 20);
  EXPECT_EQ(info.memory_bytes, std::int64_t{80} << 30);
  EXPECT_EQ(info.platform, "CUDA 13.0, NVRTC " + Nvrtc::get().version());
  EXPECT_EQ(device_->dialect(), Dialect::cuda);
  Target expected = load_target("sm_90");
  expected.units = 4;
  EXPECT_EQ(target_of(info), expected);
  EXPECT_EQ(cuda_devices(*driver_), std::vector<DeviceInfo>{info});
  EXPECT_THAT(error_of([&] { open_cuda(1, *driver_); }),
              HasSubstr("expected a device from cuda:0 to cuda:0, found cuda:1"));
}

// A driver of CUDA 12 cannot load code from NVRTC 13, so an older NVRTC compiles for it. In this test the older NVRTC
// is in the packages of a Python environment.
TEST_F(FakeDevice, AnOlderDriverGetsTheCodeOfAnOlderNvrtc) {
  if (!Nvrtc::get().version().starts_with("13.")) GTEST_SKIP() << "NVRTC " << Nvrtc::get().version();
  fake().version = 12040;
  const Driver driver(DEPLO_FAKE_CUDA);
  const std::string none = error_of([&] { open_cuda(0, driver); });
  if (none == "no error") GTEST_SKIP() << "this machine has an NVRTC 12";
  EXPECT_EQ(none, "NVRTC " + Nvrtc::get().version() +
                      " makes machine code that the driver, of CUDA 12.4, does not load: install NVRTC 12, for example "
                      "by `pip install nvidia-cuda-nvrtc-cu12`, or a driver of CUDA 13");
  EXPECT_EQ(cuda_devices(driver).at(0).platform, "CUDA 12.4, NVRTC " + Nvrtc::get().version() + ", which is too new");

  namespace fs = std::filesystem;
  const TemporaryFolder environment;
  const fs::path packages = environment.path() / "lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib";
  fs::create_directories(packages);
  fs::create_directories(environment.path() / "bin");
  fs::create_symlink(DEPLO_FAKE_NVRTC, packages / "libnvrtc.so.12");
  const fs::path builtins = packages / "libnvrtc-builtins.so.12.4";
  fs::copy_file(DEPLO_FAKE_NVRTC, builtins);  // a library, whatever it contains
  const std::string path = std::getenv("PATH");
  setenv("PATH", (environment.path() / "bin").c_str(), 1);
  const auto device = open_cuda(0, driver);
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(device->info().platform, "CUDA 12.4, NVRTC 12.4");
  EXPECT_NE(dlopen(builtins.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "NVRTC opens it by its name alone";
  EXPECT_EQ(cuda_devices(driver).at(0).platform, "CUDA 12.4, NVRTC 12.4") << "it stays open";
  const auto built = device->build(candidate());
  EXPECT_TRUE(built.ok()) << built.failure().message;
  EXPECT_EQ(device_->info().platform, "CUDA 13.0, NVRTC " + Nvrtc::get().version()) << "that of the newer driver";
}

TEST_F(FakeDevice, TargetsOfOtherArchitectures) {
  const auto target = [&](const char* architecture, std::int64_t shared) {
    DeviceInfo info = device_->info();
    info.architecture = architecture;
    info.shared_bytes = shared;
    return target_of(info);
  };
  EXPECT_EQ(target("sm_121", 101376).name, "sm_120");
  EXPECT_EQ(target("sm_103", 232448).name, "sm_100");
  EXPECT_EQ(target("sm_87", 166912).name, "sm_86");
  EXPECT_EQ(target("sm_87", 166912).shared_bytes, 166912);
  EXPECT_EQ(target("sm_87", 166912).unit_shared_bytes, 166912 + 1024);
  EXPECT_EQ(target("sm_110", 232448).name, "sm_100");
  EXPECT_EQ(target("sm_110", 232448).unit_threads, 1536);
  EXPECT_EQ(target("sm_110", 232448).unit_blocks, 24);
  EXPECT_THAT(error_of([&] { target("sm_75", 65536); }), HasSubstr("expected a GPU of sm_80 or later, found sm_75"));
}

TEST_F(FakeDevice, ArraysHoldElements) {
  const std::vector<ir::Buffer> types{dense_buffer("f", ir::DType::f32, {5}, ir::Role::input),
                                      dense_buffer("i", ir::DType::i32, {7}, ir::Role::input),
                                      dense_buffer("b", ir::DType::boolean, {3}, ir::Role::output)};
  const auto arrays = device_->allocate(types);
  arrays->write(0, numbers(5));
  arrays->write(1, numbers(7, -3));
  arrays->write(2, std::vector<float>{0, 2, 1});
  EXPECT_EQ(arrays->read(0), numbers(5));
  EXPECT_EQ(arrays->read(1), numbers(7, -3));
  EXPECT_EQ(arrays->read(2), (std::vector<float>{0, 1, 1}));
  arrays->poison(0);
  arrays->poison(1);
  EXPECT_TRUE(std::isnan(arrays->read(0)[4]));
  EXPECT_THAT(arrays->read(1), Each(-1.F));
  EXPECT_EQ(arrays->overrun(), std::nullopt);
}

TEST_F(FakeDevice, RedZonesAndViews) {
  const auto arrays = device_->allocate(buffers());
  const Place numbers_of[] = {{1}};
  const auto view = arrays->view(numbers_of, {dense_buffer("part", ir::DType::f32, {10}, ir::Role::output)});
  arrays->write(1, numbers(64));
  EXPECT_EQ(view->read(0), numbers(10));
  const Place later[] = {{1, 128}};  // byte 128 of an array of floats: element 32
  const auto behind = arrays->view(later, {dense_buffer("part", ir::DType::f32, {10}, ir::Role::output)});
  EXPECT_EQ(behind->read(0), numbers(10, 33));
  for (const std::ptrdiff_t element : {64, 64 + 1023, -1, -1024}) {
    EXPECT_EQ(arrays->overrun(), std::nullopt);
    EXPECT_EQ(view->overrun(), std::nullopt);
    EXPECT_EQ(behind->overrun(), std::nullopt);
    float old = 0;
    fake().kernels["k"].run = [&](const FakeLaunch& launch) {
      old = launch.pointer<float>(1)[element];
      launch.pointer<float>(1)[element] = 5;
    };
    ASSERT_TRUE(build(candidate())->launch(*arrays, 1).ok());
    ASSERT_TRUE(arrays->overrun()) << element;
    EXPECT_THAT(*arrays->overrun(), HasSubstr("'y'")) << element;
    EXPECT_TRUE(view->overrun()) << element;
    fake().launches.back().pointer<float>(1)[element] = old;
  }
}

TEST_F(FakeDevice, ALaunchPassesTheBuffers) {
  const auto arrays = device_->allocate(buffers());
  arrays->write(0, numbers(64));
  const auto executable = build(candidate());
  forget();
  const auto us = executable->launch(*arrays, 2);
  ASSERT_TRUE(us.ok()) << us.failure().message;
  EXPECT_FLOAT_EQ(static_cast<float>(us.value()), 10);
  EXPECT_EQ(arrays->read(1)[63], 128);
  EXPECT_THAT(calls("cuLaunchKernel k"), ElementsAre("cuLaunchKernel k blocks=2 threads=32 shared=0"));
  arrays->poison(1);
  ASSERT_TRUE(executable->launch(*arrays, 1).ok());
  EXPECT_EQ(arrays->read(1)[31], 64);
  EXPECT_TRUE(std::isnan(arrays->read(1)[32]));
  EXPECT_GT(executable->resources().registers, 0);
  EXPECT_EQ(executable->resources().binary_digest.size(), 32u);
  EXPECT_EQ(executable->resources().limiter, "blocks");
}

// `deplo run --no-measure` uses execute(): it runs the kernel, but records no events and does not read the clock.
TEST_F(FakeDevice, WithoutATimeTheClockIsNotAsked) {
  const auto arrays = device_->allocate(buffers());
  arrays->write(0, numbers(64));
  const auto executable = build(candidate());
  forget();
  EXPECT_FALSE(executable->execute(*arrays, 2));
  EXPECT_EQ(arrays->read(1)[63], 128);
  EXPECT_THAT(calls("cuLaunchKernel"), ElementsAre("cuLaunchKernel k blocks=2 threads=32 shared=0"));
  EXPECT_THAT(calls("cuEvent"), ::testing::IsEmpty());
  forget();
  ASSERT_TRUE(executable->launch(*arrays, 2).ok());
  EXPECT_THAT(calls("cuEvent"), Not(::testing::IsEmpty())) << "with a time it is";
  fake().fails_at_wait = 700;
  EXPECT_EQ(executable->execute(*arrays, 2).value().status, Status::illegal_access);
}

TEST_F(FakeDevice, ASampleIsOneGraph) {
  std::vector<std::unique_ptr<Arrays>> owned;
  std::vector<Arrays*> sets;
  for (int i = 0; i < 3; ++i) {
    owned.push_back(device_->allocate(buffers()));
    owned.back()->write(0, numbers(64, static_cast<float>(i)));
    sets.push_back(owned.back().get());
  }
  const auto executable = build(candidate());
  forget();
  const auto sample = executable->sample(sets, 2, 8);
  ASSERT_TRUE(sample.ok()) << sample.failure().message;
  EXPECT_FLOAT_EQ(static_cast<float>(sample.value().us), 10);
  EXPECT_NEAR(sample.value().clock_mhz, 1500, 1);
  EXPECT_THAT(calls("cuGraphInstantiate"), ElementsAre("cuGraphInstantiate steps=8"));
  EXPECT_EQ(calls("cuLaunchKernel k").size(), 8u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(owned[static_cast<std::size_t>(i)]->read(1)[10], 2 * (10 + i));
  // Eight launches, which use the sets in turn, lie between two readings of the clock. The first reading keeps the
  // device busy.
  EXPECT_GT(*reinterpret_cast<const long long*>(fake().launches[0].parameters[1].data()), 0);
  EXPECT_EQ(*reinterpret_cast<const long long*>(fake().launches[9].parameters[1].data()), 0);
  ASSERT_EQ(fake().launches.size(), 10u);
  for (std::size_t i = 1; i <= 8; ++i)
    EXPECT_EQ(fake().launches[i].pointer<float>(0), fake().launches[1 + (i - 1) % 3].pointer<float>(0)) << i;
  EXPECT_NE(fake().launches[1].pointer<float>(0), fake().launches[2].pointer<float>(0));

  forget();
  ASSERT_TRUE(executable->sample(sets, 2, 8).ok());
  EXPECT_THAT(calls("cuGraphInstantiate"), ElementsAre()) << "the same addresses: the same graph";
  ASSERT_TRUE(executable->sample(std::span(sets).first(1), 2, 8).ok());
  ASSERT_TRUE(executable->sample(sets, 1, 8).ok());
  EXPECT_EQ(calls("cuGraphInstantiate").size(), 2u);
  for (int batch = 1; batch <= 10; ++batch) ASSERT_TRUE(executable->sample(sets, 2, batch).ok());
  EXPECT_LE(fake().execs, 4);
}

// The nodes of a graph refer to code of the module, so the graphs must be destroyed before the module is unloaded.
TEST_F(FakeDevice, GraphsGoBeforeTheirModule) {
  const auto arrays = device_->allocate(buffers());
  Arrays* const set = arrays.get();
  auto executable = build(candidate());
  ASSERT_TRUE(executable->sample({&set, 1}, 2, 4).ok());
  ASSERT_TRUE(executable->sample({&set, 1}, 1, 4).ok());
  forget();
  executable.reset();
  std::erase_if(fake().calls,
                [](const std::string& call) { return !call.starts_with("cuGraph") && !call.starts_with("cuModule"); });
  EXPECT_THAT(fake().calls, ElementsAre("cuGraphExecDestroy", "cuGraphExecDestroy", "cuModuleUnload"));
}

TEST_F(FakeDevice, AChainIsOneGraph) {
  // y is computed from x and z from y. The second kernel adds to z, so z is zeroed first.
  const auto slot = [](const std::string& name) { return dense_buffer(name, ir::DType::f32, {64}, ir::Role::output); };
  const auto arrays = device_->allocate({slot("x"), slot("y"), slot("z")});
  arrays->write(0, numbers(64));
  KernelCode adds = candidate();
  adds.source.zeroed = {1};
  const auto first = build(candidate()), second = build(adds);
  const auto chain =
      device_->chain({{first.get(), 2, {{0}, {1}}, buffers()}, {second.get(), 2, {{1}, {2}}, buffers()}});
  Arrays* const set = arrays.get();
  forget();
  const auto sample = chain->sample({&set, 1}, 1, 3);
  ASSERT_TRUE(sample.ok()) << sample.failure().message;
  EXPECT_FLOAT_EQ(static_cast<float>(sample.value().us), 22) << "two kernels of 10 and a fill of 2";
  EXPECT_THAT(calls("cuGraphInstantiate"), ElementsAre("cuGraphInstantiate steps=9"));
  EXPECT_EQ(arrays->read(2)[63], 4 * 64);
  arrays->poison(2);
  EXPECT_FLOAT_EQ(static_cast<float>(chain->launch(*arrays, 1).value()), 22);
  EXPECT_EQ(arrays->read(2)[0], 4);
}

TEST_F(FakeDevice, FillsAreLaunchesOfTheCandidate) {
  const auto arrays = device_->allocate(buffers());
  arrays->write(0, numbers(64));
  KernelCode adds = candidate();
  adds.source.zeroed = {1};
  fake().kernels["k"].run = [](const FakeLaunch& launch) {
    for (unsigned i = 0; i < launch.blocks * launch.threads; ++i) launch.pointer<float>(1)[i] += 1;
  };
  const auto executable = build(adds);
  Arrays* const set = arrays.get();
  forget();
  const auto whole = executable->sample({&set, 1}, 2, 5);
  ASSERT_TRUE(whole.ok());
  EXPECT_FLOAT_EQ(static_cast<float>(whole.value().us), 12) << "10 for the kernel, 2 for the fill";
  EXPECT_THAT(calls("cuGraphInstantiate"), ElementsAre("cuGraphInstantiate steps=10"));
  EXPECT_THAT(arrays->read(1), Each(1.F));
  // Half of the blocks run, so half of the fill's time counts.
  EXPECT_FLOAT_EQ(static_cast<float>(executable->sample({&set, 1}, 1, 5).value().us), 11);
  EXPECT_FLOAT_EQ(static_cast<float>(executable->launch(*arrays, 1).value()), 11);
  EXPECT_FLOAT_EQ(static_cast<float>(executable->launch(*arrays, 2).value()), 12);
}

TEST_F(FakeDevice, CopiesOfSavedContentsTakeNoTime) {
  const auto arrays = device_->allocate(buffers());
  arrays->write(1, numbers(64));
  arrays->save(1);
  KernelCode adds = candidate();
  adds.source.restored = {1};
  fake().kernels["k"].run = [](const FakeLaunch& launch) {
    for (unsigned i = 0; i < launch.blocks * launch.threads; ++i) launch.pointer<float>(1)[i] += 1;
  };
  const auto executable = build(adds);
  Arrays* const set = arrays.get();
  EXPECT_FLOAT_EQ(static_cast<float>(executable->sample({&set, 1}, 2, 5).value().us), 10);
  EXPECT_FLOAT_EQ(static_cast<float>(executable->launch(*arrays, 2).value()), 10);
  const ir::Numbers before = numbers(64), after = arrays->read(1);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], before[i] + 1) << "of one launch";
}

TEST_F(FakeDevice, AGridHasABound) {
  const auto refused = device_->build(candidate(twice_source(std::int64_t{1} << 31)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().status, Status::resource);
}

TEST_F(FakeDevice, DynamicSharedMemoryIsAskedFor) {
  ir::KernelSource source = source_of(
      "extern \"C\" __global__ void k(const float* x, float* y) {\n  extern __shared__ float s[];\n"
      "  s[threadIdx.x] = x[threadIdx.x];\n  __syncthreads();\n  y[threadIdx.x] = s[threadIdx.x ^ 1];\n}\n",
      32);
  source.dynamic_shared = true;
  source.shared_bytes = 100'000;
  const auto arrays = device_->allocate(buffers());
  forget();
  const auto executable = build(candidate(source));
  EXPECT_THAT(calls("cuFuncSetAttribute"), ElementsAre("cuFuncSetAttribute 8 100000", "cuFuncSetAttribute 9 87"))
      << "87 % of the unit's 228 KiB: two blocks, each with 1 KiB of the system's";
  ASSERT_TRUE(executable->launch(*arrays, 1).ok());
  EXPECT_THAT(calls("cuLaunchKernel k"), ElementsAre("cuLaunchKernel k blocks=1 threads=32 shared=100000"));
  EXPECT_EQ(executable->resources().dynamic_shared_bytes, 100'000);
  EXPECT_EQ(executable->resources().limiter, "shared");
  source.shared_bytes = 300'000;
  const auto refused = device_->build(candidate(source));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().status, Status::resource);
}

// cuTensorMapEncodeTiled counts dimensions from the innermost. Strides are in bytes; the innermost has none.
TEST_F(FakeDevice, TensorMapsStandBehindTheBuffers) {
  KernelCode tma = candidate();
  tma.kernel.buffers = {dense_buffer("x", ir::DType::f32, {6, 32, 128}, ir::Role::input),
                        dense_buffer("n", ir::DType::i32, {64, 32}, ir::Role::input),
                        dense_buffer("y", ir::DType::f32, {64}, ir::Role::output)};
  tma.source.tensor_maps = {
      {.buffer = 1, .shape = {64, 32}, .strides = {32, 1}, .box = {8, 4}, .swizzle = 0},
      {.buffer = 0, .shape = {6, 32, 128}, .strides = {4096, 128, 1}, .box = {1, 16, 32}, .swizzle = 128}};
  std::vector<std::vector<std::uint64_t>> maps;
  fake().kernels["k"] = {{8, 8, 8, 128, 128}, [&](const FakeLaunch& launch) {
                           for (const std::size_t i : {3, 4}) {
                             maps.emplace_back(16);
                             std::memcpy(maps.back().data(), launch.parameters[i].data(), 128);
                           }
                         }};
  const auto arrays = device_->allocate(tma.kernel.buffers);
  const auto executable = build(tma);
  ASSERT_TRUE(executable->launch(*arrays, 1).ok());
  ASSERT_EQ(maps.size(), 2u);
  const auto& launch = fake().launches.back();
  const auto address = [&](std::size_t buffer) {
    return reinterpret_cast<std::uint64_t>(launch.pointer<float>(buffer));
  };
  // The words of a map: type, rank and swizzle; shape; strides; box; address.
  EXPECT_EQ(maps[0], (std::vector<std::uint64_t>{3 << 16 | 2 << 8 | 0, 32, 64, 0, 0, 0, 128, 0, 0, 0, 4, 8, 0, 0, 0,
                                                 address(1)}));
  EXPECT_EQ(maps[1], (std::vector<std::uint64_t>{7 << 16 | 3 << 8 | 3, 128, 32, 6, 0, 0, 512, 16384, 0, 0, 32, 16, 1, 0,
                                                 0, address(0)}));
  // In a graph, each launch has the maps of its own arrays.
  const auto other = device_->allocate(tma.kernel.buffers);
  maps.clear();
  const std::vector<Arrays*> sets{arrays.get(), other.get()};
  ASSERT_TRUE(executable->sample(sets, 1, 2).ok());
  ASSERT_EQ(maps.size(), 4u);
  EXPECT_NE(maps[0][15], maps[2][15]);
  fake().fail["fake_encode"] = 1;
  const auto refused = executable->launch(*arrays, 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().status, Status::load_error);
}

}  // namespace
}  // namespace deplo::measure::cuda
