#include "rules/fusion/run_module.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/rng.h"
#include "ir/interpret/arithmetic/ring.h"
#include "ir/tensor/evaluate.h"
#include "ir/torch/evaluate.h"
#include "rules/decompose/decompose.h"

namespace deplo::rules {
namespace {

using Values = std::vector<double>;

double small_draw(const ir::Fill& fill, ir::DType dtype, Rng& rng) {
  if (dtype == ir::DType::boolean) return static_cast<double>(rng.below(2));
  switch (fill.draw) {
    case ir::Fill::Draw::integers:
    case ir::Fill::Draw::distinct:
      return std::floor(rng.uniform(fill.a, fill.b));
    case ir::Fill::Draw::constant:
      return fill.a;
    case ir::Fill::Draw::uniform:
      return rng.uniform(fill.a, fill.b);
    case ir::Fill::Draw::normal:
      break;
  }
  return dtype == ir::DType::i32 ? static_cast<double>(rng.below(9)) - 4 : rng.uniform(-2, 2);
}

// Returns `values` with permuted dimensions: dimension d of the result, whose shape is `stored`, is dimension
// permutation[d] of `values`.
Values permute(const Values& values, const ir::Shape& stored, const std::vector<int>& permutation) {
  ir::Shape shape(stored.size());
  for (std::size_t d = 0; d < stored.size(); ++d) shape[static_cast<std::size_t>(permutation[d])] = stored[d];
  const ir::Shape from = ir::row_major_strides(shape), to = ir::row_major_strides(stored);
  Values result(values.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < stored.size(); ++d)
      offset += static_cast<std::int64_t>(i) / to[d] % stored[d] * from[static_cast<std::size_t>(permutation[d])];
    result[i] = values[static_cast<std::size_t>(offset)];
  }
  return result;
}

}  // namespace

namespace {

/// Reads and writes tensors, including tensors that lie in the memory of others.
class Parts {
 public:
  explicit Parts(const ir::Module& module) {
    for (const ir::Tensor& tensor : module.tensors) tensors_[tensor.name] = &tensor;
  }

  Values read(const ir::Memory& memory, const ir::Buffer& buffer) const {
    const auto [whole, first] = place(buffer);
    const Values& all = memory.at(whole->name);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return whole->name == buffer.name ? all : Values(begin, begin + static_cast<std::ptrdiff_t>(ir::span(buffer)));
  }

  void write(ir::Memory& memory, const ir::Buffer& buffer, Values values) const {
    const auto [whole, first] = place(buffer);
    Values& all = memory[whole->name];
    if (whole->name == buffer.name) {
      all = std::move(values);
      return;
    }
    all.resize(static_cast<std::size_t>(ir::element_count(whole->type.shape)),
               std::numeric_limits<double>::quiet_NaN());
    EXPECT_LE(first + static_cast<std::int64_t>(values.size()), static_cast<std::int64_t>(all.size()));
    std::ranges::copy(values, all.begin() + static_cast<std::ptrdiff_t>(first));
  }

 private:
  /// Returns the tensor in whose memory the buffer lies, and the element of that tensor at which the buffer begins.
  std::pair<const ir::Tensor*, std::int64_t> place(const ir::Buffer& buffer) const {
    const ir::Tensor* tensor = tensors_.at(buffer.name);
    std::int64_t offset = 0;
    for (; !tensor->part_of.empty(); tensor = tensors_.at(tensor->part_of)) offset += tensor->offset;
    return {tensor, offset / ir::bytes(buffer.dtype)};
  }

  std::map<std::string, const ir::Tensor*> tensors_;
};

}  // namespace

std::vector<Values> random_sources(const ir::torch::Graph& graph, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Values> sources(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::torch::Node& node = graph.nodes[i];
    if (node.kind != ir::torch::Node::Kind::input && node.kind != ir::torch::Node::Kind::parameter) continue;
    for (std::int64_t n = ir::element_count(node.type.shape); n > 0; --n)
      sources[i].push_back(small_draw(node.source.fill, node.type.dtype, rng));
  }
  return sources;
}

std::vector<Values> run(const ir::Module& module, const ir::torch::Graph& graph, const std::vector<Values>& sources,
                        const std::function<void(const ir::Program&, ir::Memory&)>& run_kernel) {
  ir::Memory tensors;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) tensors[graph.nodes[i].name] = sources[i];
  for (const ir::Tensor& tensor : module.tensors)
    if (!tensor.permutation.empty())
      tensors[tensor.name] = permute(tensors.at(tensor.of), tensor.type.shape, tensor.permutation);
  const Parts parts(module);
  for (const ir::Program& kernel : module.kernels) {
    EXPECT_EQ(ir::verify(kernel), "") << ir::print(kernel);
    EXPECT_EQ(ir::parse(ir::print(kernel)), kernel);
    ir::Memory memory;
    for (const ir::Buffer& buffer : kernel.buffers)
      memory[buffer.name] = buffer.role == ir::Role::input ? parts.read(tensors, buffer)
                                                           : Values(static_cast<std::size_t>(ir::span(buffer)),
                                                                    std::numeric_limits<double>::quiet_NaN());
    if (run_kernel)
      run_kernel(kernel, memory);
    else
      ir::interpret(kernel, memory);
    for (const ir::Buffer& buffer : kernel.buffers)
      if (buffer.role == ir::Role::output) parts.write(tensors, buffer, std::move(memory.at(buffer.name)));
  }
  std::vector<Values> outputs;
  auto name = module.outputs.begin();
  for (const int output : graph.outputs) {
    const bool is_empty = ir::element_count(graph.nodes[static_cast<std::size_t>(output)].type.shape) == 0;
    outputs.push_back(is_empty ? Values{} : tensors.at(*name++));
  }
  return outputs;
}

namespace {

/// Returns "" if the kernels compute the formulas of the graph in exact arithmetic, otherwise the first difference.
/// Whole numbers in the sources keep their values, and other finite floats become random elements.
std::string formula_difference(const ir::tensor::Graph& tensor, const ir::torch::Graph& graph, const ir::Module& module,
                               std::vector<Values> sources) {
  for (const ir::tensor::Node& node : tensor.nodes)
    if (const auto* scalar = node.as<ir::tensor::Scalar>();
        scalar != nullptr && std::isfinite(scalar->value) && !ir::Ring::is_fraction(scalar->value))
      return "";  // a rounded product of two such constants would be another formula
  const ir::Ring ring{ir::Program{}};
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (ir::is_float(graph.nodes[i].type.dtype))
      for (double& x : sources[i])
        ++seed, x = x == std::floor(x) || !std::isfinite(x) ? ring.constant(x) : ir::Ring::element(seed);
  std::vector<Values> by_node(tensor.nodes.size());
  for (std::size_t i = 0; i < tensor.nodes.size(); ++i)
    for (std::size_t k = 0; k < graph.nodes.size(); ++k)
      if (graph.nodes[k].name == tensor.nodes[i].name) by_node[i] = sources[k];
  const std::vector<Values> expected = evaluate(tensor, by_node, ring);
  const std::vector<Values> found = run(
      module, graph, sources, [&](const ir::Program& kernel, ir::Memory& memory) { interpret(kernel, memory, ring); });
  for (std::size_t o = 0; o < expected.size(); ++o)
    for (std::size_t i = 0; i < found[o].size(); ++i) {  // found[o] is empty if the output has no elements
      const double e = ring.canonical(expected[o].at(i)), f = ring.canonical(found[o][i]);
      if (e != f && !(std::isnan(e) && std::isnan(f)))
        return fmt::format("output {} element {} is another formula\n{}\n{}", o, i, ir::torch::print(graph),
                           ir::print(module));
    }
  return "";
}

}  // namespace

std::string fused_difference(const ir::torch::Graph& graph, std::uint64_t seed, const FuseOptions& options,
                             double tolerance, const Trail& taken) {
  const std::vector<Values> sources = random_sources(graph, seed);
  const std::vector<Values> expected = ir::torch::evaluate(graph, sources);
  const ir::Module module = fuse(compose(decompose(graph)), taken, options).value_or_throw().module;
  const std::vector<Values> found = run(module, graph, sources);
  for (std::size_t o = 0; o < expected.size(); ++o) {
    if (found[o].size() != expected[o].size())
      return fmt::format("output {}: expected {} elements, found {}", o, expected[o].size(), found[o].size());
    // The scale is at least that of the inputs: equal numbers may differ by 0 in one result, by 1e-16 in the other.
    double scale = 1;
    for (const double e : expected[o])
      if (std::isfinite(e)) scale = std::max(scale, std::fabs(e));
    for (std::size_t i = 0; i < expected[o].size(); ++i) {
      const double e = expected[o][i], f = found[o][i];
      const bool same = std::isnan(e) ? std::isnan(f) : std::isinf(e) ? f == e : std::fabs(f - e) <= tolerance * scale;
      if (!same)
        return fmt::format("output {} element {}: expected {}, found {}\n{}\n{}", o, i, e, f, ir::torch::print(graph),
                           ir::print(module));
    }
  }
  return formula_difference(decompose(graph), graph, module, sources);
}

}  // namespace deplo::rules
