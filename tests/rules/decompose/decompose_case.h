// One call of a Torch IR operation, and the check that what it is decomposed to means the same.
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
Arg number(double value);  // a float
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
/// Of the nodes of graph_of(case): numbers that the dtypes can hold exactly.
Values sources_of(const Case&, Rng&);
/// Of any graph, in [-2, 2].
Values random_sources(const ir::torch::Graph&, Rng&);
/// Those of the nodes of the same names.
Values sources_for(const ir::tensor::Graph&, const ir::torch::Graph&, const Values&);

/// "" where decompose(graph) and compose of it verify and give the values that torch::evaluate gives; else what
/// differs.
std::string check_meaning(const ir::torch::Graph&, const Values& sources);
/// "" where they are equal up to 1e-6 relative to the larger of 1 and the value; NaN equals NaN.
std::string difference(const Values& found, const Values& expected);

}  // namespace deplo::testing
