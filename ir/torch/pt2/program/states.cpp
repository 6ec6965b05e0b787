#include "ir/torch/pt2/program/states.h"

#include <set>

#include "core/text/one_of.h"

namespace deplo::ir::torch::pt2 {
namespace {

constexpr std::string_view problem =
    "a shape that the file states rightly, found one that depends on an LSTM's states, whose shapes PyTorch 2.5 to 2.9 "
    "states wrongly (PyTorch 2.15 states them rightly)";

class Correction {
 public:
  explicit Correction(ProgramGraph& graph) : graph_(graph) {}

  void run() {
    for (const ProgramNode& node : graph_.nodes)
      if (node.target == "torch.ops.aten.lstm.input")
        correct_outputs(node);
      else if (node.target == "torch.ops.aten.select.int" || node.target == "torch.ops.aten.squeeze.dim")
        correct_without_dimension(node);
      else if (!names_its_shape(node.target) && reads_wrong(node))
        open_outputs(node);
  }

 private:
  // The states are (layers, batch, size). PyTorch's kernel of one layer for oneDNN claims (1, batch, size) for a state
  // that has no first dimension, so that the file states (layers, 1, batch, size).
  void correct_outputs(const ProgramNode& lstm) {
    for (std::size_t i = 1; i < lstm.outputs.size(); ++i)
      each_tensor(lstm.outputs[i], [&](const std::string& name) {
        const auto found = graph_.tensors.find(name);
        if (found == graph_.tensors.end()) return;
        TensorMeta& meta = found->second;
        if (meta.type.shape.size() != 4 || meta.type.shape[1] != 1) return;
        meta.type.shape.erase(meta.type.shape.begin() + 1);
        if (meta.strides.size() == 4) meta.strides.erase(meta.strides.begin() + 1);
        wrong_.insert(name);
      });
  }

  // A selected or squeezed state has the state's shape without one dimension.
  void correct_without_dimension(const ProgramNode& node) {
    if (!reads_wrong(node)) return;
    const auto* self = std::get_if<Tensor>(&node.inputs.at(0).value);
    const auto* dim = node.inputs.size() < 2 ? nullptr : std::get_if<std::int64_t>(&node.inputs[1].value);
    const auto* output = node.outputs.empty() ? nullptr : std::get_if<Tensor>(node.outputs.data());
    if (self == nullptr || dim == nullptr || output == nullptr) return open_outputs(node);
    const auto from = graph_.tensors.find(self->name), to = graph_.tensors.find(output->name);
    if (from == graph_.tensors.end() || to == graph_.tensors.end() || from->second.open) return open_outputs(node);
    TensorMeta meta = from->second;
    const auto rank = std::ssize(meta.type.shape), at = *dim < 0 ? *dim + rank : *dim;
    const bool is_select = node.target.ends_with("select.int");
    if (at < 0 || at >= rank || std::ssize(meta.strides) != rank) return open_outputs(node);
    if (is_select || meta.type.shape[static_cast<std::size_t>(at)] == 1) {
      meta.type.shape.erase(meta.type.shape.begin() + at);
      meta.strides.erase(meta.strides.begin() + at);
    }
    meta.offset = to->second.offset;
    to->second = meta;
    wrong_.insert(output->name);
  }

  // Whether the file states the shape of the result rightly: the call names all its sizes, or drops those of 1.
  static bool names_its_shape(std::string_view target) {
    return is_one_of(
        target, {"torch.ops.aten.reshape.default", "torch.ops.aten.squeeze.default", "torch.ops.aten.view.default"});
  }

  bool reads_wrong(const ProgramNode& node) const {
    bool found = false;
    for (const NamedArgument& input : node.inputs)
      each_tensor(input.value, [&](const std::string& name) { found |= wrong_.contains(name); });
    return found;
  }

  void open_outputs(const ProgramNode& node) {
    for (const Argument& output : node.outputs) each_tensor(output, [&](const std::string& name) { open(name); });
  }

  void open(const std::string& name) {
    const auto found = graph_.tensors.find(name);
    if (found == graph_.tensors.end() || !wrong_.insert(name).second || !found->second.problem.empty()) return;
    found->second.open = true;
    found->second.problem = problem;
  }

  ProgramGraph& graph_;
  std::set<std::string, std::less<>> wrong_;
};

}  // namespace

void correct_states(ProgramGraph& graph) { Correction(graph).run(); }

}  // namespace deplo::ir::torch::pt2
