// Expressions with the values that PyTorch computed for them in float64 (tests/data/torch_values/write.py).
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ir/torch/evaluate.h"

namespace deplo::tests {

struct TensorValues {
  ir::Shape shape;
  std::vector<double> values;  // row-major
};
struct TorchCase {
  std::string code;                            // in the expression language
  std::map<std::string, TensorValues> inputs;  // by the names of the variables
  std::vector<TensorValues> outputs;
};
/// Every case of the committed file.
const std::vector<TorchCase>& torch_cases();
/// The inputs (in order) and outputs beside a .pt2 file of tests/data/pt2: of
/// `qwen3_core_aten_2.5.1.pt2`, `qwen3.json`.
struct ProgramValues {
  std::vector<TensorValues> inputs, outputs;
};
ProgramValues program_values(const std::filesystem::path& pt2);

/// What evaluate() takes: parameters have their own values, inputs the given ones by name (a node "x" the input "x").
/// Throws Error where a node has no values.
std::vector<ir::torch::Values> sources(const ir::torch::Graph&, const std::map<std::string, TensorValues>& inputs);
/// The largest difference relative to the largest magnitude of `expected`. Equal infinities and NaNs do not differ;
/// others give infinity, as does another number of elements.
double relative_error(const std::vector<double>& found, const std::vector<double>& expected);

}  // namespace deplo::tests
