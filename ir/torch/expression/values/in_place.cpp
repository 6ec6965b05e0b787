#include "ir/torch/expression/values/in_place.h"

#include <algorithm>

namespace deplo::ir::torch::python {

Id& InPlace::cell(Id tensor) {
  const auto [at, is_new] = cell_of_.try_emplace(tensor, cells_.size());
  if (is_new) cells_.push_back(tensor);
  return cells_[at->second];
}

Id InPlace::current(Id tensor) const {
  const auto cell = cell_of_.find(tensor);
  return cell == cell_of_.end() ? tensor : cells_[cell->second];
}

bool InPlace::is_stale(const Builder& builder, Id tensor) {
  if (memories_.empty()) return false;
  const auto memory = memory_of_.find(views(builder, tensor).origin);
  return memory != memory_of_.end() && current(tensor) < memories_[memory->second].since;
}

Views InPlace::views(const Builder& builder, Id tensor) {
  Views views;
  Id node = current(tensor);
  for (;;) {
    if (const auto view = replaced_.find(node); view != replaced_.end()) {
      node = view->second;
      continue;
    }
    const Sharing sharing = strides_.sharing(builder, node);
    if (sharing == Sharing::own) break;
    if (sharing == Sharing::unknown) views.known = false;
    views.nodes.push_back(node);
    node = builder.node(node).args[0];
  }
  views.origin = node;
  std::ranges::reverse(views.nodes);
  return views;
}

std::optional<Id> InPlace::content(Id origin) const {
  const auto memory = memory_of_.find(origin);
  return memory == memory_of_.end() ? origin : memories_[memory->second].content;
}

bool InPlace::is_written(Id origin, Id first) const {
  const auto memory = memory_of_.find(origin);
  return memory != memory_of_.end() && memories_[memory->second].since >= first;
}

void InPlace::refresh(Id tensor, Id node) { cell(tensor) = node; }

void InPlace::write(const Builder& builder, Id tensor, Id result, std::optional<Id> content) {
  const Id old = current(tensor);
  const Views views = this->views(builder, tensor);
  const auto [memory, is_new] = memory_of_.try_emplace(views.origin, memories_.size());
  const std::size_t number = memory->second;
  if (is_new) memories_.emplace_back();
  memories_[number] = {content, result};
  strides_.set_as(builder, result, old);
  if (!views.nodes.empty()) replaced_[result] = old;
  if (content) {
    strides_.set_as(builder, *content, views.origin);
    memory_of_[*content] = number;
  }
  cell(tensor) = result;
  cell_of_[result] = cell_of_[tensor];
}

}  // namespace deplo::ir::torch::python
