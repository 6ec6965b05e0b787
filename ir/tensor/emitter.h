// Makes Tensor IR node by node: what the decompositions of operations are written with.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/tensor/tensor.h"

namespace deplo::ir::tensor {

using Dims = std::vector<std::int64_t>;
using Coordinates = std::vector<Expr>;

/// Every function returns the index of a node. Intermediate nodes are named `<call>_<suffix>`.
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

  /// `name` is taken by a node of the graph that is decomposed: never given to an intermediate node.
  void reserve(const std::string& name) { names_.emplace(name, 0); }
  /// What follows is made for the call of this name.
  void start(const std::string& call) { call_ = call; }
  void rename(int id, const std::string& name) { graph_.nodes[static_cast<std::size_t>(id)].name = name; }

  int add(Node node);
  int scalar(double value, DType, std::string_view suffix);
  /// A copy of another dtype; a Scalar of it; `x` itself where it has the dtype. Nothing is rounded to 16 bits: that is
  /// done where a tensor is stored.
  int convert(int x, DType);
  /// Integers of any type as indices, which are i32: those beyond 32 bits become the ends of it, which are outside of
  /// every tensor.
  int index(int x);
  /// The nearest numbers that f16 or bf16 can be, of f32.
  int round(int x, DType to);
  /// `args` have one shape or are Scalars, and the dtypes that the operation wants. A Scalar comes second where that is
  /// the same.
  int elementwise(Op, std::vector<int> args, std::string_view suffix);
  /// The value at every place of a tensor.
  int fill(int scalar, Shape, std::string_view suffix);
  /// Truth value or index, by the coordinates of a tensor of this shape.
  int coordinate(const Expr& value, TensorType, std::string_view suffix);
  /// The same of whole numbers, too: `value` names them g1, g2, …
  int whole(const Expr& value, std::vector<int> numbers, std::string_view suffix);

  /// Reduces the dimensions, which keep extent 1, one after the other; the innermost comes last.
  int reduce(Op, int x, Dims dims, std::string_view suffix);
  /// out[i, j, …] = x[coordinates].
  int map(int x, Shape, Coordinates, std::string_view suffix);
  /// The same, where coordinates may name `g1`, the value of `indices`, which has the shape of the result.
  int gather(int x, int indices, Shape, Coordinates, std::string_view suffix);
  /// NumPy's rule; Scalars stay what they are.
  int broadcast(int x, const Shape&);
  int reshape(int x, const Shape&, std::string_view suffix);
  /// Without the dimensions, which have extent 1.
  int drop(int x, const Dims& dims, std::string_view suffix);

 private:
  const Node& node(int id) const { return graph_.nodes[static_cast<std::size_t>(id)]; }
  /// Whether all elements of `x` along the dimension are the same element of an argument, or the same scalar.
  bool is_repeated(int x, std::size_t dim) const;
  std::string unique(std::string name);
  std::string named(std::string_view suffix);

  Graph graph_;
  std::string call_;
  std::unordered_map<std::string, int> names_;  // how many more were asked for
};

/// The coordinates i, j, … of a tensor, 0 in dimensions of extent 1.
Coordinates identity(const Shape&);

}  // namespace deplo::ir::tensor
