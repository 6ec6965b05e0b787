// Which integers of expressions become i32 in kernels, and which become i64.
#include "ir/torch/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ir/torch/expression/expression.h"

namespace deplo::ir::torch::ranges_test {
namespace {

using ::testing::HasSubstr;

DType type_of(const std::string& code) {
  const Graph graph = parse_expression(code);
  return graph.nodes[static_cast<std::size_t>(graph.outputs.at(0))].type.dtype;
}

std::string message(const std::string& code) {
  try {
    parse_expression(code);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Ranges, IntegersThatFitStayNarrow) {
  for (const char* const code :
       {"torch.arange(11)", "torch.arange(11) * 100000000", "i = torch.randint(0, 9, (5,)); i * i - 3 * i",
        "i = torch.randint(0, 32000, (5,)); i % 7 + i // 7", "torch.ones(5, 6).argsort(-1)",
        "i = torch.randint(0, 9, (4, 5)); (i > 2).sum()", "i = torch.randint(0, 2, (4, 512)); i.cumsum(1) - 1",
        "i = torch.randint(0, 9, (5,)); torch.where(i > 3, i, -1)", "torch.full((3,), 2147483647)",
        "i = torch.randint(-2147483648, 2147483648, (3,)); i // 2", "i = torch.randint(0, 9, (5,)); i.long()",
        "i = torch.randint(0, 9, (5,)); F.one_hot(i, 9).sum(0)"})
    EXPECT_EQ(type_of(code), DType::i32) << code;
}

TEST(Ranges, IntegersThatMayLeaveThirtyTwoBitsAreWide) {
  for (const char* const code :
       {"torch.arange(11) * 1000000000", "torch.full((3,), 2147483648)", "torch.full((3,), 2147483647) + 1",
        "i = torch.randint(-2147483648, 9, (3,)); -i", "i = torch.randint(-2147483648, 9, (3,)); torch.abs(i)",
        "i = torch.randint(0, 2147483647, (3,)); i.sum()", "i = torch.randint(0, 65536, (70000,)); i.cumsum(0)",
        "x = torch.randn(3); x.long()", "torch.arange(4294967296, 4294967299)",
        "i = torch.randint(0, 9, (40,)); i.prod()", "i = torch.randint(0, 65537, (3,)); i * i",
        "i = torch.randint(0, 2147483647, (3,), dtype=torch.int32); i.sum()"})
    EXPECT_EQ(type_of(code), DType::i64) << code;
  EXPECT_EQ(type_of("torch.arange(11) * 1000000000 % 7"), DType::i64) << "it is calculated of wide ones";
}

TEST(Ranges, Int32StaysAsItIs) {
  EXPECT_EQ(type_of("i = torch.randint(0, 2147483647, (3,), dtype=torch.int32); i * 3"), DType::i32);
  EXPECT_EQ(type_of("x = torch.randn(3); x.int()"), DType::i32);
  EXPECT_THAT(message("i = torch.randint(0, 9, (3,), dtype=torch.int32); i + 4294967296"),
              HasSubstr("add: expected a number that fits in int32, the type of the tensor, found 4294967296"));
}

TEST(Ranges, NumbersThatReferencesDoNotHoldAreRefused) {
  EXPECT_THAT(message("torch.arange(3) + 9007199254740993"), HasSubstr("add: expected integers below 2^53"));
  EXPECT_THAT(message("torch.arange(3) == 9007199254740993"), HasSubstr("eq: expected integers below 2^53"));
  EXPECT_EQ(message("torch.ones(3) * 9007199254740993"), "") << "a float";
}

TEST(Ranges, ValuesOfAnInputDecide) {
  Graph graph = parse_expression("i = torch.randint(0, 9, (2,)); i + 1");
  EXPECT_EQ(graph.nodes.back().type.dtype, DType::i32);
  graph.nodes[0].source = {{}, std::make_shared<const Numbers>(std::vector<std::int64_t>{1, 2147483647}), true};
  fit_integers(graph);
  EXPECT_EQ(graph.nodes[0].type.dtype, DType::i32);
  EXPECT_EQ(graph.nodes.back().type.dtype, DType::i64);
  graph.nodes[0].source.values = std::make_shared<const Numbers>(std::vector<std::int64_t>{1, 4294967296});
  fit_integers(graph);
  EXPECT_EQ(graph.nodes[0].type.dtype, DType::i64);
  graph.nodes[0].source.values = std::make_shared<const Numbers>(std::vector<std::int64_t>{1, 5});
  fit_integers(graph);
  EXPECT_EQ(graph.nodes.back().type.dtype, DType::i32);
}

}  // namespace
}  // namespace deplo::ir::torch::ranges_test
