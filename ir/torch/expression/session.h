// The graph that an evaluation builds, and the limits of the evaluation.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/expression/value.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch::python {

inline constexpr std::size_t most_nodes = 20'000;
inline constexpr std::size_t most_steps = 200'000;   // evaluated expressions plus created list elements
inline constexpr std::size_t most_path_bytes = 200;  // of a parameter's name

class Session {
 public:
  DType default_dtype = DType::f32;  // of floats for which no dtype is given

  /// Counts steps. Throws Error if there are more than most_steps.
  void spend(std::size_t steps = 1);
  /// Adds a node. Throws Error as Builder::call does, and if there are too many nodes.
  Id call(std::string_view op, std::vector<Id> args, Attributes = {}, std::string_view name = "");
  /// The node of a tensor. A leaf without a node gets one. CHECKs that the value is a tensor.
  Id tensor(const Value&);
  /// The node of a tensor, or a scalar node `op_c1` for a number in argument position 1 of `op`. Throws Error for other
  /// values, and for NaN.
  Id operand(const Value&, std::string_view op, int position);
  const TensorType& type(Id id) const { return builder_.type(id); }
  const Node& node(Id id) const { return builder_.node(id); }
  Id cast(Id tensor, DType);  // returns the same node if it has that dtype

  Leaf* make_leaf(TensorType, Fill, bool parameter);
  Object* make_object();
  const Closure* keep(Closure);
  const Class* keep(Class);
  /// Called for an assignment `name = value` to an attribute of the module `parent`, or to a variable (`parent` is
  /// null). Gives the name to a leaf that has none. Gives name and parent to a module that is assigned to its first
  /// parent.
  void give_name(const Value& value, Object* parent, std::string_view name);
  Graph finish(const Value& output);

 private:
  void add_output(const Value&, std::vector<Id>& outputs);
  Builder builder_;
  std::size_t steps_ = 0;
  // Addresses are stable, and all are freed at the end, so that objects may refer to each other.
  std::deque<Leaf> leaves_;
  std::deque<Object> objects_;
  std::deque<Closure> closures_;
  std::deque<Class> classes_;
};

}  // namespace deplo::ir::torch::python
