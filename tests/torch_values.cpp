#include "torch_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"
#include "ir/types/float16.h"

namespace deplo::tests {
namespace {

using nlohmann::json;

TensorValues tensor(const json& j) {
  TensorValues t;
  t.shape = j.at("shape").get<ir::Shape>();
  for (const json& v : j.at("values"))
    t.values.push_back(v.is_string() ? std::stod(v.get<std::string>()) : v.get<double>());
  return t;
}

std::vector<TensorValues> tensors(const json& list) {
  std::vector<TensorValues> result;
  for (const json& t : list) result.push_back(tensor(t));
  return result;
}

json load(const std::filesystem::path& file) { return json::parse(read_file(file)); }

std::vector<TorchCase> load_cases(const char* file) {
  std::vector<TorchCase> all;
  for (const json& j : load(std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/data/torch_values" / file)) {
    TorchCase& c = all.emplace_back();
    c.code = j.at("code").get<std::string>();
    const std::string dtype = j.value("dtype", "f32");
    c.dtype = dtype == "f16" ? ir::DType::f16 : dtype == "bf16" ? ir::DType::bf16 : ir::DType::f32;
    for (const auto& [name, values] : j.at("inputs").items()) c.inputs.emplace(name, tensor(values));
    c.outputs = tensors(j.at("outputs"));
  }
  return all;
}

}  // namespace

const std::vector<TorchCase>& torch_cases() {
  static const std::vector<TorchCase> cases = load_cases("values.json");
  return cases;
}

const std::vector<TorchCase>& special_cases() {
  static const std::vector<TorchCase> cases = load_cases("special.json");
  return cases;
}

std::vector<TensorValues> tensor_values(const std::filesystem::path& file) { return tensors(load(file)); }

double special_tolerance(ir::DType dtype) {
  return dtype == ir::DType::f32 ? 1e-5 : 4 * ir::unit_roundoff(dtype);  // 16-bit results are rounded once or twice
}

ProgramValues program_values(const std::filesystem::path& pt2) {
  std::string stem = pt2.filename().string();
  stem.resize(stem.rfind('_'));  // cut off the version
  constexpr std::string_view decomposed = "_core_aten";
  if (stem.ends_with(decomposed)) stem.resize(stem.size() - decomposed.size());
  const json j = load(pt2.parent_path() / (stem + ".json"));
  return {tensors(j.at("inputs")), tensors(j.at("outputs"))};
}

std::vector<ir::torch::Values> sources(const ir::torch::Graph& graph,
                                       const std::map<std::string, TensorValues>& inputs) {
  std::vector<ir::torch::Values> result;
  for (const ir::torch::Node& node : graph.nodes) {
    ir::torch::Values& values = result.emplace_back();
    if (node.kind != ir::torch::Node::Kind::input && node.kind != ir::torch::Node::Kind::parameter) continue;
    if (const auto given = inputs.find(node.name); given != inputs.end() && given->second.shape == node.type.shape)
      values = given->second.values;
    else if (node.source.values)
      values.assign(node.source.values->begin(), node.source.values->end());
    else
      throw Error("values: expected some for '" + node.name + "' " + print(node.type) + ", found none");
  }
  return result;
}

double relative_error(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double f = found[i], e = expected[i];
    if (f == e || (std::isnan(f) && std::isnan(e))) continue;
    if (!std::isfinite(f) || !std::isfinite(e)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(f - e));
  }
  for (const double e : expected)
    if (std::isfinite(e)) largest = std::max(largest, std::abs(e));
  return difference == 0 ? 0 : difference / std::max(largest, std::numeric_limits<double>::min());
}

}  // namespace deplo::tests
