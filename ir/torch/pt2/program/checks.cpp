#include "ir/torch/pt2/program/checks.h"

#include <algorithm>
#include <string_view>

namespace deplo::ir::torch::pt2 {
namespace {

constexpr std::string_view effects = "torch.ops.higher_order.with_effects";

bool is_check(const ProgramNode& node) {
  return node.target == effects && std::ranges::any_of(node.inputs, [](const NamedArgument& input) {
           const auto* function = std::get_if<std::string>(&input.value);
           return function != nullptr && *function == "torch.ops.aten._linalg_check_errors.default";
         });
}

/// Erases the values of a graph whose specifications are tokens, and these specifications.
template <class Spec>
void drop_tokens(std::vector<Spec>& specs, std::vector<Argument>& values) {
  for (std::size_t i = std::min(specs.size(), values.size()); i-- > 0;) {
    if (specs[i].kind != "token") continue;
    specs.erase(specs.begin() + static_cast<std::ptrdiff_t>(i));
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

void drop_checks(Program& program) {
  std::erase_if(program.graph.nodes, is_check);
  if (std::ranges::find(program.graph.nodes, effects, &ProgramNode::target) != program.graph.nodes.end()) return;
  drop_tokens(program.inputs, program.graph.inputs);
  drop_tokens(program.outputs, program.graph.outputs);
}

}  // namespace deplo::ir::torch::pt2
