// A call of a built-in function, with its arguments by the names in its signature.
#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/torch/expression/values/function.h"
#include "ir/torch/expression/values/session.h"

namespace deplo::ir::torch::python {

/// Holds the arguments of a call, with one accessor for each type that an argument may have. The accessors throw Error
/// `name: expected WHAT for PARAMETER, found …; the signature is name(…)`.
class Call {
 public:
  /// `signature` is written as in Python: "input, dim=None, *, dtype=None". "*size" takes positional arguments or one
  /// tuple. Throws Error if the arguments do not fit.
  Call(Session& session, std::string_view name, std::string_view signature, Arguments arguments,
       std::string_view op = "");
  Call(Session& session, const Function& function, Arguments arguments);

  /// Calls the function. A result of floats has the default type if the arguments do not give its type.
  Value result_of(const Function&) const;

  static bool takes(std::string_view signature, std::string_view parameter);

  Session& session;
  std::string_view name, op;  // op: the operation's name (operations/ops.h)

  const std::vector<std::pair<std::string_view, Value>>& all() const { return values_; }
  bool has(std::string_view parameter) const { return find(parameter) != nullptr; }
  const Value& value(std::string_view parameter) const;
  bool given(std::string_view parameter) const { return has(parameter) && !value(parameter).none(); }
  /// Whether a parameter is None although it has another default. Its accessors refuse the None.
  bool is_misplaced_none(std::string_view parameter) const;

  Id tensor(std::string_view parameter) const;
  std::vector<Id> tensors(std::string_view parameter) const;   // a list of at least one tensor
  Id operand(std::string_view parameter, int position) const;  // a number becomes a scalar node
  std::int64_t integer(std::string_view parameter) const;
  std::vector<std::int64_t> integers(std::string_view parameter) const;  // accepts an integer or a list
  /// Returns an argument. A tensor without dimensions becomes its number, as PyTorch accepts it for a number.
  Value scalar(std::string_view parameter) const;
  double number(std::string_view parameter) const;
  bool flag(std::string_view parameter) const;
  /// Returns Python's truth of an argument that PyTorch tests by `if`: None and 0 are false. `flag` refuses them, as
  /// PyTorch's operators do.
  bool truth(std::string_view parameter) const;
  std::string_view text(std::string_view parameter) const;
  /// Returns the strides of a tensor of that shape that a parameter `memory_format` requests; nullopt if it requests
  /// none.
  std::optional<Shape> requested_strides(const Shape&) const;
  DType dtype(std::string_view parameter) const;
  DType dtype(std::string_view parameter, DType fallback) const;  // `fallback` if no dtype is given
  /// Returns a tensor, converted to the dtype that a parameter `dtype` requests.
  Id converted(std::string_view parameter) const;
  /// Returns a dimension of a tensor of rank `rank`, normalised to 0 … rank - 1.
  std::size_t dim(std::string_view parameter, std::size_t rank) const;

  const TensorType& type(Id id) const { return session.type(id); }
  /// Adds a node of operation `op`. The result has the dtype that a parameter `dtype` requests.
  Value node(std::vector<Id> args, Attributes attributes = {}) const;
  [[noreturn]] void fail(std::string_view parameter, std::string_view expected) const;

 private:
  struct Formal;
  Id as_requested(Id) const;  // converted to the dtype that a parameter `dtype` requests
  static std::vector<Formal> formals(std::string_view signature);
  [[noreturn]] void misfit(std::string_view expected, std::string_view found) const;
  const Value* find(std::string_view parameter) const;
  void bind_positions(const std::vector<Formal>&, Values& positional, std::vector<bool>& bound);
  void bind_keywords(const std::vector<Formal>&, Arguments&, std::vector<bool>& bound);

  std::string_view signature_;
  std::vector<std::pair<std::string_view, Value>> values_;  // in the order of the signature
};

/// Calls a function that is written in the language itself (functions/written.cpp). Returns the graph of its results,
/// whose inputs are the leaves of `arguments`, in the order in which they became nodes. It is declared here for the
/// operations that call such functions, and defined with the interpreter, which includes the operations.
Graph call_written(std::string_view name, const std::function<Arguments(Session&)>& arguments);

}  // namespace deplo::ir::torch::python
