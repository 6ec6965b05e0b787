// A call of a Torch IR operation, and the check that its decomposition computes the same values.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "ir/tensor/tensor.h"
#include "ir/torch/graph.h"

namespace deplo::testing {

/// An input with values in [low, high], or a scalar node.
struct Arg {
  ir::TensorType type;
  double low = -2, high = 2;
  std::optional<double> scalar;
};
Arg f32(ir::Shape shape, double low = -2, double high = 2);
Arg f16(ir::Shape shape);
Arg bf16(ir::Shape shape);
Arg i32(ir::Shape shape, double low = -5, double high = 5);
Arg boolean(ir::Shape shape);
Arg number(double value);  // a scalar of type f32
Arg integer(std::int64_t value);

struct Case {
  std::string op;
  std::vector<Arg> args;
  ir::torch::Attributes attributes = {};
};
std::string describe(const Case&);
ir::torch::Graph graph_of(const Case&);
std::vector<Case> all_cases();

using Values = std::vector<std::vector<double>>;
/// Returns random values for the nodes of graph_of(case), which the nodes' dtypes represent exactly.
Values sources_of(const Case&, Rng&);
/// Returns random values in [-2, 2] for the inputs and parameters of any graph, and empty vectors for its other nodes.
Values random_sources(const ir::torch::Graph&, Rng&);
/// Returns `sources`, the values of the Torch IR graph's nodes, for the nodes of the Tensor IR graph with the same
/// names.
Values sources_for(const ir::tensor::Graph&, const ir::torch::Graph&, const Values&);

/// Returns "" if decompose(graph), and compose of its result, pass the verifier and compute the values that
/// torch::evaluate computes; otherwise the problem.
std::string check_meaning(const ir::torch::Graph&, const Values& sources);
/// Returns "" if the values are equal up to 1e-6 × max(1, |expected|), otherwise the first difference. NaN equals NaN.
std::string difference(const Values& found, const Values& expected);

}  // namespace deplo::testing
