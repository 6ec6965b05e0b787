// Compares the interpreted kernels of graphs with values that PyTorch computed, for every operation and for whole
// programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/target.h"
#include "ir/interpret/interpret.h"
#include "ir/torch/expression/expression.h"
#include "ir/torch/pt2/pt2.h"
#include "ir/types/float16.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"
#include "rules/fusion/run_module.h"
#include "rules/lower.h"
#include "torch_values.h"

namespace deplo::rules {
namespace {

TEST(FusedTorchValues, ExpressionsGiveWhatPyTorchComputes) {
  int compared = 0;
  for (const tests::TorchCase& c : tests::torch_cases()) {
    SCOPED_TRACE(c.code);
    const ir::torch::Graph graph = ir::torch::parse_expression(c.code);
    for (const FuseOptions& options : {FuseOptions{}, {.fixed = {{"attention", "fused"}}}, {.merge = false}}) {
      const ir::Module module = fuse(compose(decompose(graph)), options);
      const auto outputs = run(module, graph, tests::sources(graph, c.inputs));
      ASSERT_EQ(outputs.size(), c.outputs.size());
      for (std::size_t i = 0; i < outputs.size(); ++i)
        EXPECT_LE(tests::relative_error(outputs[i], c.outputs[i].values), 1e-11) << ir::print(module);
      ++compared;
    }
  }
  EXPECT_GE(compared, 300);
}

// Lowers each kernel by the heuristic for every target, and interprets its Kernel IR for one of them.
TEST(FusedTorchValues, SchedulesGiveWhatPyTorchComputes) {
  std::vector<Target> targets;
  for (const char* name :
       {"opencl-cpu", "opencl-cpu-avx2", "opencl-cpu-bf16", "opencl-gpu", "sm_80", "sm_90", "sm_120"})
    targets.push_back(load_target(name));
  for (std::size_t i = 0; i < tests::torch_cases().size(); ++i) {
    const tests::TorchCase& c = tests::torch_cases()[i];
    SCOPED_TRACE(c.code);
    const ir::torch::Graph graph = ir::torch::parse_expression(c.code);
    const ir::Module module = fuse(compose(decompose(graph)));
    const auto run_kernel = [&](const ir::Program& loop, ir::Memory& memory) {
      for (std::size_t t = 0; t < targets.size(); ++t) {
        const ir::Program tile = heuristic(loop, targets[t]).program();
        if (t == i % targets.size()) ir::interpret(materialize(tile, targets[t]), memory);
      }
    };
    const auto outputs = run(module, graph, tests::sources(graph, c.inputs), run_kernel);
    ASSERT_EQ(outputs.size(), c.outputs.size());
    for (std::size_t o = 0; o < outputs.size(); ++o)
      EXPECT_LE(tests::relative_error(outputs[o], c.outputs[o].values), 1e-6) << ir::print(module);
  }
}

TEST(FusedTorchValues, SpecialNumbersGiveWhatPyTorchComputes) {
  for (const tests::TorchCase& c : tests::special_cases()) {
    SCOPED_TRACE(c.code);
    const ir::torch::Graph graph = ir::torch::parse_expression(c.code, "<expression>", c.dtype);
    for (const FuseOptions& options : {FuseOptions{}, {.fixed = {{"attention", "fused"}}}, {.merge = false}}) {
      const ir::Module module = fuse(compose(decompose(graph)), options);
      const auto outputs = run(module, graph, tests::sources(graph, c.inputs));
      ASSERT_EQ(outputs.size(), c.outputs.size());
      for (std::size_t i = 0; i < outputs.size(); ++i)
        EXPECT_LE(tests::relative_error(outputs[i], c.outputs[i].values), tests::special_tolerance(c.dtype))
            << "output " << i << "\n"
            << ir::print(module);
    }
  }
}

TEST(FusedTorchValues, ExportedBlocksGiveWhatPyTorchComputes) {
  for (const char* name : {"llama_block_2.5.1", "llama_block_2.8.0", "llama_block_2.11.0"}) {
    const auto file = std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/data/pt2" / (std::string(name) + ".pt2");
    const ir::torch::Graph graph = ir::torch::read_pt2(file);
    const tests::ProgramValues values = tests::program_values(file);
    std::map<std::string, tests::TensorValues> inputs;
    for (const ir::torch::Node& node : graph.nodes)
      if (node.kind == ir::torch::Node::Kind::input) inputs[node.name] = values.inputs.at(inputs.size());
    const ir::Module module = fuse(compose(decompose(graph)));
    EXPECT_LE(module.kernels.size(), 16) << ir::print(module);
    const auto outputs = run(module, graph, tests::sources(graph, inputs));
    EXPECT_LE(tests::relative_error(outputs.at(0), values.outputs.at(0).values), 1e-5) << name;
  }
}

// PyTorch's values are in double. Ours are stored in 16 bits between kernels and at the end. They may differ by two
// units in the last place of the largest output, because sums have terms of that size.
TEST(FusedTorchValues, ExportedBlocksOfSixteenBitsToo) {
  for (const char* name : {"eager_half_2.5.1", "eager_half_2.11.0", "eager_bfloat16_2.8.0"}) {
    const auto file = std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/data/pt2" / (std::string(name) + ".pt2");
    const ir::torch::Graph graph = ir::torch::read_pt2(file);
    const tests::ProgramValues values = tests::program_values(file);
    std::map<std::string, tests::TensorValues> inputs;
    for (const ir::torch::Node& node : graph.nodes)
      if (node.kind == ir::torch::Node::Kind::input) inputs[node.name] = values.inputs.at(inputs.size());
    const auto outputs = run(fuse(compose(decompose(graph))), graph, tests::sources(graph, inputs));
    const ir::DType dtype = graph.nodes[static_cast<std::size_t>(graph.outputs.at(0))].type.dtype;
    EXPECT_TRUE(ir::is_float16(dtype));
    EXPECT_LE(tests::relative_error(outputs.at(0), values.outputs.at(0).values), 2 * 2 * ir::unit_roundoff(dtype))
        << name;
    for (const double value : outputs.at(0)) EXPECT_EQ(value, ir::rounded(value, dtype));
  }
}

}  // namespace
}  // namespace deplo::rules
