// Checks that a Program describes the caller's tensors correctly. Random graphs are compiled through the library. Their
// tensors are laid out and launched only by what the Program says (examples/library/opencl_runtime.cpp). The results
// are compared with the reference, which computes the same text in double.
#include <deplo/deplo.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "core/error.h"
#include "drawn_seeds.h"
#include "examples/library/opencl_runtime.h"
#include "ir/torch/evaluate.h"
#include "ir/torch/expression/expression.h"
#include "ir/types/float16.h"
#include "library/random_expression.h"

namespace deplo::testing {
namespace {

using ir::Shape;
using Inputs = std::map<std::string, std::vector<float>>;

bool on_opencl() { return deplo::devices().front().id.starts_with("opencl"); }

std::string print(const Shape& shape) { return ir::print(shape); }

deplo::Program compiled(const std::string& text) {
  deplo::Source source;
  source.expression = text;
  return deplo::compile(source);
}

bool same(ir::DType graph, deplo::DType program) {
  return graph == (program == deplo::DType::f32    ? ir::DType::f32
                   : program == deplo::DType::f16  ? ir::DType::f16
                   : program == deplo::DType::bf16 ? ir::DType::bf16
                   : program == deplo::DType::i32  ? ir::DType::i32
                   : program == deplo::DType::i64  ? ir::DType::i64
                   : program == deplo::DType::i16  ? ir::DType::i16
                   : program == deplo::DType::i8   ? ir::DType::i8
                   : program == deplo::DType::u8   ? ir::DType::u8
                                                   : ir::DType::boolean);
}

/// Returns "" if the tensor is the graph's node with its dimensions in the order that the tensor states, otherwise the
/// error.
std::string misplaced(const deplo::Tensor& tensor, const ir::torch::Node& node) {
  Shape shape = node.type.shape;
  if (tensor.permutation.empty() != tensor.of.empty()) return tensor.name + ": a permutation of nothing";
  if (tensor.permutation.size() > shape.size()) return tensor.name + ": a permutation of more dimensions";
  for (std::size_t d = 0; d < tensor.permutation.size(); ++d)
    shape[d] = node.type.shape.at(static_cast<std::size_t>(tensor.permutation[d]));
  if (tensor.shape != shape)
    return fmt::format("{}: expected {}, found {}", tensor.name, print(shape), print(tensor.shape));
  if (tensor.strides != ir::row_major_strides(shape)) return tensor.name + ": not row-major";
  if (!same(node.type.dtype, tensor.dtype)) return tensor.name + ": another dtype";
  return "";
}

std::string difference(const std::vector<float>& found, const std::vector<double>& expected, ir::DType dtype) {
  if (found.size() != expected.size()) return fmt::format("{} values, expected {}", found.size(), expected.size());
  double scale = 1;
  const double tolerance = 1e-3 + 2 * ir::unit_roundoff(dtype);
  for (const double value : expected) scale = std::max(scale, std::fabs(value));
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!(std::fabs(static_cast<double>(found[i]) - expected[i]) <= tolerance * scale))
      return fmt::format("element {}: expected {}, found {}", i, expected[i], found[i]);
  return "";
}

/// Returns what a caller finds wrong with the program of this text, or "" if nothing is wrong.
std::string fault_of(const std::string& text) {
  const ir::torch::Graph graph = ir::torch::parse_expression(text);
  auto sources = random_sources(text);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (const ir::DType dtype = graph.nodes[i].type.dtype; ir::is_float16(dtype))
      for (double& value : sources[i]) value = ir::rounded(value, dtype);
  const deplo::Program program = compiled(text);
  Inputs inputs;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    inputs[graph.nodes[i].name] = {sources[i].begin(), sources[i].end()};
  for (const deplo::Tensor& tensor : program.tensors) {
    if (tensor.kind == deplo::Tensor::Kind::computed) continue;
    const std::string& name = tensor.of.empty() ? tensor.name : tensor.of;
    const auto node = std::ranges::find(graph.nodes, name, &ir::torch::Node::name);
    if (node == graph.nodes.end()) return name + ": not of the graph";
    if (std::string fault = misplaced(tensor, *node); !fault.empty()) return fault;
  }
  if (program.outputs.size() != graph.outputs.size()) return "another number of outputs";
  for (std::size_t o = 0; o < graph.outputs.size(); ++o)
    if (std::string fault = misplaced(program.tensors.at(program.outputs[o]),
                                      graph.nodes.at(static_cast<std::size_t>(graph.outputs[o])));
        !fault.empty())
      return fault;
  const auto found = run(program, inputs);
  const auto expected = ir::torch::evaluate(graph, sources);
  for (std::size_t o = 0; o < expected.size(); ++o)
    if (const std::string fault =
            difference(found.at(o), expected[o], graph.nodes[static_cast<std::size_t>(graph.outputs[o])].type.dtype);
        !fault.empty())
      return fmt::format("output {}: {}", o, fault);
  return "";
}

/// Like fault_of(), but also returns messages of exceptions. Texts that PyTorch would refuse have no fault.
std::string fault(const std::string& text) {
  try {
    return fault_of(text);
  } catch (const Error&) {
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

TEST(Contract, OfNarrowIntegers) {
  if (!on_opencl()) GTEST_SKIP() << "no OpenCL device";
  for (const char* text :
       {"u = torch.randint(0, 256, (7, 33), dtype=torch.uint8); (u + 1, u.float() / 255, u.sum(1), u)",
        "i = torch.randint(-128, 128, (7, 33), dtype=torch.int8); (i * 3, i.to(torch.int16) * 300, i.T.contiguous())",
        "s = torch.randint(-32768, 32768, (5, 9), dtype=torch.int16); (s.amax(1), -s, s.byte())"})
    EXPECT_EQ(fault(text), "") << text;
}

TEST(Contract, OfSixteenBits) {
  if (!on_opencl()) GTEST_SKIP() << "no OpenCL device";
  for (const char* dtype : {"float16", "bfloat16"})
    for (const char* text :
         {"torch.randn(7, 33) @ nn.Parameter(torch.randn(33, 5))", "F.softmax(torch.randn(3, 65), -1).float()",
          "x = torch.randn(2, 3, 5); (x.transpose(0, 2), x.sum(), x * 0.1)"})
      EXPECT_EQ(fault(std::string("torch.set_default_dtype(torch.") + dtype + "); " + text), "") << dtype << text;
  deplo::Source source;
  source.expression = "torch.randn(3) * 2";
  source.dtype = "bf16";
  EXPECT_EQ(deplo::compile(source).tensors.front().dtype, deplo::DType::bf16);
  source.dtype = "f64";
  EXPECT_THROW(deplo::compile(source), std::invalid_argument);
  source.dtype = "";
  source.expression = "q = torch.randn(1, 2, 32, 16); F.scaled_dot_product_attention(q, q, q)";
  source.attention = "split";
  EXPECT_EQ(deplo::compile(source).kernels.size(), 3U);
  source.attention = "fused";
  EXPECT_EQ(deplo::compile(source).kernels.size(), 1U);
  source.key_parts = "2";
  EXPECT_EQ(deplo::compile(source).kernels.size(), 2U);
  source.attention = "split";
  EXPECT_THROW(deplo::compile(source), std::invalid_argument);
}

// Shapes for which an error was found once.
TEST(Contract, OfBatchesOfVectors) {
  if (!on_opencl()) GTEST_SKIP() << "no OpenCL device";
  EXPECT_EQ(fault("torch.bmm(torch.randn(7, 33, 129), torch.randn(7, 129, 1))"), "");
  EXPECT_EQ(fault("torch.bmm(torch.randn(7, 1, 33), torch.randn(7, 33, 5)).transpose(0, 2)"), "");
  EXPECT_EQ(fault("x = torch.randn(3, 7, 1, 5); (x.permute(3, 1, 0, 2).sum(dim=0), x)"), "");
}

// Steps write their outputs to parts of a tensor, and read parts of other tensors.
TEST(Contract, OfRecurrences) {
  if (!on_opencl()) GTEST_SKIP() << "no OpenCL device";
  const std::string text = "nn.GRU(8, 32)(torch.randn(12, 3, 8))";
  EXPECT_EQ(fault(text), "");
  const deplo::Program program = compiled(text);
  EXPECT_LT(program.kernels.size(), program.launches.size() / 2);
  std::size_t parts = 0;
  for (const deplo::Tensor& tensor : program.tensors) {
    EXPECT_EQ(tensor.offset % 128, 0) << tensor.name;
    if (tensor.offset != 0) ++parts;
  }
  EXPECT_GE(parts, 11U);
}

TEST(Contract, OfRandomExpressions) {
  if (!on_opencl()) GTEST_SKIP() << "no OpenCL device";
  constexpr std::uint64_t cases = 12;  // each case takes a second or two, because kernels are built
  for (const std::uint64_t seed : drawn_seeds(cases)) {
    RandomExpression expression = random_expression(seed + 1000, 6);
    const std::string found = fault(expression.text());
    if (found.empty()) continue;
    expression = shrink(std::move(expression), [](const std::string& text) { return !fault(text).empty(); });
    FAIL() << "seed " << seed << ": " << expression.text() << "\n" << fault(expression.text());
  }
}

}  // namespace
}  // namespace deplo::testing
