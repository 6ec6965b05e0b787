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
  ir::DType dtype = ir::DType::f32;            // default type of floats
  std::map<std::string, TensorValues> inputs;  // values by the name of the variable
  std::vector<TensorValues> outputs;
};
/// Returns every case of values.json, computed in float64.
const std::vector<TorchCase>& torch_cases();
/// Returns every case of special.json, computed in its dtype. The inputs have NaN, infinities and zeros of both signs.
const std::vector<TorchCase>& special_cases();
/// Returns the tensors of a file that has a list of them.
std::vector<TensorValues> tensor_values(const std::filesystem::path&);
/// Returns how far results in the dtype may differ from PyTorch's, as relative_error() measures it.
double special_tolerance(ir::DType);
/// The inputs (in order) and outputs for a .pt2 file of tests/data/pt2. Those for `qwen3_core_aten_2.5.1.pt2` are in
/// `qwen3.json`.
struct ProgramValues {
  std::vector<TensorValues> inputs, outputs;
};
ProgramValues program_values(const std::filesystem::path& pt2);

/// Returns what evaluate() takes. Parameters have their own values; inputs have the given ones by name (a node "x" has
/// the input "x"). Throws Error if a node has no values.
std::vector<ir::torch::Values> sources(const ir::torch::Graph&, const std::map<std::string, TensorValues>& inputs);
/// Returns the largest difference, relative to the largest magnitude of `expected`. Equal infinities and NaNs do not
/// differ. Other infinities and NaNs give infinity, as does another number of elements.
double relative_error(const std::vector<double>& found, const std::vector<double>& expected);

}  // namespace deplo::tests
