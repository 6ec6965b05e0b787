#include "ir/torch/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/error.h"
#include "core/rng.h"
#include "ir/torch/operations/operands.h"
#include "ir/torch/operations/operation.h"
#include "ir/types/float16.h"
#include "ir/types/integers.h"

namespace deplo::ir::torch {
namespace {

// Operations that calculate with integers. Other operations only move, count or compare integers.
constexpr std::array calculating =
    std::to_array<std::string_view>({"abs", "add", "cumsum", "floor_divide", "linear", "matmul", "mul", "neg", "pow",
                                     "prod", "remainder", "scatter_add", "sub", "sum"});

void require_exact(const Node& node, const Values& values) {
  for (const double value : values)
    if (std::abs(value) > max_exact_integer && value != -0x1p63)  // a real number out of range becomes -2^63
      throw Error(fmt::format(
          "{} ({}): expected 64-bit integers from -2^53 to 2^53, the range in which references are exact, found {:.0f}",
          node.name, node.op, value));
}

/// Wraps int32 results modulo 2^32. Throws Error if an int64 argument or a result is beyond the integers that a double
/// holds exactly.
void fit(const Operands& operands, Values& values) {
  const Node& node = operands.node;
  if (!is_integer(node.type.dtype) || std::ranges::find(calculating, node.op) == calculating.end()) return;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands.args[i]->type.dtype == DType::i64) require_exact(node, operands.value(i));
  require_exact(node, values);
  if (node.type.dtype == DType::i32)
    for (double& value : values) value = to_integer(value, DType::i64, DType::i32);
}

Values evaluate_call(const Operands& operands) {
  const Operation* operation = find_operation(operands.node.op);
  CHECK(operation);
  Values values = operation->evaluate(operands);
  CHECK(values.size() == operands.result_count());
  fit(operands, values);
  return values;
}

/// Returns, for each node, the index of the last node that reads it. Outputs are read at the end.
std::vector<std::size_t> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const Id arg : graph.nodes[i].args) last[static_cast<std::size_t>(arg)] = i;
  for (const Id output : graph.outputs) last[static_cast<std::size_t>(output)] = graph.nodes.size();
  return last;
}

void limit_to_range(DType dtype, Values& values) {
  if (!is_float(dtype)) return;
  for (double& value : values) value = in_f32_range(value);
}

/// Evaluates all nodes. Calls `made` with each node and the values just computed for it, before the values are limited
/// to the range of f32. `apart`: see Operands.
template <class Made>
std::vector<Values> evaluate_all(const Graph& graph, const std::vector<Values>& sources, Made made,
                                 bool apart = false) {
  CHECK(sources.size() == graph.nodes.size());
  const std::vector<std::size_t> last = last_uses(graph);
  std::vector<Values> computed(graph.nodes.size());
  const auto values_of = [&](std::size_t id) -> const Values& {
    const bool given = graph.nodes[id].kind == Node::Kind::input || graph.nodes[id].kind == Node::Kind::parameter;
    return given ? sources[id] : computed[id];
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.kind == Node::Kind::scalar) computed[i] = {in_f32_range(node.value)};
    if (node.kind == Node::Kind::input || node.kind == Node::Kind::parameter)
      CHECK(static_cast<std::int64_t>(sources[i].size()) == element_count(node.type.shape));
    if (node.kind != Node::Kind::call) continue;
    Operands operands = {node, {}, {}, apart};
    for (const Id arg : node.args) {
      operands.args.push_back(&graph.nodes[static_cast<std::size_t>(arg)]);
      operands.values.push_back(&values_of(static_cast<std::size_t>(arg)));
    }
    if (operands.result_count() == 0) continue;  // nothing to compute
    computed[i] = evaluate_call(operands);
    made(node, computed[i]);
    limit_to_range(node.type.dtype, computed[i]);
    for (const Id arg : node.args)
      if (last[static_cast<std::size_t>(arg)] == i) Values().swap(computed[static_cast<std::size_t>(arg)]);
  }
  std::vector<Values> outputs;
  for (const Id output : graph.outputs) outputs.push_back(values_of(static_cast<std::size_t>(output)));
  return outputs;
}

}  // namespace

std::vector<Values> evaluate(const Graph& graph, const std::vector<Values>& sources) {
  return evaluate_all(graph, sources, [](const Node&, Values&) {});
}

std::vector<Values> evaluate_rounded(const Graph& graph, const std::vector<Values>& sources) {
  const auto round = [](const Node& node, Values& values) {
    for (double& value : values) value = rounded(value, node.type.dtype);
  };
  return evaluate_all(graph, sources, round, true);
}

std::vector<Values> evaluate_disturbed(const Graph& graph, std::vector<Values> sources, double relative,
                                       std::uint64_t seed) {
  // The sum of many rounding errors is normally distributed. The worst of a million elements is off by five standard
  // deviations, but one or two samples show only about one deviation.
  constexpr double roundings = 4;
  Rng rng(seed);
  const auto disturb = [&](DType dtype, Values& values, double by) {
    if (!is_float(dtype)) return;
    for (double& value : values) {
      value *= 1 + rng.uniform(-by, by);
      // Subnormal numbers are rounded to multiples of the least subnormal. A number that is sure to be rounded to 0
      // stays 0.
      if (std::abs(value) < 0x1p-126 && std::abs(value) > 0x1p-152)
        value += rng.uniform(-roundings, roundings) * 0x1p-149;
    }
  };
  const std::vector<std::size_t> last = last_uses(graph);
  const auto as_factor = [&](const Node& node) {
    const std::size_t use = last[static_cast<std::size_t>(&node - graph.nodes.data())];
    const bool read = use > 0 && use < graph.nodes.size();
    return graph.allow_tf32 && read && node.type.dtype == DType::f32 ? roundings * tf32_roundoff : 0;
  };
  for (std::size_t i = 0; i < sources.size(); ++i)
    disturb(graph.nodes[i].type.dtype, sources[i], relative + as_factor(graph.nodes[i]));
  return evaluate_all(graph, sources, [&](const Node& node, Values& values) {
    disturb(node.type.dtype, values, relative + roundings * unit_roundoff(node.type.dtype) + as_factor(node));
  });
}

}  // namespace deplo::ir::torch
