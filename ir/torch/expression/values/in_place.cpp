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

Id InPlace::current(Id tensor) const {
  const auto cell = cell_of_.find(tensor);
  return cell == cell_of_.end() ? tensor : cells_[cell->second];
}

bool InPlace::is_stale(const Builder& builder, Id tensor) const {
  if (written_.empty()) return false;
  const Id node = current(tensor);
  const auto write = written_.find(origin(builder, node));
  return write != written_.end() && node < write->second;
}

void InPlace::write(const Builder& builder, Id tensor, Id result) {
  written_[origin(builder, current(tensor))] = result;
  const auto [cell, is_new] = cell_of_.try_emplace(tensor, cells_.size());
  if (is_new) cells_.emplace_back();
  cells_[cell->second] = result;
  cell_of_[result] = cell->second;
}

Id InPlace::handle(Id node) {
  cell_of_[next_handle_] = cells_.size();
  cells_.push_back(node);
  return next_handle_++;
}

}  // namespace deplo::ir::torch::python
