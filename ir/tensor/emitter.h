// Builds Tensor IR node by node. The decompositions of operations use it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/tensor/tensor.h"

namespace deplo::ir::tensor {

using Dims = std::vector<std::int64_t>;
using Coordinates = std::vector<Expr>;

/// Adds nodes to a graph, with a function for each kind of node. These functions return the index of a node.
/// Intermediate nodes are named `<call>_<suffix>`.
class Emitter {
 public:
  explicit Emitter(std::size_t expected) { graph_.nodes.reserve(expected); }

  Graph& graph() { return graph_; }
  const TensorType& type(int id) const { return node(id).type; }
  const Shape& shape(int id) const { return type(id).shape; }
  DType dtype(int id) const { return type(id).dtype; }
  std::size_t rank(int id) const { return shape(id).size(); }
  std::int64_t extent(int id, std::int64_t dim) const { return shape(id)[static_cast<std::size_t>(dim)]; }
  const Scalar* as_scalar(int id) const { return node(id).as<Scalar>(); }
  std::size_t size() const { return graph_.nodes.size(); }

  /// Reserves the name of a node of the graph being decomposed, so that no intermediate node gets it.
  void reserve(const std::string& name) { names_.emplace(name, 0); }
  /// Sets the call to which the nodes that follow belong.
  void start(const std::string& call) { call_ = call; }
  void rename(int id, const std::string& name) { graph_.nodes[static_cast<std::size_t>(id)].name = name; }

  int add(Node node);
  int scalar(double value, DType, std::string_view suffix);
  /// Converts to another dtype by a copy, or by a new Scalar if `x` is a Scalar. Returns `x` itself if it has the
  /// dtype. Does not round to 16 bits: tensors are rounded when they are stored.
  int convert(int x, DType);
  /// Converts integers of any type to indices, which are i32. Integers beyond 32 bits are clamped, which leaves them
  /// outside of every tensor.
  int index(int x);
  /// Rounds f32 to the nearest f16 or bf16.
  int round(int x, DType to);
  /// `args` have the dtypes that the operation requires. They have the same shape, or are Scalars. A Scalar that comes
  /// first in a commutative operation is moved to the second place.
  int elementwise(Op, std::vector<int> args, std::string_view suffix);
  /// A tensor with the scalar in every element.
  int fill(int scalar, Shape, std::string_view suffix);
  /// A tensor of indices or truth values that are computed from its coordinates.
  int coordinate(const Expr& value, TensorType, std::string_view suffix);
  /// A tensor of integers that are computed from its coordinates and from the elements of `numbers`. `value` calls
  /// these elements g1, g2, …
  int whole(const Expr& value, std::vector<int> numbers, std::string_view suffix);

  /// Reduces the dimensions in ascending order, so the innermost comes last. They keep extent 1. Along a dimension
  /// whose elements are all equal, one element represents them (times the extent for a sum), except in a product.
  int reduce(Op, int x, Dims dims, std::string_view suffix);
  /// Combines, at each place, all elements along the dimension from the first one to that place.
  int scan(Op, int x, std::int64_t dim, std::string_view suffix);
  /// out[i, j, …] = x[coordinates].
  int map(int x, Shape, Coordinates, std::string_view suffix);
  /// out[i, j, …] = x[coordinates]. The coordinates may name `g1`, the element of `indices` at [i, j, …]. `indices` has
  /// the shape of the result.
  int gather(int x, int indices, Shape, Coordinates, std::string_view suffix);
  /// A gather with several tensors of indices, whose elements are named g1, g2, …
  int gather(int x, std::vector<int> indices, Shape, Coordinates, std::string_view suffix);
  /// An index map of several arguments.
  int branches(std::vector<int> args, TensorType, IndexMap, std::string_view suffix);
  /// Broadcasts by NumPy's rule. A Scalar is returned unchanged.
  int broadcast(int x, const Shape&);
  int reshape(int x, const Shape&, std::string_view suffix);
  /// Removes the dimensions, each of which must have extent 1.
  int drop(int x, const Dims& dims, std::string_view suffix);

 private:
  const Node& node(int id) const { return graph_.nodes[static_cast<std::size_t>(id)]; }
  /// Whether all elements of `x` along the dimension are the same element of an argument, or the same scalar.
  bool is_repeated(int x, std::size_t dim) const;
  std::string unique(std::string name);
  std::string named(std::string_view suffix);

  Graph graph_;
  std::string call_;
  std::unordered_map<std::string, int> names_;  // taken names, with the number of times that each was requested again
};

/// The coordinates i, j, … of a tensor, 0 in dimensions of extent 1.
Coordinates identity(const Shape&);

}  // namespace deplo::ir::tensor
