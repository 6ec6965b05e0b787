// Tile programs raised to Loop IR, compiled and run on an OpenCL device, compared with interpreting the tile programs.
#include <gtest/gtest.h>

#include "core/rng.h"
#include "ir/emit/emit.h"
#include "measure/device.h"
#include "measure/opencl/opencl.h"
#include "rules/lower.h"
#include "rules/raise/launch.h"

namespace deplo::measure {
namespace {

namespace tp = ir::tile_program;
using rules::Launch;

class Raised : public ::testing::Test {
 protected:
  void SetUp() override {
    if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
    device_ = open_device("opencl");
  }

  /// `seed` draws the schedule. If it is 0, the heuristic chooses the schedule.
  void expect_right(Launch launch, const tp::Program& program, double tolerance, std::uint64_t seed = 0) {
    const auto run = [&](const ir::Program& kernel, ir::Memory& memory) { run_on_device(kernel, memory, seed); };
    EXPECT_LE(launch.difference(program, run), tolerance) << "seed " << seed;
  }

 private:
  void run_on_device(const ir::Program& loop, ir::Memory& memory, std::uint64_t seed) {
    const Target target = target_of(device_->info());
    rules::Lowering lowering(loop, target);
    Rng rng(seed);
    while (lowering.fork()) lowering.choose(seed == 0 ? 0 : rng.below(lowering.fork()->options.size()));
    KernelCode candidate{rules::materialize(lowering.program(), target), {}};
    candidate.source = ir::emit(candidate.kernel, target);
    const auto arrays = device_->allocate(loop.buffers);
    for (std::size_t i = 0; i < loop.buffers.size(); ++i) {
      const std::vector<double>& values = memory.at(loop.buffers[i].name);
      if (loop.buffers[i].role == ir::Role::input) arrays->write(i, std::vector<float>(values.begin(), values.end()));
    }
    const auto built = device_->build(candidate);
    ASSERT_TRUE(built.ok()) << built.failure().message << "\n" << candidate.source.text;
    const auto time = built.value()->launch(*arrays, candidate.source.blocks);
    ASSERT_TRUE(time.ok()) << time.failure().message << "\n" << candidate.source.text;
    for (std::size_t i = 0; i < loop.buffers.size(); ++i) {
      if (loop.buffers[i].role != ir::Role::output) continue;
      memory.at(loop.buffers[i].name) = arrays->read(i).doubles();
    }
  }
  std::unique_ptr<Device> device_;
};

/// Returns a launch with the arguments of `attention` in experiments/tile/kernels.py, in the same order.
Launch attention(std::int64_t heads, std::int64_t group, std::int64_t queries, std::int64_t keys, std::int64_t size,
                 std::int64_t tile, std::int64_t offset) {
  Launch launch;
  launch.array("q", ir::DType::f16, {1, heads, queries, size});
  for (const char* name : {"k", "v"}) launch.array(name, ir::DType::f16, {1, heads / group, keys, size});
  launch.array("out", ir::DType::f16, {1, heads, queries, size}).scalar(0.125).scalar(offset);
  launch.grid({rules::tiles(queries, tile), heads, 1});
  return launch;
}

TEST_F(Raised, Attention) {
  for (const std::int64_t n : {32, 37, 7})
    expect_right(attention(2, 1, n, n, 16, 16, 0), rules::own("attention_causal"), rules::of_f16);
  for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{16, 64}, {37, 45}, {5, 7}})
    expect_right(attention(4, 2, queries, keys, 16, 16, 0), rules::own("attention_grouped"), rules::of_f16);
  for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{16, 64}, {37, 45}, {5, 7}})
    expect_right(attention(3, 3, queries, keys, 16, 8, keys - queries), rules::own("attention_offset"), rules::of_f16);
}

TEST_F(Raised, AttentionBySomeSchedules) {
  for (const std::uint64_t seed : {1, 2, 3})
    expect_right(attention(3, 3, 37, 45, 16, 8, 8), rules::own("attention_offset"), rules::of_f16, seed);
}

TEST_F(Raised, SharedAttention) {
  if (tp::shared_programs().empty()) GTEST_SKIP() << "no ../shared/tile_programs";
  const tp::Program program = tp::read_file_program(tp::shared_programs() / "11_fmha_kernel.tileirbc");
  for (const auto& [heads, n] : {std::pair<std::int64_t, std::int64_t>{8, 129}, {3, 256}, {1, 300}})
    expect_right(attention(heads, 1, n, n, 64, 128, 0), program, rules::of_f16);
}

TEST_F(Raised, LogOfTheSumBesideIt) {
  for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{16, 32}, {37, 45}, {5, 7}}) {
    Launch launch;
    launch.array("q", ir::DType::f16, {queries, 16}).array("k", ir::DType::f16, {keys, 16});
    launch.array("v", ir::DType::f16, {keys, 16}).array("out", ir::DType::f16, {queries, 16});
    launch.array("lse", ir::DType::f32, {queries}).scalar(0.25).grid({rules::tiles(queries, 16), 1, 1});
    expect_right(launch, rules::own("attention_with_lse"), rules::of_f16);
  }
}

TEST_F(Raised, SoftmaxInChunks) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{2, 96}, {3, 7}, {5, 101}}) {
    Launch launch;
    for (const char* name : {"x", "y"}) launch.array(name, ir::DType::f32, {m, n}, rules::pitch(n));
    expect_right(launch.grid({m, 1, 1}), rules::own("chunked_softmax"), rules::of_f32);
  }
}

TEST_F(Raised, Products) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{16, 32, 16}, {37, 40, 21}, {5, 101, 3}}) {
    Launch batched, persistent, parts;
    batched.array("a", ir::DType::f16, {3, m, k}, rules::pitch(k));
    batched.array("b", ir::DType::f16, {3, k, n}, rules::pitch(n));
    batched.array("c", ir::DType::f16, {3, m, n}, rules::pitch(n));
    expect_right(batched.grid({3, rules::tiles(m, 16), rules::tiles(n, 32)}), rules::own("batched_matmul"),
                 rules::of_f16);
    persistent.array("a", ir::DType::f16, {m, k}, rules::pitch(k));
    persistent.array("b", ir::DType::f16, {k, n}, rules::pitch(n));
    persistent.array("c", ir::DType::f16, {m, n}, rules::pitch(n)).grid({4, 1, 1});
    expect_right(persistent, rules::own("persistent_matmul"), rules::of_f16);
    parts.array("a", ir::DType::f32, {m, m}, rules::pitch(m)).array("b", ir::DType::f32, {m, n}, rules::pitch(n));
    parts.array("c", ir::DType::f32, {m, n}, rules::pitch(n)).grid({rules::tiles(m, 16), rules::tiles(n, 16), 1});
    for (const char* name : {"triangular_matmul", "banded_matmul"})
      expect_right(parts, rules::own(name), rules::of_f32);
  }
}

TEST_F(Raised, NormsBackwards) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{8, 32}, {5, 101}, {3, 7}}) {
    Launch rows, columns;
    for (const char* name : {"dx", "dy", "x"}) rows.array(name, ir::DType::f16, {m, n}, rules::pitch(n));
    rows.array("weight", ir::DType::f16, {n}).array("mean", ir::DType::f32, {m});
    expect_right(rows.array("rstd", ir::DType::f32, {m}).grid({m, 1, 1}), rules::own("layer_norm_backward"),
                 rules::of_f16);
    columns.array("x", ir::DType::f32, {m, n}, rules::pitch(n)).array("y", ir::DType::f32, {n});
    expect_right(columns.grid({rules::tiles(n, 32), 1, 1}), rules::own("column_sums"), rules::of_f32);
  }
}

}  // namespace
}  // namespace deplo::measure
