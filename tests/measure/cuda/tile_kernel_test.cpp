// Kernels that NVIDIA's compiler made of tile programs, on the fake driver: the arguments of a launch, and failures.
#include "measure/cuda/tile_kernel.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "core/file.h"
#include "measure/baselines/baselines.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/cuda/device.h"
#include "measure/cuda/library.h"
#include "measure/protocol/problem.h"
#include "measure/protocol/sampling.h"

namespace deplo::measure::cuda {
namespace {

using ::testing::HasSubstr;

std::vector<std::uint8_t> bytes_of(float value) {
  std::vector<std::uint8_t> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Returns a cubin with the parameters of a kernel y = factor x. The fake driver does not execute its code.
std::string small_cubin() {
  const char* const text =
      "extern \"C\" __global__ void k(const float* x, int n, float factor, float* y) { y[n] = factor * x[n]; }\n";
  return Nvrtc::get().compile(text, Nvrtc::get().options("sm_90")).cubin;
}

TEST_F(FakeDevice, LaunchesATileKernelByItsParameters) {
  fake().kernels["k"] = {{8, 4, 4, 8}, [](const FakeLaunch& launch) {
                           for (int i = 0; i < launch.number<int>(1) - 1; ++i)  // the last element is not written
                             launch.pointer<float>(3)[i] = launch.number<float>(2) * launch.pointer<float>(0)[i];
                         }};
  const TileKernel tile{
      .cubin = small_cubin(),
      .entry = "k",
      .arguments = {std::size_t{1}, std::vector<std::uint8_t>{7, 0, 0, 0}, bytes_of(3), std::size_t{0}},
      .grid = {4, 2, 3},
      .zeroed = {0}};
  auto loaded = load_tile_kernel(*device_, tile);
  ASSERT_TRUE(loaded.ok()) << loaded.failure().message;
  const auto arrays = device_->allocate({dense_buffer("y", ir::DType::f32, {7}, ir::Role::output),
                                         dense_buffer("x", ir::DType::f32, {7}, ir::Role::input)});
  arrays->write(1, numbers(7));
  arrays->poison(0);
  forget();
  const auto time = loaded.value()->launch(*arrays, 1);
  ASSERT_TRUE(time.ok()) << time.failure().message;
  EXPECT_FLOAT_EQ(static_cast<float>(time.value()), 12) << "the kernel and the fill";
  ASSERT_FALSE(fake().launches.empty());
  const FakeLaunch& launch = fake().launches.back();  // the probe of the clock was launched earlier
  EXPECT_EQ((std::array{launch.blocks, launch.blocks_y, launch.blocks_z}), (std::array{4U, 2U, 3U}));
  EXPECT_EQ(launch.threads, 1U);
  EXPECT_EQ(launch.shared_bytes, 0U);
  EXPECT_EQ(arrays->read(0), (std::vector<float>{3, 6, 9, 12, 15, 18, 0}));

  Arrays* const set = arrays.get();
  const auto sample = loaded.value()->sample({&set, 1}, 1, 5);
  ASSERT_TRUE(sample.ok()) << sample.failure().message;
  EXPECT_FLOAT_EQ(static_cast<float>(sample.value().us), 12);
  EXPECT_EQ(calls("cuGraphInstantiate"), std::vector<std::string>{"cuGraphInstantiate steps=10"});
}

TEST_F(FakeDevice, RefusesATileKernelOfOtherParameters) {
  const std::string cubin = small_cubin();
  const auto failure = [&](TileKernel tile) {
    const auto loaded = load_tile_kernel(*device_, tile);
    EXPECT_FALSE(loaded.ok());
    if (loaded.ok()) return std::string();
    EXPECT_EQ(loaded.failure().status, Status::load_error);
    return loaded.failure().message;
  };
  const std::vector<KernelArgument> right{std::size_t{0}, bytes_of(7), bytes_of(3), std::size_t{1}};
  EXPECT_EQ(failure({.cubin = "no cubin", .entry = "k", .arguments = right}), "expected a cubin, found other bytes");
  const std::vector<KernelArgument> exchanged{std::size_t{0}, bytes_of(7), std::size_t{1}, bytes_of(3)};
  EXPECT_EQ(failure({.cubin = cubin, .entry = "k", .arguments = exchanged}),
            "entry k: expected parameters of [8, 4, 8, 4] bytes, found [8, 4, 4, 8] in the cubin");
  EXPECT_THAT(failure({.cubin = cubin, .entry = "other", .arguments = right}), HasSubstr("found [] in the cubin"));
  fake().fail["cuModuleLoadData"] = 209;
  EXPECT_THAT(failure({.cubin = cubin, .entry = "k", .arguments = right}), HasSubstr("load the cubin"));
}

/// y = 0.5 x for n numbers, and the call of its exported kernel. The arguments are the pointer, extent and stride of
/// each array, then the factor.
struct Scale {
  static constexpr int n = 1000;
  ir::Program loop =
      ir::parse(fmt::format("=== loop: scale ===\ninput x: f16[{0}]\noutput y: f16[{0}]\n"
                            "for a0 in 0..{0}: # free\n  in0 = load x[a0]\n"
                            "  v0 = multiply(in0, 0.5)\n  y[a0] = v0\n",
                            n));
  TileCall call() const {
    const std::string bytes = read_file(DEPLO_SOURCE_DIR "/experiments/tile/exported/scale_13.3.tileirbc");
    const std::vector<std::uint8_t> extent{n & 255, n >> 8, 0, 0}, stride{1, 0, 0, 0};
    TileCall call{.bytecode = {bytes.begin(), bytes.end()}, .entry = "scale", .grid = {8, 1, 1}};
    for (const char* buffer : {"x", "y"}) {
      call.arguments.push_back({.buffer = buffer});
      call.arguments.push_back({.bytes = extent});
      call.arguments.push_back({.bytes = stride});
    }
    call.arguments.push_back({.bytes = bytes_of(0.5F)});
    return call;
  }
};

// The real compiler makes the kernel. The fake driver finds its entry, but runs a C++ function instead.
TEST_F(FakeDevice, TileirasIsABaselineThatIsChecked) {
  if (!find_program("tileiras")) GTEST_SKIP() << "no tileiras";
  const Scale scale;
  float factor = 1;
  fake().kernels["scale"] = {{8, 4, 4, 8, 4, 4, 4}, [&factor](const FakeLaunch& launch) {
                               EXPECT_EQ(launch.number<int>(1), Scale::n);
                               const auto* const x = launch.pointer<_Float16>(0);
                               for (int i = 0; i < Scale::n; ++i)
                                 launch.pointer<_Float16>(3)[i] =
                                     static_cast<_Float16>(factor * launch.number<float>(6) * static_cast<float>(x[i]));
                             }};
  Baselines baselines = find_baselines(scale.loop, *device_, scale.call());
  ASSERT_EQ(baselines.found.size(), 1U) << baselines.none;
  EXPECT_EQ(baselines.none, "");
  const Baseline& tileiras = baselines.found.front();
  EXPECT_EQ(tileiras.library, "tileiras");
  EXPECT_THAT(tileiras.version, ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(tileiras.precision, "f16");
  EXPECT_GT(tileiras.executable->resources().registers, 0);

  Problem problem(scale.loop, *device_, 1);
  const Contender contender{tileiras.executable.get(), {}};
  Protocol protocol;
  protocol.rounds = protocol.max_rounds = 6;
  const auto timed = confirm({&contender, 1}, problem, protocol, {});
  ASSERT_TRUE(timed[0].ok()) << timed[0].failure().message;
  EXPECT_EQ(timed[0].value().samples.size(), 6U);
  factor = 1.25;
  const auto wrong = confirm({&contender, 1}, problem, protocol, {});
  ASSERT_FALSE(wrong[0].ok());
  EXPECT_EQ(wrong[0].failure().status, Status::wrong_result);
}

TEST_F(FakeDevice, SaysWhyTileirasIsNoBaseline) {
  const Scale scale;
  EXPECT_EQ(find_baselines(scale.loop, *device_, TileCall{.problem = "found a text"}).none, "tileiras: found a text");
  EXPECT_EQ(find_baselines(scale.loop, *device_).none, "no library has this kernel");
  if (!find_program("tileiras")) {
    EXPECT_THAT(find_baselines(scale.loop, *device_, scale.call()).none,
                HasSubstr("tileiras: no tileiras: expected it"));
    return;
  }
  TileCall damaged = scale.call();
  damaged.bytecode.resize(20);
  const Baselines none = find_baselines(scale.loop, *device_, damaged);
  EXPECT_TRUE(none.found.empty());
  EXPECT_THAT(none.none, HasSubstr("tileiras: "));
}

}  // namespace
}  // namespace deplo::measure::cuda
