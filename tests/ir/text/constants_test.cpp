// Constants at the limits of their types have the same value in the text, the interpreter and the sources.
// tests/measure/constants_test.cpp tests them on devices.
#include "constants.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>

#include "ir/emit/dialect.h"
#include "ir/interpret/interpret.h"
#include "ir/torch/evaluate.h"
#include "ir/torch/expression/expression.h"

namespace deplo::ir {
namespace {

using deplo::testing::constants_kernel;
using deplo::testing::f32_constants;
using deplo::testing::i32_constants;
using ::testing::HasSubstr;

double number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::uint32_t bits(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }

TEST(Constants, InC) {
  const auto f32 = [](double value) { return literal(value, DType::f32, Dialect::opencl); };
  EXPECT_EQ(f32(0), "0.0f");
  EXPECT_EQ(f32(-0.0), "-0.0f");
  EXPECT_EQ(f32(1e300), "INFINITY");
  EXPECT_EQ(f32(-1e300), "-INFINITY");
  EXPECT_EQ(f32(-INFINITY), "-INFINITY");
  EXPECT_EQ(f32(3.4028235677973362e+38), "3.4028235e+38f");
  EXPECT_EQ(f32(3.4028235677973366e+38), "INFINITY");
  EXPECT_EQ(f32(0x1p-126), "1.1754944e-38f");
  EXPECT_EQ(f32(0x1p-149), "1e-45f");
  EXPECT_EQ(f32(1e-300), "0.0f");
  EXPECT_EQ(f32(-1e-300), "-0.0f");
  EXPECT_EQ(literal(1e300, DType::f32, Dialect::cuda), "__int_as_float(0x7f800000)");
  EXPECT_EQ(literal(-1e300, DType::f32, Dialect::cuda), "-__int_as_float(0x7f800000)");
  for (const Dialect dialect : {Dialect::opencl, Dialect::cuda}) {
    EXPECT_EQ(literal(-2147483648.0, DType::i32, dialect), "(-2147483647 - 1)") << "-2147483648 is long in C";
    EXPECT_EQ(literal(-INFINITY, DType::i32, dialect), "(-2147483647 - 1)");
    EXPECT_EQ(literal(2147483647.0, DType::i32, dialect), "2147483647");
    EXPECT_EQ(literal(-0.0, DType::i32, dialect), "0");
    EXPECT_EQ(literal(1, DType::boolean, dialect), "1");
  }
}

TEST(Constants, InTheTextOfEachLevel) {
  for (const std::string_view constant : f32_constants)
    for (const std::string_view level : {"loop", "tile", "kernel"}) {
      const std::string tile = level == "loop" ? "" : "Tile(axes=(a0:1=BLOCK)):\n", in = level == "loop" ? "" : "  ";
      const std::string text = fmt::format(
          "=== {}: k ===\ninput x: f32[1]\noutput y: f32[1]\n{}{}in0 = load x[0]\n{}v0 = multiply(in0, {})\n{}y[0] = "
          "v0\n",
          level, tile, in, in, constant, in);
      const Program program = parse(text);
      EXPECT_EQ(verify(program), "");
      EXPECT_EQ(parse(print(program)), program);
      EXPECT_THAT(print(program), HasSubstr(fmt::format("multiply(in0, {})", constant)));
    }
  for (const std::string_view constant : i32_constants) {
    const std::string text = fmt::format("=== loop: k ===\noutput y: i32[1]\ny[0] = {}\n", constant);
    EXPECT_EQ(verify(parse(text)), "");
    EXPECT_EQ(print(parse(text)), text);
  }
  for (const char* wrong : {"2147483648", "-2147483649", "0.5", "inf", "1e300"})
    EXPECT_THAT(verify(parse(fmt::format("=== loop: k ===\noutput y: i32[1]\ny[0] = {}\n", wrong))),
                HasSubstr("is not an i32"));
}

TEST(Constants, InTheInterpreter) {
  const Program kernel = constants_kernel();
  ASSERT_EQ(verify(kernel), "");
  Memory memory;
  for (const Buffer& buffer : kernel.buffers)
    memory[buffer.name].assign(static_cast<std::size_t>(span(buffer)), std::nan(""));
  interpret(kernel, memory);
  for (std::size_t i = 0; i < f32_constants.size(); ++i) {
    const double value = number(f32_constants[i]), found = memory.at("y")[i];
    EXPECT_EQ(bits(found), bits(value)) << f32_constants[i];
    const auto nearest = static_cast<float>(value);
    EXPECT_EQ(found, std::isnormal(nearest) && std::fabs(value) >= 0x1p-126 && std::fabs(value) <= 0x1.fffffep127
                         ? value
                         : static_cast<double>(nearest))
        << f32_constants[i];
    for (std::size_t lane = 0; lane < 4; ++lane) EXPECT_EQ(memory.at("z")[4 * i + lane], found);
  }
  for (std::size_t i = 0; i < i32_constants.size(); ++i) EXPECT_EQ(memory.at("n")[i], number(i32_constants[i]));
  EXPECT_EQ(memory.at("t"), (std::vector<double>{0, 1, 1, 1}));
}

// As in PyTorch, a number in an operation with an f32 tensor becomes an f32.
TEST(Constants, InExpressions) {
  const auto value = [](const std::string& text) {
    const torch::Graph graph = torch::parse_expression(text);
    std::vector<torch::Values> sources(graph.nodes.size());
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (graph.nodes[i].kind == torch::Node::Kind::input) sources[i] = {2};
    return torch::evaluate(graph, sources).at(0).at(0);
  };
  EXPECT_EQ(value("torch.randn(1) * 1e300"), INFINITY);
  EXPECT_EQ(value("torch.randn(1) * -1e300"), -INFINITY);
  EXPECT_TRUE(std::isnan(value("torch.randn(1) * 1e300 * 0")));
  EXPECT_EQ(value("torch.randn(1) * 1e-300"), 0);
  EXPECT_EQ(value("torch.randn(1) / 1e-300"), INFINITY);
  EXPECT_EQ(value("torch.randn(1).clamp(min=1e300)"), INFINITY);
  EXPECT_EQ(value("torch.full((1,), 1e300)"), INFINITY);
  EXPECT_EQ(value("torch.randn(1).masked_fill(torch.randn(1) > 0, -1e300)"), -INFINITY);
  EXPECT_EQ(value("torch.randn(1) < 1e300"), 1);
  EXPECT_EQ(value("torch.randn(1) * 0.1"), 0.2) << "references are in double";
  EXPECT_EQ(value("torch.full((1,), -2147483648)"), -2147483648.0);
}

}  // namespace
}  // namespace deplo::ir
