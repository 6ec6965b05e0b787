// Integers of 8 and 16 bits in graphs.
#include "ir/torch/narrow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "ir/torch/expression/expression.h"

namespace deplo::ir::torch::narrow_test {
namespace {

using ::testing::HasSubstr;

Graph graph_of(const std::string& code) {
  return parse_expression("u = torch.randint(0, 256, (4, 6), dtype=torch.uint8); " + code);
}
std::string refusal(const std::string& code) {
  try {
    graph_of(code);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Narrow, CallsTakeAndGiveWords) {
  const Graph graph = graph_of("v = u * 3; (v, v.float(), u.amax(1))");
  const auto& outputs = graph.outputs;
  ASSERT_EQ(outputs.size(), 3U);
  const auto node = [&](Id id) -> const Node& { return graph.nodes[static_cast<std::size_t>(id)]; };
  EXPECT_EQ(node(outputs[0]).type.dtype, DType::u8);
  EXPECT_EQ(node(outputs[0]).name, "mul");
  EXPECT_EQ(node(node(outputs[0]).args[0]).op, "mul") << "the store wraps";
  EXPECT_EQ(node(node(outputs[1]).args[0]).op, "bitwise_and");
  EXPECT_EQ(node(node(outputs[2]).args[0]).op, "amax") << "an extremum is in range";
  for (const Node& n : graph.nodes)
    EXPECT_TRUE(n.kind != Node::Kind::call || n.op == "to" || n.type.dtype != DType::u8);
}

TEST(Narrow, AGraphWithoutCalculationsStaysAsItIs) {
  EXPECT_EQ(without_narrow_integers(graph_of("u.float()")), graph_of("u.float()"));
}

TEST(Narrow, NumbersThatDoNotFitAreRefusedAsInPyTorch) {
  for (const char* code : {"torch.where(u > 3, u, 1000)", "u.masked_fill(u > 3, 1000)", "F.pad(u, (1, 1), value=300)",
                           "torch.full((2,), 300, dtype=torch.uint8)", "torch.clamp(u, max=-1)", "torch.clamp(u, 300)",
                           "torch.full((2,), -1, dtype=torch.uint8)"})
    EXPECT_THAT(refusal(code), HasSubstr("expected a number that fits in uint8, the type of the tensor")) << code;
  EXPECT_THAT(refusal("torch.tensor([1, 300], dtype=torch.uint8)"), HasSubstr("numbers that uint8 holds"));
  EXPECT_THAT(refusal("torch.randn(300)[u]"), HasSubstr("indices of int32 or int64"));
  EXPECT_THAT(refusal("u.mean()"), HasSubstr("mean"));
}

}  // namespace
}  // namespace deplo::ir::torch::narrow_test
