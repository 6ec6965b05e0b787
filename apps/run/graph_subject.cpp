#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/run/subject.h"
#include "engine/source/graph.h"
#include "engine/source/values.h"

namespace deplo::apps {
namespace {

// Returns the type of the graph's parameter, with the dimensions in the graph's order. The tensor may store them
// permuted.
ir::TensorType given_type(const ir::Tensor& tensor) {
  ir::TensorType type = tensor.type;
  for (std::size_t d = 0; d < tensor.permutation.size(); ++d)
    type.shape[static_cast<std::size_t>(tensor.permutation[d])] = tensor.type.shape[d];
  return type;
}

bool has_source(const ir::torch::Node& node) {
  return node.kind == ir::torch::Node::Kind::input || node.kind == ir::torch::Node::Kind::parameter;
}

ir::torch::Graph read_given(const engine::Source& source, engine::Inputs inputs) {
  ir::torch::Graph graph = engine::read_graph(source);
  engine::give(inputs, graph);
  engine::check_met(inputs);
  return graph;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Raises each bound to the distance between a value and the expected one. If one of the two is infinite, the bound
/// becomes infinite, because rounding then decides about an overflow (Expected::rounding).
void raise(std::vector<double>& bounds, const std::vector<double>& values, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = values[i], off = std::abs(value - expected[i]);
    if (value == expected[i] || std::isnan(value)) continue;
    bounds[i] = std::isfinite(off) ? std::max(bounds[i], off) : infinity;
  }
}

/// Raises each bound to the root mean square of all bounds. The samples of one element may be small by chance; those of
/// all elements together are not.
void raise_to_mean(std::vector<double>& bounds) {
  double squares = 0, count = 0;
  for (const double off : bounds) {
    if (!std::isfinite(off)) continue;
    squares += off * off;
    ++count;
  }
  const double mean = std::sqrt(squares / std::max(count, 1.0));
  for (double& off : bounds) off = std::max(off, mean);
}

class GraphSubject : public Subject {
 public:
  explicit GraphSubject(const RunOptions& options)
      : seed_(options.seed),
        graph_(read_given(options.source, options.inputs)),
        whole_(graph_),
        passes_(engine::passes_of(options.source.options, engine::fusion_target(options.target, options.device))) {
    note_ = graph_.note;
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ir::torch::Node& node = graph_.nodes[static_cast<std::size_t>(graph_.outputs[i])];
      const bool is_empty = ir::element_count(node.type.shape) == 0;
      (is_empty ? empty_outputs_ : outputs_).push_back({node.name, std::to_string(i), node.type, i});
    }
    std::erase_if(graph_.outputs, [&](int output) {
      return ir::element_count(graph_.nodes[static_cast<std::size_t>(output)].type.shape) == 0;
    });
  }

  engine::GraphSchedule lower(engine::TunedCache& cache) override {
    engine::GraphSchedule schedule = cache.find_graph({whole_, passes_});
    module_ = engine::lower_by_trail(whole_, passes_, schedule.trail).value_or_throw().module;
    return schedule;
  }

  ir::Numbers values(const ir::Tensor& tensor) const override {
    if (tensor.of.empty()) return engine::source_values(tensor.source, tensor.name, tensor.type, seed_);
    const ir::TensorType type = given_type(tensor);
    return engine::permute(engine::source_values(tensor.source, tensor.of, type, seed_), type.shape,
                           tensor.permutation);
  }

  std::vector<std::vector<double>> reference() const override { return ir::torch::evaluate(graph_, sources()); }

  std::vector<std::vector<double>> rounding(const std::vector<std::vector<double>>& reference) const override {
    return rounding_of(graph_, sources(), reference);
  }

  /// Returns the size of the graph's values in double: the sources, and at least the values that are alive at the worst
  /// moment.
  double reference_bytes() const override {
    double sources = 0, largest = 0;
    for (const ir::torch::Node& node : graph_.nodes) {
      const double bytes = 8 * static_cast<double>(ir::element_count(node.type.shape));
      if (has_source(node))
        sources += bytes;
      else if (node.kind == ir::torch::Node::Kind::call)
        largest = std::max(largest, bytes);
    }
    return sources + 3 * largest;
  }

 private:
  std::vector<ir::torch::Values> sources() const {
    std::vector<ir::torch::Values> sources(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const ir::torch::Node& node = graph_.nodes[i];
      if (!has_source(node)) continue;
      sources[i] = engine::source_values(node.source, node.name, node.type, seed_).doubles();
    }
    return sources;
  }

  std::uint64_t seed_;
  ir::torch::Graph graph_;        // without outputs that have no elements
  const ir::torch::Graph whole_;  // with all outputs
  const engine::Passes passes_;
};

}  // namespace

std::vector<std::vector<double>> rounding_of(const ir::torch::Graph& graph,
                                             const std::vector<ir::torch::Values>& sources,
                                             const std::vector<std::vector<double>>& reference) {
  // Values are disturbed by sixteen units of rounding. Sums of a thousand terms gather as much within an operation, and
  // operations are disturbed only as a whole. The bound is twice what the samples show. An integer or a truth value
  // either changes in a sample or does not, so these types need more samples.
  constexpr double relative = 0x1p-20, margin = 2;
  const auto is_real = [&](int output) {
    return ir::is_float(graph.nodes[static_cast<std::size_t>(output)].type.dtype);
  };
  const std::uint64_t samples = std::ranges::all_of(graph.outputs, is_real) ? 2 : 8;
  std::vector<std::vector<double>> bounds;
  for (const std::vector<double>& output : reference) bounds.emplace_back(output.size());
  for (std::uint64_t seed = 1; seed <= samples; ++seed) {
    const auto disturbed = ir::torch::evaluate_disturbed(graph, sources, relative, seed);
    for (std::size_t i = 0; i < reference.size(); ++i) raise(bounds[i], disturbed[i], reference[i]);
  }
  const auto rounded = ir::torch::evaluate_rounded(graph, sources);
  for (std::size_t i = 0; i < reference.size(); ++i) raise(bounds[i], rounded[i], reference[i]);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (!is_real(graph.outputs[i])) continue;
    raise_to_mean(bounds[i]);
    for (std::size_t j = 0; j < bounds[i].size(); ++j)
      if (std::abs(reference[i][j]) + (bounds[i][j] *= margin) > std::numeric_limits<float>::max())
        bounds[i][j] = infinity;
  }
  // Infinities of both signs may make a sum NaN, depending on the order of its additions. The bound of such an element
  // is NaN.
  for (std::size_t i = 0; i < bounds.size(); ++i)
    for (std::size_t j = 0; j < bounds[i].size(); ++j)
      if (std::isnan(rounded[i][j]) && !std::isnan(reference[i][j])) bounds[i][j] = rounded[i][j];
  return bounds;
}

std::unique_ptr<Subject> read_graph_subject(const RunOptions& options) {
  return std::make_unique<GraphSubject>(options);
}

}  // namespace deplo::apps
