// The graph that an evaluation builds, what the evaluation owns, and its limits.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/expression/values/in_place.h"
#include "ir/torch/expression/values/value.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch::python {

/// A recurrence of twelve layers and 512 steps has 130,000 nodes, which fusion turns into kernels in half a minute.
inline constexpr std::size_t max_nodes = 200'000;
inline constexpr std::size_t max_steps = 200'000;  // evaluated expressions and statements, created elements and letters
inline constexpr std::size_t max_path_bytes = 200;  // bytes of a parameter's name

struct Arguments {
  Values positional;
  std::vector<std::pair<std::string_view, Value>> keywords;
};
using Receiver = std::function<void(const Value&)>;
struct Scope {
  std::map<std::string_view, Value> variables;
  std::map<std::string_view, Scope*> others;  // scopes of the variables that `global` or `nonlocal` declares
  Scope* outer = nullptr;                     // scope of the enclosing function; null for the text's scope
  const Class* owner = nullptr;               // in a method: its class
  const Value* self = nullptr;                // in a method: its first argument
  Receiver receive;                           // of a function with `yield`: takes the values that it yields
};

/// The state of an evaluation, with the changes that functions may make to the graph and to objects of the program. It
/// is one class because all these changes need the tensors that the objects name.
class Session {
 public:
  /// Callbacks into the interpreter, for functions that take functions, such as `map`.
  std::function<Value(const Value& function, Arguments)> invoke;
  std::function<Value(const Value& object, std::string_view name)> attribute;

  DType default_dtype = DType::f32;  // dtype of floats for which no dtype is given
  bool in_written = false;           // whether one of the language's own definitions runs (functions/written.cpp)
  int written_calls = 0;             // calls of the language's own definitions that are running

  /// Counts steps. Throws Error if their total exceeds max_steps.
  void spend(std::size_t steps = 1);
  /// Adds a node. Throws Error as Builder::call does, and if there are too many nodes.
  Id call(std::string_view op, std::vector<Id> args, Attributes = {}, std::string_view name = "");
  /// Returns the current node of a tensor. A leaf without a node gets one. CHECKs that the value is a tensor. Throws
  /// Error if it is not known whether the tensor was changed through another one.
  Id tensor(const Value&);
  /// Returns the type of a tensor, without making a node for a leaf.
  TensorType type_of(const Value&) const;
  /// Changes the distribution from which a leaf is drawn. Returns false if the value is not a leaf, is already an input
  /// of the graph, or was changed in place.
  bool redraw(const Value& tensor, Fill);
  /// Changes a tensor in place: from here on, the tensor is `result` under all its names, converted to the tensor's
  /// dtype and expanded to its shape. `first_new`: size() before the result was computed. Throws Error if the result
  /// does not fit.
  void assign(const Value& tensor, Id result, Id first_new);
  /// Executes `tensor.copy_(value)`, which converts the value to the tensor's dtype.
  void put(const Value& tensor, const Value& value);
  /// Executes `tensor.data = value`: from here on, the tensor shares memory with `value`. Its views do not change.
  void set_data(const Value& tensor, const Value& value);
  /// Executes `tensor.data = tensor.to(dtype)`. A parameter that is not used yet is drawn in this dtype.
  void convert(const Value& tensor, DType);
  /// Makes a tensor a view of itself under all its names, as `tensor.t_()` does. Its other views do not change.
  void show(const Value& tensor, Id view);
  Id size() const { return static_cast<Id>(builder_.size()); }
  /// Returns a copy of a tensor, with memory of its own.
  Id copy(Id);
  /// Returns the tensor of a node, or a copy if it is older than `first_new` or a view.
  Tensor own(Id node, Id first_new);
  /// Records that the nodes from `first_new` on share memory with their arguments: no reshape among them is a copy.
  void share(Id first_new);
  /// Whether a tensor is known to be contiguous. Makes no node for a leaf.
  bool is_contiguous(const Value& tensor);
  /// Returns the strides of a tensor. Throws Error if they are not known.
  Shape strides(const Value& tensor);
  /// Returns the position of a tensor's first element in its memory. Throws Error if it is not known.
  std::int64_t storage_offset(const Value& tensor);
  /// Returns the whole content of a tensor's memory, as a vector. Throws Error if it is not known.
  Id memory(const Value& tensor);
  /// Records that a node has these strides, and may share memory with its first argument.
  void set_strided(Id node, const Shape& strides) { in_place_.strides().set_strided(builder_, node, strides, true); }
  /// Records that a new node is the result of an elementwise function of PyTorch.
  void set_elementwise(Id node, const std::vector<Id>& args);
  /// Whether a tensor is contiguous, or its strides are not known.
  bool may_be_contiguous(const Value& tensor);
  /// Records that a new node is contiguous if it is in memory of its own.
  void set_contiguous(Id node);
  /// Returns a tensor with the values of a node and these strides: the node's tensor, or a copy.
  Tensor laid_out(Id, const Shape& strides);
  Tensor contiguous(Id id) { return laid_out(id, row_major_strides(type(id).shape)); }
  /// Whether a tensor has these strides, other than along dimensions of one element; nullopt if that is not known.
  std::optional<bool> lies_as(const Value& tensor, const Shape& strides);
  /// Returns the node of a tensor, or a scalar node `op_c1` for a number in argument position 1 of `op`. Throws Error
  /// for other values, and for NaN.
  Id operand(const Value&, std::string_view op, int position);
  const TensorType& type(Id id) const { return builder_.type(id); }
  const Node& node(Id id) const { return builder_.node(id); }
  Id cast(Id tensor, DType);  // returns the same node if it has that dtype
  /// Whether a result of floats takes its type from this argument of a function.
  bool gives_float_type(const Value& argument) const;
  /// Returns the result of a function of which no argument gives the type: in the default type, if it is new and f32.
  Value in_default_type(const Value& result, Id first_new);
  /// Returns the type that stands for a requested one: f32 for f64, which no kernel has. The graph's note says so.
  DType computed(DType);

  Leaf* make_leaf(TensorType, Fill, bool parameter);
  /// Makes a parameter of a node that is computed from random numbers or constants. The parameter is drawn instead, and
  /// the inputs with the random numbers are dropped. finish() computes the parameter after all if something else in the
  /// graph uses these numbers.
  Leaf* draw_parameter(Id source, Fill, const std::vector<Id>& inputs);
  Object* make_object();
  const Closure* keep(Closure);
  Class* keep(Class);
  Scope* make_scope();
  const Value& keep_value(Value);
  Value list(Values items);  // a Python list, which can be changed
  Dict* make_dict();
  std::string_view text(std::string);
  /// Handles an assignment `name = value` to an attribute of the module `parent`, or to a variable if `parent` is null.
  /// Gives the name to a leaf that has none. Gives name and parent to a module that is assigned to its first parent.
  void give_name(const Value& value, Object* parent, std::string_view name);
  /// The graph with these outputs; the session is used no more.
  Graph finish(const std::vector<Id>& outputs);

 private:
  void expect_room() const;  // for another node
  Id node_of(const Value& leaf);
  Id id_of(const Value& tensor);  // by which in_place_ knows the tensor
  /// Applies views to the content of a memory. Returns the content and the result of each view.
  std::vector<Id> shown(const Views&, Id content);
  /// Returns the content of a memory after a write through views; nullopt if it is not known.
  std::optional<Id> content_after(const Views&, Id result);
  /// Whether elements of a tensor may share memory with each other. `node`: of the tensor with these views.
  bool shares_elements(const Views&, Id node);
  /// A parameter of draw_parameter().
  struct Drawn {
    Leaf* leaf = nullptr;
    Fill fill;
    Id source = 0, origin = 0;  // the node that it was made of, and the origin of the node's views
    Id since = 0;               // older nodes are older than the parameter
    std::vector<std::pair<Id, std::string>> inputs = {};  // the dropped inputs and their names
  };
  void rename_parameters();
  void compute_parameters(const std::vector<Id>& outputs);
  bool computes(const Drawn&, const std::vector<bool>& needed);
  Builder builder_;
  std::string note_;  // Graph::note
  std::size_t steps_ = 0;
  // Elements of a deque keep their addresses, and all are freed together at the end. So objects may refer to each
  // other.
  std::vector<Drawn> drawn_;
  std::deque<Leaf> leaves_;
  std::deque<Object> objects_;
  std::deque<Closure> closures_;
  std::deque<Class> classes_;
  std::deque<Scope> scopes_;
  std::deque<Values> lists_;
  std::deque<Dict> dicts_;
  std::deque<std::string> texts_;
  std::deque<Value> values_;
  InPlace in_place_;
};

}  // namespace deplo::ir::torch::python
