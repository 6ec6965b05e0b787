#include "rules/decompose/decompose_case.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/torch/evaluate.h"
#include "rules/decompose/decompose.h"

namespace deplo::testing {

using ir::DType;
using ir::Shape;
namespace tensor = ir::tensor;
namespace torch = ir::torch;

Arg f32(Shape shape, double low, double high) { return {{DType::f32, std::move(shape)}, low, high, {}}; }
Arg f16(Shape shape) { return {{DType::f16, std::move(shape)}, -2, 2, {}}; }
Arg bf16(Shape shape) { return {{DType::bf16, std::move(shape)}, -2, 2, {}}; }
Arg i32(Shape shape, double low, double high) { return {{DType::i32, std::move(shape)}, low, high, {}}; }
Arg boolean(Shape shape) { return {{DType::boolean, std::move(shape)}, 0, 1, {}}; }
Arg number(double value) { return {{DType::f32, {}}, 0, 0, value}; }
Arg integer(std::int64_t value) { return {{DType::i32, {}}, 0, 0, static_cast<double>(value)}; }

std::string describe(const Case& c) {
  std::string text = c.op + "(";
  for (const Arg& a : c.args) text += (&a == c.args.data() ? "" : ", ") + ir::print(a.type);
  return text + ")";
}

torch::Graph graph_of(const Case& c) {
  torch::Builder b;
  std::vector<torch::Id> args;
  for (const Arg& a : c.args) args.push_back(a.scalar ? b.scalar(*a.scalar, a.type.dtype) : b.input("x", a.type));
  return b.finish({b.call(c.op, args, c.attributes)});
}

namespace {

double random_value(DType dtype, Rng& rng, double low, double high) {
  switch (dtype) {
    case DType::boolean:
      return static_cast<double>(rng.below(2));
    case DType::i32:
    case DType::i64:
      return std::floor(rng.uniform(low, high + 1));
    case DType::f16:
    case DType::bf16:
      return std::round(rng.uniform(low, high) * 16) / 16;
    default:
      return static_cast<float>(rng.uniform(low, high));
  }
}

bool is_given(const torch::Node& n) {
  return n.kind == torch::Node::Kind::input || n.kind == torch::Node::Kind::parameter;
}

std::vector<double> random_values(const ir::TensorType& type, Rng& rng, double low, double high) {
  std::vector<double> values(static_cast<std::size_t>(ir::element_count(type.shape)));
  for (double& v : values) v = random_value(type.dtype, rng, low, high);
  return values;
}

}  // namespace

// The arguments are the first nodes of the graph, in order.
Values sources_of(const Case& c, Rng& rng) {
  Values sources;
  for (const Arg& a : c.args)
    sources.push_back(a.scalar ? std::vector<double>{} : random_values(a.type, rng, a.low, a.high));
  sources.resize(graph_of(c).nodes.size());  // a call may become several nodes
  return sources;
}

Values random_sources(const torch::Graph& graph, Rng& rng) {
  Values sources;
  for (const torch::Node& n : graph.nodes)
    sources.push_back(is_given(n) ? random_values(n.type, rng, -2, 2) : std::vector<double>{});
  return sources;
}

Values sources_for(const tensor::Graph& graph, const torch::Graph& from, const Values& sources) {
  Values result(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (std::size_t k = 0; k < from.nodes.size(); ++k)
      if (from.nodes[k].name == graph.nodes[i].name && is_given(from.nodes[k])) result[i] = sources[k];
  return result;
}

std::string difference(const Values& found, const Values& expected) {
  if (found.size() != expected.size()) return fmt::format("{} outputs, not {}", found.size(), expected.size());
  for (std::size_t o = 0; o < found.size(); ++o) {
    if (found[o].size() != expected[o].size())
      return fmt::format("output {}: {} elements, not {}", o, found[o].size(), expected[o].size());
    for (std::size_t k = 0; k < found[o].size(); ++k) {
      const double a = found[o][k], b = expected[o][k];
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      if (!(std::fabs(a - b) <= 1e-6 * std::max(1.0, std::fabs(b))))
        return fmt::format("output {}, element {}: {}, not {}", o, k, a, b);
    }
  }
  return "";
}

namespace {

std::string check_graph(const char* stage, const tensor::Graph& graph, const torch::Graph& reference,
                        const Values& sources, const Values& expected) {
  std::string problem = tensor::verify(graph);
  if (problem.empty()) problem = difference(tensor::evaluate(graph, sources_for(graph, reference, sources)), expected);
  return problem.empty() ? "" : fmt::format("{}: {}\n{}", stage, problem, tensor::print(graph));
}

}  // namespace

std::string check_meaning(const torch::Graph& graph, const Values& sources) {
  Values expected = torch::evaluate(graph, sources);
  std::erase_if(expected, [](const std::vector<double>& values) { return values.empty(); });
  const tensor::Graph decomposed = rules::decompose(graph);
  const std::string problem = check_graph("decomposed", decomposed, graph, sources, expected);
  return problem.empty() ? check_graph("composed", rules::compose(decomposed), graph, sources, expected) : problem;
}

}  // namespace deplo::testing
