// The program inside a `.pt2` file as plain structs: the contents of PyTorch's JSON (torch/_export/serde/schema.py),
// without any interpretation.
#pragma once
#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/program.h"
#include "ir/torch/pt2/program/tensor.h"

namespace deplo::ir::torch::pt2 {

/// The type of a tensor. The type of a complex tensor has a last dimension of the two parts (complex.h). `problem`: why
/// a graph cannot have this tensor (a dtype, a symbolic size); "" if it can.
struct TensorMeta {
  TensorType type;
  std::string problem;
  bool open = false;  // whether a size is symbolic
  ScalarType stated = ScalarType::unknown;
  std::vector<std::int64_t> strides;  // one per dimension, or empty if a stride is symbolic
  std::int64_t offset = 0;            // index of the tensor's first element in its memory; -1 if symbolic
};

struct ProgramGraph;
struct None {};
struct Tensor {
  std::string name;
};
struct Tensors {
  std::vector<std::string> names;  // "" for an element that is None
};
struct Symbol {  // an integer, truth value or number that is known only when the program runs, or a node's output
  std::string name;
};
struct Subgraph {
  std::shared_ptr<const ProgramGraph> graph;
};
struct Other {  // an argument that no operation here uses: a device, a layout, …
  std::string kind;
};
using Argument =
    std::variant<None, bool, std::int64_t, double, std::complex<double>, std::string, std::vector<std::int64_t>,
                 std::vector<double>, ScalarType, Tensor, Tensors, Symbol, Subgraph, Other>;

/// Calls use(name) for each tensor of an argument.
template <class Given, class Use>
void each_tensor(Given& argument, const Use& use) {
  if (auto* tensor = std::get_if<Tensor>(&argument)) use(tensor->name);
  if (auto* list = std::get_if<Tensors>(&argument))
    for (auto& name : list->names) use(name);
}

struct NamedArgument {
  std::string name;  // the name in the operation's schema; "" for higher-order operations
  Argument value;
};
struct ProgramNode {
  std::string target;  // "torch.ops.aten.linear.default"
  std::string name;    // name of the first output, or the target if there is none
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
};
struct ProgramGraph {
  std::vector<Argument> inputs, outputs;
  std::vector<ProgramNode> nodes;
  std::map<std::string, TensorMeta, std::less<>> tensors;
};

/// The origin of an input of the graph. `kind`: the schema's kind ("user_input", "parameter", "buffer",
/// "tensor_constant", …). `stored`: the name under which the input's values are stored.
struct InputSpec {
  std::string kind;
  Argument argument;
  std::string stored;
};
struct OutputSpec {
  std::string kind;  // "user_output", …
  Argument argument;
};
struct Program {
  ProgramGraph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::string note;  // about the sizes that dynamic_shapes leaves open; "" if there are none
};

/// Integers that a program reads from constant tensors (`tensor.item()`), by the names of their nodes.
using Constants = std::map<std::string, std::int64_t, std::less<>>;

/// Parses the JSON of a program. `sizes`: values of its symbols, which otherwise are those of the example inputs
/// (sizes.h). Throws Error `where: /graph_module/graph/nodes/3: expected …, found …`.
Program parse_program(const std::string& text, const std::string& where, const Symbols& sizes,
                      const Constants& constants);
/// A tensor that a `*_config.json` (PyTorch 2.9 and later) lists by its name. It is stored as raw bytes or as a pickle.
struct Payload {
  StoredTensor tensor;
  bool pickled = false;
};
std::map<std::string, Payload> parse_payloads(const std::string& text, const std::string& where);

}  // namespace deplo::ir::torch::pt2
