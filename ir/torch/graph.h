// Torch IR: an SSA graph of PyTorch operations with every type known.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/types/types.h"
#include "ir/types/value_source.h"

namespace deplo::ir::torch {

using ir::print;  // of shapes and types, in addition to print(Graph)
using Id = int;   // index of a node in its graph
using Attribute = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, DType>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

struct Node {
  enum class Kind : std::uint8_t { input, parameter, scalar, call };
  Kind kind = Kind::call;
  std::string name;       // an identifier, unique in the graph
  TensorType type;        // rank 0 for a scalar
  std::string op;         // call: the operation's name (operations/ops.h)
  std::vector<Id> args;   // earlier nodes
  Attributes attributes;  // call: all attributes of the operation, normalised (operations/ops.h)
  double value = 0;       // value of a scalar
  ValueSource source;     // source of the values of an input or parameter
  /// Whether the node is a 64-bit integer in PyTorch. Then its type is i32 if its values fit, otherwise i64 (ranges.h).
  bool wide = false;
  bool operator==(const Node&) const = default;

  /// Returns the value of an attribute, which the operation must have.
  std::int64_t integer(std::string_view attribute) const;
  double number(std::string_view attribute) const;
  bool flag(std::string_view attribute) const;
  const std::string& text(std::string_view attribute) const;
  const std::vector<std::int64_t>& integers(std::string_view attribute) const;
};

/// A graph. Nodes come after their arguments.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Id> outputs;
  bool allow_tf32 = false;  // for all kernels that multiply f32 (ir/program.h); torch.backends.cuda.matmul.allow_tf32
  std::string note;         // a warning about the program that the graph was read from; "" if there is none
  bool operator==(const Graph&) const = default;
};

/// Prints the graph in the articles' form: the line `# Graph: 3 nodes, 1 inputs, 1 outputs`, a list of `inputs:`, a
/// list of `constants:` (parameters and scalars), one line per call, and a list of `outputs:`. The line of a call is
///   rms_norm = rms_norm(x, p_weight, eps=1e-06) -> (1, 32, 2048) float32
/// where attributes that equal the operation's default are left out.
std::string print(const Graph&);

/// Builds a graph node by node, and infers types (operations/ops.h). References to its nodes and their types stay valid
/// until finish(). Not thread-safe.
class Builder {
 public:
  /// Adds an input. `name` becomes an identifier that is unique in the graph ("x", "x_1"). Throws Error if an extent is
  /// below 0, or if there are more than max_dimensions dimensions or more than max_elements elements.
  Id input(std::string_view name, TensorType, ValueSource = {});
  Id parameter(std::string_view name, TensorType, ValueSource = {});
  /// Adds a Python number: i64 or boolean if the literal is one, otherwise f32. The number does not widen the type of a
  /// tensor of the same kind (float, int). `name`: "" stands for "scalar". NaN becomes a call that computes it.
  Id scalar(double value, DType, std::string_view name = "");
  /// Adds a call. Checks and normalises the attributes, and infers the type. Throws Error `matmul: expected …, found
  /// …`.
  Id call(std::string_view op, std::vector<Id> args, Attributes = {}, std::string_view name = "");
  /// Adds a copy of a tensor: a node of its own while the graph is built. finish() puts the tensor in its place.
  Id copy(Id tensor);
  /// Removes an input that was needed only to determine how a parameter is drawn. The name of the input is free again.
  void drop_input(Id);
  /// Makes a dropped input an input again.
  void restore_input(Id, std::string_view name);
  /// Gives a parameter the values of an earlier node, converted to the parameter's dtype.
  void compute(Id parameter, Id source);
  /// Gives a node another name.
  void rename(Id, std::string_view name);
  /// Changes the distribution from which a parameter is drawn.
  void redraw(Id, Fill);
  const Node& node(Id id) const { return nodes_[static_cast<std::size_t>(id)]; }
  const TensorType& type(Id id) const { return node(id).type; }
  std::size_t size() const { return nodes_.size(); }
  /// Returns whether each node is one of the outputs, or one that they depend on.
  std::vector<bool> needed(const std::vector<Id>& outputs) const;
  /// Returns the graph. Drops nodes other than inputs that no output needs, and fits integers (ranges.h). The builder
  /// is empty afterwards.
  Graph finish(const std::vector<Id>& outputs);

 private:
  Id add(Node node, std::string_view name);
  std::string new_name(std::string_view name, Node::Kind);  // an identifier that no other node has
  std::deque<Node> nodes_;                                  // which does not move them
  std::map<std::string, int, std::less<>> names_;           // name → the last number appended to it
  std::set<Id> copies_;
};

inline constexpr std::int64_t max_elements = std::int64_t{1} << 40;  // products of extents stay far below 2^63
inline constexpr std::size_t max_dimensions = 8;

}  // namespace deplo::ir::torch
