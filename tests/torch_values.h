// Expressions with the values that PyTorch computed for them (tests/data/torch_values/write.py).
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
  ir::DType dtype = ir::DType::f32;            // of floats without one
  std::map<std::string, TensorValues> inputs;  // by the names of the variables
  std::vector<TensorValues> outputs;
};
/// Every case of values.json, computed in float64.
const std::vector<TorchCase>& torch_cases();
/// Every case of special.json, computed in its dtype: inputs with NaN, infinities and zeros of both signs.
const std::vector<TorchCase>& special_cases();
/// A file of a list of tensors.
std::vector<TensorValues> tensor_values(const std::filesystem::path&);
/// How far results in the dtype may be from PyTorch's, as relative_error says.
double special_tolerance(ir::DType);
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
