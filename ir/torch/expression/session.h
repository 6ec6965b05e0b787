// The graph that an evaluation builds, and the limits it keeps.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/expression/value.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch::python {

inline constexpr std::size_t most_nodes = 20'000;
inline constexpr std::size_t most_steps = 200'000;   // expressions evaluated and list elements made
inline constexpr std::size_t most_path_bytes = 200;  // of a parameter's name

class Session {
 public:
  DType default_dtype = DType::f32;  // of floats where nothing names one

  /// Counts work; throws Error where it is too much.
  void spend(std::size_t steps = 1);
  /// A node; throws Error as Builder::call, and where there are too many.
  Id call(std::string_view op, std::vector<Id> args, Attributes = {}, std::string_view name = "");
  /// The node of a tensor; a leaf gets one now. CHECKs that the value is a tensor.
  Id tensor(const Value&);
  /// The node of a tensor, or a scalar node `op_c1` for a number in argument position 1 of `op`. Throws Error.
  Id operand(const Value&, std::string_view op, int position);
  const TensorType& type(Id id) const { return builder_.type(id); }
  const Node& node(Id id) const { return builder_.node(id); }
  Id cast(Id tensor, DType);  // the same node where it has that dtype

  Leaf* make_leaf(TensorType, Fill, bool parameter);
  Object* make_object();
  const Closure* keep(Closure);
  const Class* keep(Class);
  /// `name = value` in a module or (`parent` null) of a variable: names what has no name yet.
  void give_name(const Value& value, Object* parent, std::string_view name);
  Graph finish(const Value& output);

 private:
  void add_output(const Value&, std::vector<Id>& outputs);
  Builder builder_;
  std::size_t steps_ = 0;
  // Addresses stay; freed at the end, so that objects may name each other.
  std::deque<Leaf> leaves_;
  std::deque<Object> objects_;
  std::deque<Closure> closures_;
  std::deque<Class> classes_;
};

}  // namespace deplo::ir::torch::python
