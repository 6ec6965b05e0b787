#include "ir/torch/pt2/program/selections.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/text/one_of.h"

namespace deplo::ir::torch::pt2 {
namespace {

/// Returns the name of an ATen function without its overload, such as "add_"; "" for other functions.
std::string_view aten_name(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.aten.";
  if (!target.starts_with(prefix)) return "";
  target.remove_prefix(prefix.size());
  return target.substr(0, target.find('.'));
}

bool is_in_place(std::string_view name) { return name.ends_with("__") ? name.starts_with("__i") : name.ends_with('_'); }

bool computes_elements(std::string_view name) {
  if (is_in_place(name)) name.remove_suffix(1);
  return is_one_of(name, {"abs",  "add",     "ceil",    "clamp", "clamp_max", "clamp_min", "cos",   "div",
                          "erf",  "exp",     "expm1",   "floor", "gelu",      "log",       "log1p", "maximum",
                          "mul",  "neg",     "minimum", "pow",   "relu",      "round",     "rsqrt", "reciprocal",
                          "rsub", "sigmoid", "sign",    "silu",  "sin",       "softplus",  "sqrt",  "square",
                          "sub",  "tan",     "tanh",    "trunc", "_to_copy"});
}

template <class T>
const T* input(const ProgramNode& node, std::string_view name) {
  const auto found = std::ranges::find(node.inputs, name, &NamedArgument::name);
  return found == node.inputs.end() ? nullptr : std::get_if<T>(&found->value);
}

/// Returns the mask that a node indexes with, if it is the node's only index; otherwise "".
std::string mask_of(const ProgramNode& node) {
  if (const auto* mask = input<Tensor>(node, "mask")) return mask->name;
  const auto* indices = input<Tensors>(node, "indices");
  return indices != nullptr && indices->names.size() == 1 ? indices->names.front() : "";
}

class Selections {
 public:
  explicit Selections(ProgramGraph& graph) : graph_(graph) {}

  void run() {
    for (const ProgramNode& node : graph_.nodes) note(node);
    for (const Argument& output : graph_.outputs) refuse(output);
    const std::set<std::string> masks = replaced();
    std::vector<ProgramNode> nodes;
    for (ProgramNode& node : graph_.nodes) rewrite(node, masks, nodes);
    graph_.nodes = std::move(nodes);
  }

 private:
  /// `mask`: the first of the masks that are computed alike. `all`: the tensor whose elements are selected.
  struct Selected {
    std::string mask, all;
  };

  const TensorMeta* known(const std::string& name) const {
    const auto found = graph_.tensors.find(name);
    return found == graph_.tensors.end() || found->second.open ? nullptr : &found->second;
  }

  bool is_open(const std::string& name) const {
    const auto found = graph_.tensors.find(name);
    return found != graph_.tensors.end() && found->second.open;
  }

  const std::string& first_alike(const std::string& mask) const {
    const auto found = alike_.find(mask);
    return found == alike_.end() ? mask : found->second;
  }

  bool is_selection(const ProgramNode& node) const {
    if (!is_one_of(aten_name(node.target), {"index", "masked_select"})) return false;
    const auto* self = input<Tensor>(node, "self");
    const TensorMeta *all = self == nullptr ? nullptr : known(self->name), *mask = known(mask_of(node));
    return all != nullptr && mask != nullptr && mask->type.dtype == DType::boolean &&
           mask->type.shape == all->type.shape && is_open(node.name);
  }

  /// Returns a text that two nodes share if they compute the same; "" if an argument has no text.
  std::string definition(const ProgramNode& node) const {
    std::string text = node.target;
    for (const NamedArgument& argument : node.inputs) {
      text += ' ' + argument.name + '=';
      if (const auto* tensor = std::get_if<Tensor>(&argument.value))
        text += first_alike(tensor->name);
      else if (const auto* whole = std::get_if<std::int64_t>(&argument.value))
        text += std::to_string(*whole);
      else if (const auto* number = std::get_if<double>(&argument.value))
        text += fmt::format("{}f", *number);
      else
        return "";
    }
    return text;
  }

  /// Whether the node stores selected elements through their mask.
  bool is_store(const ProgramNode& node) const {
    if (!is_one_of(aten_name(node.target), {"index_put", "index_put_"})) return false;
    const auto *self = input<Tensor>(node, "self"), *values = input<Tensor>(node, "values");
    const auto* adds = input<bool>(node, "accumulate");
    const auto found = values == nullptr ? selected_.end() : selected_.find(values->name);
    const TensorMeta *to = self == nullptr ? nullptr : known(self->name), *mask = known(mask_of(node));
    return found != selected_.end() && first_alike(mask_of(node)) == found->second.mask && to != nullptr &&
           mask != nullptr && mask->type.shape == to->type.shape && (adds == nullptr || !*adds) &&
           !selected_.contains(self->name);
  }

  void refuse(const Argument& argument) {
    each_tensor(argument, [&](const std::string& name) {
      if (const auto found = selected_.find(name); found != selected_.end()) refused_.insert(found->second.mask);
    });
  }

  /// Returns the selection that the node's inputs belong to, if the node computes each of its elements separately.
  std::optional<Selected> computed(const ProgramNode& node) const {
    if (!computes_elements(aten_name(node.target)) || !is_open(node.name)) return std::nullopt;
    std::optional<Selected> result;
    bool separate = true;
    for (const NamedArgument& argument : node.inputs)
      each_tensor(argument.value, [&](const std::string& name) {
        const auto found = selected_.find(name);
        const TensorMeta* meta = known(name);
        if (found == selected_.end())
          separate &= meta != nullptr && meta->type.shape.empty();
        else if (result)
          separate &= result->mask == found->second.mask;
        else
          result = found->second;
      });
    return separate ? result : std::nullopt;
  }

  /// Notes that the node changes a tensor. If this may be a mask, what the masks so far select stays as it is.
  void change(const ProgramNode& node) {
    const auto* self = input<Tensor>(node, "self");
    if (self != nullptr && selected_.contains(self->name)) return;  // a copy, which no definition reads
    definitions_.clear();
    alike_.clear();
    const TensorMeta* meta = self == nullptr ? nullptr : known(self->name);
    if (meta == nullptr || meta->type.dtype == DType::boolean)
      for (const auto& [name, selected] : selected_) refused_.insert(selected.mask);
  }

  void note(const ProgramNode& node) {
    const bool gives_numbers = !node.outputs.empty() && std::ranges::all_of(node.outputs, [](const Argument& output) {
      return std::holds_alternative<Symbol>(output);
    });
    if (is_selection(node)) {
      selected_[node.name] = {first_alike(mask_of(node)), input<Tensor>(node, "self")->name};
    } else if (is_store(node)) {
      stores_.emplace(&node, first_alike(mask_of(node)));
    } else if (const std::optional<Selected> selected = computed(node)) {
      selected_[node.name] = *selected;
    } else if (!gives_numbers) {
      for (const NamedArgument& argument : node.inputs) refuse(argument.value);
      if (const std::string text = definition(node); !text.empty())
        alike_.emplace(node.name, definitions_.emplace(text, node.name).first->second);
    }
    if (is_in_place(aten_name(node.target))) change(node);
  }

  /// Returns the masks whose selections are replaced.
  std::set<std::string> replaced() const {
    std::set<std::string> masks;
    for (const auto& [node, mask] : stores_)
      if (!refused_.contains(mask)) masks.insert(mask);
    return masks;
  }

  void rewrite(ProgramNode& node, const std::set<std::string>& masks, std::vector<ProgramNode>& nodes) {
    const auto store = stores_.find(&node);
    const auto selected = selected_.find(node.name);
    if (store != stores_.end() && masks.contains(store->second)) {
      const bool in_place = is_in_place(aten_name(node.target));
      const Tensor self = *input<Tensor>(node, "self"), values = *input<Tensor>(node, "values");
      const Tensor whole = {in_place ? node.name + "_whole" : node.name};
      if (in_place) graph_.tensors.emplace(whole.name, *known(self.name));
      nodes.push_back({"torch.ops.aten.where.self",
                       whole.name,
                       {{"condition", Tensor{mask_of(node)}}, {"self", values}, {"other", self}},
                       {whole}});
      if (!in_place) return;
      node.target = "torch.ops.aten.copy_.default";
      node.inputs = {{"self", self}, {"src", whole}};
    } else if (selected != selected_.end() && masks.contains(selected->second.mask)) {
      TensorMeta& meta = graph_.tensors.find(node.name)->second;
      const TensorMeta& all = *known(selected->second.all);
      meta.type.shape = all.type.shape;
      meta.strides = row_major_strides(all.type.shape);
      meta.open = false;
      meta.problem.clear();
      if (is_one_of(aten_name(node.target), {"index", "masked_select"})) {
        node.target = "torch.ops.aten.clone.default";
        node.inputs = {{"self", Tensor{selected->second.all}}};
      }
    }
    nodes.push_back(std::move(node));
  }

  ProgramGraph& graph_;
  std::map<std::string, Selected> selected_;                // tensors of selected elements
  std::map<const ProgramNode*, std::string> stores_;        // nodes that store selected elements, and their masks
  std::set<std::string> refused_;                           // masks of elements that other nodes read
  std::map<std::string, std::string> definitions_, alike_;  // definitions of tensors; the first of equal tensors
};

}  // namespace

void keep_shapes_of_selections(ProgramGraph& graph) { Selections(graph).run(); }

}  // namespace deplo::ir::torch::pt2
