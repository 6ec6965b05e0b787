#include "apps/cli/source_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"

namespace deplo::apps {
namespace {

using ::testing::HasSubstr;

template <class Read>
std::string refusal(Read read) {
  try {
    read();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(SourceFlags, SayOneThing) {
  SourceFlags flags;
  const auto program = [&] { return refusal([&] { flags.program(); }); };
  const auto selection = [&] { return refusal([&] { flags.selection(); }); };
  EXPECT_EQ(program(),
            "expected one of -c CODE, --file FILE, --pt2 FILE, --model NAME, --tile FILE, --space FILE, found none; "
            "see --help");
  EXPECT_EQ(selection(),
            "expected one of -c CODE, --file FILE, --pt2 FILE, --model NAME, --kernel NAME, --tile FILE, --space FILE, "
            "found none; "
            "see --help");
  flags.code = "torch.randn(3)";
  EXPECT_EQ(program(), "no error");
  EXPECT_EQ(std::get<engine::Expression>(flags.program().from).text, "torch.randn(3)");
}

TEST(SourceFlags, OfAModelAndOfAKernel) {
  SourceFlags flags;
  flags.model = "tinyllama-1.1b";
  flags.seq = 7;
  const auto block = std::get<engine::ModelBlock>(flags.program().from);
  EXPECT_EQ(block.layer, 0);
  EXPECT_EQ(block.seq, 7);

  flags = {};
  flags.kernel = "softmax";
  flags.symbols = {"M=3", "N=5"};
  const auto kernel = std::get<engine::LoopKernel>(flags.selection().source.from);
  EXPECT_EQ(kernel.symbols, (ir::Symbols{{"M", 3}, {"N", 5}}));
  flags.symbols = {"M=3", "M=5"};
  EXPECT_EQ(refusal([&] { flags.selection(); }), "--symbol: expected each symbol once, found M twice");
}

TEST(SourceFlags, SizesOfAProgram) {
  SourceFlags flags;
  flags.pt2 = DEPLO_SOURCE_DIR "/tests/data/pt2/dynamic_2.15.0.pt2";
  const auto shape = [&] {
    const ir::torch::Graph graph = engine::read_graph(flags.program());
    return std::ranges::find(graph.nodes, "x", &ir::torch::Node::name)->type.shape;
  };
  EXPECT_EQ(shape(), (ir::Shape{4, 8, 4}));
  flags.symbols = {"s77=6", "s27=12"};
  EXPECT_EQ(shape(), (ir::Shape{6, 12, 4}));
  flags.symbols = {"M=3"};
  EXPECT_THAT(refusal(shape), HasSubstr("expected a program with the open size M"));
}

TEST(SourceFlags, TypesThatTheSourceLeavesOpen) {
  SourceFlags flags;
  flags.code = "torch.randn(3)";
  flags.options.texts["dtype"] = "bfloat16";
  EXPECT_EQ(flags.program().options.dtype, ir::DType::bf16);
  EXPECT_EQ(engine::read_graph(flags.program()).nodes.at(0).type.dtype, ir::DType::bf16);
  for (const char* other : {"f64", "i32", "", "bf17"}) {
    flags.options.texts["dtype"] = other;
    EXPECT_EQ(refusal([&] { flags.program(); }),
              std::string("--dtype: expected a floating-point type (f32, f16 or bf16), found '") + other + "'");
  }
  flags = {};
  flags.pt2 = "x.pt2";
  flags.options.texts["dtype"] = "f16";
  EXPECT_THAT(refusal([&] { flags.program(); }),
              HasSubstr("--dtype cannot be combined with --pt2, which names its own types"));
  flags = {};
  flags.kernel = "matmul";
  flags.symbols = {"M=3", "N=5", "K=7"};
  flags.options.texts["dtype"] = "f16";
  const ir::Program loop = engine::read_kernel(flags.selection().source);
  for (const ir::Buffer& buffer : loop.buffers) EXPECT_EQ(buffer.dtype, ir::DType::f16);
}

TEST(SourceFlags, Tf32IsOfKernelsThatMultiplyF32) {
  SourceFlags flags;
  flags.code = "nn.Linear(8, 8)(torch.randn(8, 8)).relu().sum()";
  flags.options.switches["allow_tf32"] = true;
  EXPECT_TRUE(engine::read_graph(flags.program()).allow_tf32);
  int allowed = 0;
  const ir::Module module = engine::read_module(flags.selection().source);
  for (const ir::Program& kernel : module.kernels) allowed += kernel.allow_tf32;
  EXPECT_EQ(allowed, 1) << module.kernels.size();
  flags = {};
  flags.kernel = "matmul";
  flags.symbols = {"M=3", "N=5", "K=7"};
  flags.options.switches["allow_tf32"] = true;
  const auto allows = [&] { return engine::read_kernel(flags.selection().source).allow_tf32; };
  EXPECT_TRUE(allows());
  flags.options.texts["dtype"] = "bf16";
  EXPECT_FALSE(allows()) << "its factors are no f32";
}

}  // namespace
}  // namespace deplo::apps
