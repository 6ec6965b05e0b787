// The program inside a `.pt2` file, as plain structs: what PyTorch's JSON says (torch/_export/serde/schema.py), before
// any of it is understood.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/torch/pt2/tensor.h"

namespace deplo::ir::torch::pt2 {

/// Of a tensor. `problem`: why a graph cannot have it (a dtype, a symbolic size), "" when it can.
struct TensorMeta {
  TensorType type;
  std::string problem;
};

struct ProgramGraph;
struct None {};
struct Tensor {
  std::string name;
};
struct Tensors {
  std::vector<std::string> names;  // "" for a None among them
};
struct Symbol {  // an integer, truth value or number that is only known when the program runs
  std::string name;
};
struct Subgraph {
  std::shared_ptr<const ProgramGraph> graph;
};
struct Other {  // what no operation here has a use for: a device, a layout, …
  std::string kind;
};
using Argument = std::variant<None, bool, std::int64_t, double, std::string, std::vector<std::int64_t>, ScalarType,
                              Tensor, Tensors, Symbol, Subgraph, Other>;

struct NamedArgument {
  std::string name;  // of the operation's schema; "" in higher-order operations
  Argument value;
};
struct ProgramNode {
  std::string target;  // "torch.ops.aten.linear.default"
  std::string name;    // of its first output; else the target's
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
};
struct ProgramGraph {
  std::vector<Argument> inputs, outputs;
  std::vector<ProgramNode> nodes;
  std::map<std::string, TensorMeta, std::less<>> tensors;
};

/// How an input of the graph is known outside: `kind` is the schema's ("user_input", "parameter", "buffer",
/// "tensor_constant", …), `stored` the name of its values.
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
};

/// Throws Error `where: /graph_module/graph/nodes/3: expected …, found …`.
Program parse_program(const std::string& text, const std::string& where);
/// Names → tensors of a `*_config.json` (PyTorch 2.9 and later), and whether each is raw bytes or a pickle.
struct Payload {
  StoredTensor tensor;
  bool pickled = false;
};
std::map<std::string, Payload> parse_payloads(const std::string& text, const std::string& where);

}  // namespace deplo::ir::torch::pt2
