// Kernels of NVIDIA's fused mixture of experts, run on the devices and compared with interpreting the tile program. The
// tests are skipped if ../shared/tile_programs does not exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "ir/emit/emit.h"
#include "ir/tile_program/launches.h"
#include "measure/device.h"
#include "rules/lower.h"
#include "rules/raise/raise.h"

namespace deplo::measure {
namespace {

namespace tp = ir::tile_program;

constexpr std::int64_t tile = 128;
std::int64_t tiles(std::int64_t extent) { return (extent + tile - 1) / tile; }

/// A launch of the mixture of experts, in the forms that the tile program's interpreter and raise() take.
struct Moe {
  std::int64_t tokens, topk, experts, n, k;
  tp::Launcher launcher = tp::Launcher();
  rules::TileLaunch raised = {};

  void array(const std::string& name, const ir::Shape& shape) {
    launcher.add(name, ir::DType::f16, shape);
    argument(name, shape);
  }
  void numbers(const std::string& name, const std::vector<std::int64_t>& values) {
    launcher.add(name, values);
    argument(name, {std::ssize(values)});
  }

  /// Adds all arguments and sets the grid. Only every other expert has rows.
  void fill() {
    std::vector<std::int64_t> expert_of_row;
    for (std::int64_t row = 0; row < tokens * topk; ++row)
      expert_of_row.push_back((row * 7 + row / 3) % experts / 2 * 2);
    const tp::Routing routing = tp::route(expert_of_row, experts, tile);
    array("A", {tokens, k});
    array("B", {experts, n, k});
    array("C", {tokens * topk, n});
    array("topk_weights", {tokens * topk});
    numbers("sorted_token_ids", routing.ids);
    numbers("sorted_expert_ids", routing.experts);
    launcher.scalar(topk);
    raised.arguments.emplace_back(topk);
    raised.grid = {std::ssize(routing.experts) * tiles(n), 1, 1};
  }

 private:
  void argument(const std::string& name, const ir::Shape& shape) {
    const std::vector<std::int64_t> strides = ir::row_major_strides(shape);
    raised.arguments.emplace_back(rules::TileArray{name, shape, strides});
    for (const std::int64_t extent : shape) raised.arguments.emplace_back(extent);
    for (const std::int64_t stride : strides) raised.arguments.emplace_back(stride);
  }
};

/// Lowers the kernel with the heuristic's choices, runs it on the device, and returns the elements of its output.
std::vector<float> run(const ir::Program& loop, const std::vector<tp::Array>& given, Device& device) {
  const Target target = target_of(device.info());
  rules::Lowering lowering(loop, target);
  while (lowering.fork()) lowering.choose(0);
  KernelCode candidate{rules::materialize(lowering.program(), target), {}};
  candidate.source = ir::emit(candidate.kernel, target);
  const auto built = device.build(candidate);
  if (!built.ok()) throw Error(built.failure().message);
  const auto arrays = device.allocate(loop.buffers);
  std::size_t output = 0;
  for (std::size_t i = 0; i < loop.buffers.size(); ++i) {
    const ir::Buffer& buffer = loop.buffers[i];
    if (buffer.role == ir::Role::output) {
      arrays->poison(output = i);
      continue;
    }
    const auto array = std::ranges::find(given, buffer.name, &tp::Array::name);
    std::vector<float> values;
    for (std::int64_t e = 0; e < ir::span(buffer); ++e) values.push_back(static_cast<float>(array->number(e)));
    arrays->write(i, values);
  }
  if (const auto time = built.value()->launch(*arrays, candidate.source.blocks); !time.ok())
    throw Error(time.failure().message);
  return arrays->read(output);
}

class SharedTileKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(SharedTileKernels, MixtureOfExperts) {
  if (tp::shared_programs().empty()) GTEST_SKIP() << "no ../shared/tile_programs";
  const auto device = open_device(GetParam());
  const tp::Program program = tp::read_file_program(tp::shared_programs() / "13_fused_moe_kernel.tileirbc");
  for (Moe moe : {Moe{64, 2, 4, 128, 64}, Moe{40, 4, 6, 256, 128}, Moe{37, 2, 8, 72, 40}}) {
    moe.fill();
    const ir::Module module = rules::raise(program, moe.raised);
    ASSERT_EQ(module.kernels.size(), 1U);
    const std::vector<float> found = run(module.kernels.at(0), moe.launcher.arrays, *device);
    moe.launcher.run(program, moe.raised.grid);
    const tp::Array& c = moe.launcher.arrays.at(2);
    ASSERT_EQ(std::ssize(found), c.elements());
    for (std::int64_t i = 0; i < c.elements(); ++i) {
      const double expected = c.number(i), value = found[static_cast<std::size_t>(i)];
      ASSERT_NEAR(value, expected, 0x1p-9 * std::fabs(expected) + 1e-4) << moe.tokens << " tokens, element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SharedTileKernels, ::testing::Values("opencl", "interpreter"),
                         [](const auto& device) { return device.param; });

}  // namespace
}  // namespace deplo::measure
