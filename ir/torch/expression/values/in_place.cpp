#include "ir/torch/expression/values/in_place.h"

#include <algorithm>
#include <array>

namespace deplo::ir::torch::python {
namespace {

constexpr std::array<std::string_view, 9> views = {"expand",  "permute", "reshape",   "select",   "slice",
                                                   "squeeze", "unfold",  "transpose", "unsqueeze"};

bool is_view(const Node& node) {
  return node.kind == Node::Kind::call && std::ranges::find(views, node.op) != views.end();
}

}  // namespace

Id origin(const Builder& builder, Id node) {
  while (is_view(builder.node(node))) node = builder.node(node).args[0];
  return node;
}

const InPlace::Cell* InPlace::find(Id tensor) const {
  const auto cell = cell_of_.find(tensor);
  return cell == cell_of_.end() ? nullptr : &cells_[cell->second];
}

Id InPlace::current(Id tensor) const {
  const Cell* cell = find(tensor);
  return cell ? cell->node : tensor;
}

bool InPlace::is_stale(const Builder& builder, Id tensor) const {
  if (written_.empty()) return false;
  const Cell* cell = find(tensor);
  const Id node = cell ? cell->node : tensor;
  const auto write = written_.find(origin(builder, node));
  if (write == written_.end() || node >= write->second.result) return false;
  return !(cell && cell->is_copy) || write->second.through_view;
}

void InPlace::write(const Builder& builder, Id tensor, Id result) {
  const Cell* known = find(tensor);
  if (!known || !known->is_copy) {
    const Id node = known ? known->node : tensor, first = origin(builder, node);
    written_[first] = {result, written_[first].through_view || node != first};
  }
  if (!known) {
    cell_of_[tensor] = cells_.size();
    cells_.emplace_back();
  }
  const std::size_t cell = cell_of_[tensor];
  cells_[cell] = {result, false};
  cell_of_[result] = cell;
}

Id InPlace::handle(Id node, bool is_copy) {
  cell_of_[next_handle_] = cells_.size();
  cells_.push_back({node, is_copy});
  return next_handle_++;
}

}  // namespace deplo::ir::torch::python
