// NaN, infinities and zeros of both signs through kernels on PoCL, compared with values that PyTorch computed.
#include <gtest/gtest.h>

#include "ir/emit/emit.h"
#include "ir/interpret/interpret.h"
#include "ir/torch/expression/expression.h"
#include "measure/device.h"
#include "measure/opencl/opencl.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"
#include "rules/fusion/run_module.h"
#include "rules/lower.h"
#include "torch_values.h"

namespace deplo::apps {
namespace {

/// Runs the kernel with the heuristic's schedule for the target, whatever the device is.
void launch(measure::Device& device, const Target& target, const ir::Program& loop, ir::Memory& memory) {
  rules::Lowering lowering(loop, target);
  while (lowering.fork()) lowering.choose(0);
  measure::KernelCode candidate = {rules::materialize(lowering.program(), target), {}};
  candidate.source = ir::emit(candidate.kernel, target);
  const auto arrays = device.allocate(loop.buffers);
  for (std::size_t b = 0; b < loop.buffers.size(); ++b) {
    const std::vector<double>& values = memory.at(loop.buffers[b].name);
    if (loop.buffers[b].role == ir::Role::input) arrays->write(b, std::vector<float>(values.begin(), values.end()));
  }
  auto built = device.build(candidate);
  ASSERT_TRUE(built.ok()) << built.failure().message << candidate.source.text;
  ASSERT_TRUE(built.value()->launch(*arrays, candidate.source.blocks).ok());
  for (std::size_t b = 0; b < loop.buffers.size(); ++b) {
    memory.at(loop.buffers[b].name) = arrays->read(b).doubles();
  }
}

TEST(SpecialNumbers, AreAsInPyTorchOnTheDevice) {
  if (measure::opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  const auto device = measure::open_device("opencl");
  constexpr std::array targets = {"opencl-cpu", "opencl-cpu-avx2", "opencl-gpu"};
  constexpr std::size_t maxima = 6;  // these first cases run on every target; to save time, each other case runs on one
  const std::vector<tests::TorchCase>& cases = tests::special_cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t t = 0; t < targets.size(); ++t) {
      if (i >= maxima && i % targets.size() != t) continue;
      const Target target = load_target(targets[t]);
      const ir::torch::Graph graph = ir::torch::parse_expression(cases[i].code, "<expression>", cases[i].dtype);
      const auto run_kernel = [&](const ir::Program& loop, ir::Memory& memory) {
        launch(*device, target, loop, memory);
      };
      const ir::Module module = rules::fuse(rules::compose(rules::decompose(graph)));
      const auto outputs = rules::run(module, graph, tests::sources(graph, cases[i].inputs), run_kernel);
      ASSERT_EQ(outputs.size(), cases[i].outputs.size());
      for (std::size_t o = 0; o < outputs.size(); ++o)
        EXPECT_LE(tests::relative_error(outputs[o], cases[i].outputs[o].values),
                  tests::special_tolerance(cases[i].dtype))
            << targets[t] << ", output " << o << " of " << name(cases[i].dtype) << " " << cases[i].code;
    }
  }
}

}  // namespace
}  // namespace deplo::apps
