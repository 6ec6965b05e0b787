// A node of a program, while it is converted to operations of the graph.
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/torch/graph.h"
#include "ir/torch/pt2/program/function.h"
#include "ir/torch/pt2/program/program.h"

namespace deplo::ir::torch::pt2 {

/// The tensors of a program that are computed, by their names.
using Ids = std::map<std::string, Id, std::less<>>;
/// Returns the tensor of this name. Throws Error if no node before has computed it.
Id find_id(const Ids&, std::string_view name);

/// Holds the arguments by their names in the operation's schema, with one method for each type that an argument may
/// have. Every argument must be read or ignored: finish() rejects other arguments unless they are None. Throws Error
/// `expected …, found …`; the reader adds file and node.
class Call {
 public:
  using Ids = pt2::Ids;
  Call(const ProgramNode& node, const ProgramGraph& graph, const Ids& ids, Builder& builder);

  std::string_view op;        // the Torch IR operation whose row lists the function
  std::string_view function;  // the function's name: "aten.linear"

  Builder& builder() const { return builder_; }
  const Shape& shape(Id id) const { return builder_.type(id).shape; }
  std::int64_t rank(Id id) const { return static_cast<std::int64_t>(shape(id).size()); }
  DType dtype(Id id) const { return builder_.type(id).dtype; }

  /// Returns all arguments, which then count as read.
  const std::vector<NamedArgument>& all();
  Id named(std::string_view tensor) const { return find_id(ids_, tensor); }
  bool has(std::string_view argument) const;  // whether the argument is given and not None
  /// Returns a tensor argument, or a number as a scalar node.
  Id operand(std::string_view argument);
  Id tensor(std::string_view argument);
  std::vector<Id> tensors(std::string_view argument);
  std::vector<std::optional<Id>> optional_tensors(std::string_view argument);
  std::int64_t integer(std::string_view argument);
  std::int64_t integer(std::string_view argument, std::int64_t fallback);
  double number(std::string_view argument, double fallback);
  bool flag(std::string_view argument, bool fallback);
  std::string text(std::string_view argument, std::string_view fallback);
  bool is_text(std::string_view argument) const;
  bool is_symbol(std::string_view argument) const;  // whether its value is known only when the program runs
  std::vector<std::int64_t> integers(std::string_view argument);  // accepts a single integer; None gives an empty list
  std::vector<double> numbers(std::string_view argument);         // None gives an empty list
  /// Ignores arguments that make no difference here: devices, layouts, …
  void ignore(std::initializer_list<std::string_view> arguments);
  /// Throws Error if an argument was neither read nor ignored.
  void finish() const;

  /// Returns the names of the outputs as the file states them, with lists flattened.
  const std::vector<std::string>& outputs() const { return outputs_; }
  const TensorType& output_type(std::size_t i = 0) const;
  /// Returns the type of the first output as the file states it. The graph may have a wider type.
  ScalarType stated_type() const;
  /// Returns what the file states about a tensor argument, for operations that depend on the tensor's layout in memory.
  const TensorMeta& stated(std::string_view argument);
  /// Whether the graph reads this output.
  bool is_read(std::size_t output) const;
  /// Gives a tensor argument other than `self` a new value, because the call changes it in place.
  void assign(std::string_view argument, Id value);
  /// Returns the names of the tensors that got a new value, and these values.
  const std::vector<std::pair<std::string, Id>>& assigned() const { return assigned_; }

  /// Adds a call of `op` and returns it as the only result.
  std::vector<Id> node(std::vector<Id> args, Attributes attributes = {}) const;
  /// Adds a call of the operation `name`. The new node is named after the program's node.
  Id add(std::string_view name, std::vector<Id> args, Attributes attributes = {}) const;
  // These methods return the same tensor if there is nothing to do.
  Id reshape(Id, const Shape&) const;
  Id expand(Id, const Shape&) const;
  Id to(Id, DType) const;
  Id slice(Id, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1) const;
  [[noreturn]] void fail(std::string_view argument, std::string_view expected) const;

 private:
  const Argument* find(std::string_view argument) const;
  const Argument& get(std::string_view argument);
  const ProgramNode& node_;
  const ProgramGraph& graph_;
  const Ids& ids_;
  Builder& builder_;
  std::vector<std::string> outputs_;
  std::vector<std::pair<std::string, Id>> assigned_;
  std::set<std::string_view> asked_;
};

/// Whether an argument is the tensor of this name, or a list with this tensor.
bool reads(const Argument&, const std::string& tensor);

/// Describes an argument in a message: "3", "the tensor 'x'".
std::string describe(const Argument&);

/// Whether a function such as "aten.view" shows the same elements in another shape.
bool is_reshaping(std::string_view function);

}  // namespace deplo::ir::torch::pt2
