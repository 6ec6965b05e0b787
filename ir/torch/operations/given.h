// The arguments of a call by name, whether the call comes from an expression or from a `.pt2` file. A function that
// becomes several operations is written once, and both readers build the same graph from it.
#pragma once
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {

/// Has an accessor for each type that an argument may have. A fallback is the default
/// value in PyTorch's schema: files leave out arguments that equal it, and in an expression the function's signature
/// states it. Errors are thrown by the underlying python::Call or pt2::Call.
class Given : public Caller {
 public:
  explicit Given(const python::Call& call) : Caller(caller_of(call)), expression_(&call) {}
  explicit Given(pt2::Call& call) : Caller(caller_of(call)), file_(&call) {}

  /// Returns the same arguments, but tensors without dimensions become vectors of one element.
  Given with_vectors() const {
    Given other = *this;
    other.vectors_ = true;
    return other;
  }

  bool is_in_file() const { return file_ != nullptr; }
  std::string_view name() const { return expression_ != nullptr ? expression_->name : file_->function; }
  std::string_view op() const { return expression_ != nullptr ? expression_->op : file_->op; }
  /// Whether the argument is given and not None. A None that is not the default counts, and the accessors refuse it.
  bool has(std::string_view argument) const;
  /// In files, the argument `input` is called `self`.
  Id tensor(std::string_view argument) const;
  std::optional<Id> optional_tensor(std::string_view argument) const;
  std::vector<Id> tensors(std::string_view argument) const;
  /// Reads a list or tuple of tensors and None; None becomes nullopt.
  std::vector<std::optional<Id>> optional_tensors(std::string_view argument) const;
  /// Returns the tensor `input`, converted to the dtype that the argument `dtype` requests.
  Id converted_input() const;
  /// Returns a tensor. A number becomes a scalar node, which is named after its position in the call of an expression.
  Id operand(std::string_view argument, int position = 1) const;
  double number(std::string_view argument, double fallback) const;
  std::int64_t integer(std::string_view argument) const;
  std::int64_t integer(std::string_view argument, std::int64_t fallback) const;
  bool flag(std::string_view argument, bool fallback) const;
  /// Returns a flag that PyTorch tests by `if` in an expression: None and 0 are false there.
  bool truth(std::string_view argument, bool fallback) const;
  std::string text(std::string_view argument, std::string_view fallback) const;
  bool is_text(std::string_view argument) const;
  /// A single integer counts as a list.
  Shape integers(std::string_view argument, const Shape& fallback) const;
  /// Returns `count` integers. A single integer is repeated `count` times.
  Shape integers(std::string_view argument, std::size_t count, std::int64_t fallback) const;
  /// Returns an integer for each of these extents. In a list, None stands for the extent.
  Shape integers_or(std::string_view argument, const Shape& extents) const;
  /// Returns the dtype that the argument `dtype` requests. In files, it is that of the result.
  DType dtype_or(DType fallback) const;
  void ignore(std::initializer_list<std::string_view> arguments) const;
  [[noreturn]] void fail(std::string_view argument, std::string_view expected) const;

  /// Returns the dtype of a tensor that the call creates: a file states it, and an expression may request it.
  DType result_dtype() const;
  Id size() const;  // the number of nodes so far
  /// Changes a tensor argument in place. `first_new`: size() before the value was computed.
  void assign(std::string_view argument, Id value, Id first_new) const;

  /// Normalises a dimension in -rank … rank - 1 to 0 … rank - 1. Throws Error if it is out of range.
  std::size_t dim(std::int64_t dim, std::size_t rank) const;
  /// Throws Error unless the tensor has floating-point numbers.
  void require_float(Id) const;
  /// Throws Error `name: expected WHAT, found TYPE`.
  [[noreturn]] void refuse(std::string_view what, Id found) const;

 private:
  std::string_view in_file(std::string_view argument) const;
  const python::Call* expression_ = nullptr;
  pt2::Call* file_ = nullptr;
  bool vectors_ = false;
};

/// Makes the call of an operation on `input`. The tensor and the result get the dtype that the call requests: the sum
/// of an int32 is an int64 unless another type is requested.
Id converted_call(const Given&, Attributes);

/// log(1 + x), without loss of digits near 0.
Id log_of_1_plus(const Given&, Id x);
/// e^x - 1 = tanh(x / 2) (e^x + 1), without loss of digits near 0.
Id exp_minus_1(const Given&, Id x);
/// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which does not overflow. `negated`: log(1 + e^-x).
Id log_sum(const Given&, Id x, bool negated = false);

/// Whether a float is negative. -0 counts as negative, because 1 / -0 is -∞.
Id is_negative(const Given&, Id x);
/// Returns the angle of the point (x, y), from -π to π. Both coordinates are floats.
Id angle_of(const Given&, Id y, Id x);

/// (sum of |x|^order)^(1 / order) along the last dimension. Order 0 counts the elements other than 0. Order ∞ returns
/// the greatest |x|, and order -∞ the least.
Id norm_of_last(const Given&, Id x, double order);

/// Returns the elements (i, i + offset) of two dimensions, as the last dimension.
Id diagonal_of(const Given&, Id x, std::int64_t offset, std::size_t dim1, std::size_t dim2);
/// Moves a dimension to the end.
Id moved_last(const Caller&, Id x, std::size_t dim);
/// The arguments of a scatter. The index says for each element of the source, at which position along the dimension it
/// goes.
struct Scatter {
  Id x, index, source;
  std::size_t dim;
};
/// Places the source in x. Both may be larger than the index; their elements beyond the index do not take part. `place`
/// gets parts of equal shapes, except in dimension `dim`.
Id in_covered_part(const Given&, Scatter, const std::function<Id(const Scatter&)>& place);
/// scatter_reduce, by 'sum', 'mean', 'prod', 'amax' or 'amin'. `with_self`: the old elements take part.
Id scatter_reduced(const Given&, const Scatter&, const std::string& by, bool with_self);

/// Converts several tensors to a tuple, which is what an expression gets from a function with several results.
python::Value results_of(const std::vector<Id>&);
inline python::Value results_of(Id id) { return {python::Tensor{id}}; }
inline std::vector<Id> outputs_of(Id id) { return {id}; }
inline std::vector<Id> outputs_of(std::vector<Id> ids) { return ids; }

/// Returns build(g), a function along a dimension of the tensor `input`. In PyTorch, a tensor without dimensions has
/// the dimensions -1 and 0 there: it becomes a vector of one element, and results of this shape lose the dimension.
template <auto build>
auto along_dimension(const Given& g) {
  if (g.rank(g.tensor("input")) > 0) return build(g);
  auto results = build(g.with_vectors());
  const auto drop = [&](Id& id) { id = g.shape(id) == Shape{1} ? g.reshape(id, {}) : id; };
  if constexpr (std::is_same_v<decltype(results), Id>)
    drop(results);
  else
    for (Id& id : results) drop(id);
  return results;
}

// Adapters for both readers of a function `Id build(const Given&)`, or of one that returns several tensors.
template <auto build>
python::Value call_made(const python::Call& call) {
  return results_of(build(Given(call)));
}
/// The same for values and their indices, or for values alone.
template <auto build>
python::Value call_with_indices(const python::Call& call) {
  const std::vector<Id> ids = build(Given(call));
  if (ids.size() == 1) return results_of(ids[0]);
  return python::make_values_and_indices(results_of(ids[0]), results_of(ids[1]));
}
template <auto build>
std::vector<Id> read_made(pt2::Call& call) {
  return outputs_of(build(Given(call)));
}

/// A function without an operation of its own. `reader`: its name in `.pt2` files, if it has one there.
struct Made {
  python::Function function;
  pt2::Function reader = {};
};
/// The function that `build` makes. `name`: in `.pt2` files; in expressions, it has no prefix "aten.".
template <auto build>
Made made(std::string_view name, unsigned spaces, std::string_view signature, std::string_view module = {}) {
  return {{name.substr(name.find('.') + 1), spaces, signature, call_made<build>, module}, {name, read_made<build>}};
}
/// `readers`: further names in `.pt2` files.
Composites composites_of(const std::vector<Made>&, std::vector<pt2::Function> readers);

}  // namespace deplo::ir::torch
