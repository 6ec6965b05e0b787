// Tensor IR: elementwise, reduction and index map, nothing else. One SSA graph, every type known.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "ir/expr.h"
#include "ir/op.h"
#include "ir/types.h"
#include "ir/value_source.h"

namespace deplo::ir::tensor {

struct Input {
  ValueSource source;
  bool operator==(const Input&) const = default;
};

struct Parameter {
  ValueSource source;
  bool operator==(const Parameter&) const = default;
};

struct Scalar {  // rank 0
  double value = 0;
  bool operator==(const Scalar&) const = default;
};

/// out[i, j, …] = op(args[0][i, j, …], …). An argument has the shape of the result or is a Scalar node. `copy` to
/// another dtype converts (to i32: towards zero; to bool: is not zero). Tensors of f16 and bf16 are rounded where they
/// are stored; round_f16 and round_bf16 of an f32 round in any case.
struct Elementwise {
  Op op = Op::copy;
  bool operator==(const Elementwise&) const = default;
};

/// out[i, j, …] = expression of the coordinates: arange, masks. i32, or boolean for a condition. It may name `g1`, …,
/// the value (i32) of args[0], … at [i, j, …]: whole numbers that are divided.
struct Coordinate {
  Expr value;
  bool operator==(const Coordinate&) const = default;
};

/// Collapses `axis` to extent 1.
struct Reduction {
  Op op = Op::add;  // one with a neutral element
  int axis = 0;
  bool operator==(const Reduction&) const = default;
};

/// out[i, j, …] = args[b.arg][b.coordinates] for the first branch b whose condition holds; the last one's is 1. Every
/// coordinate is in range for all i, j, … of the result, whether the condition holds or not (clamped by min and max).
/// Coordinates may name `g1`, `g2`, …: the value (i32) of args[1], args[2], … at [i, j, …]: gather.
struct IndexMap {
  struct Branch {
    int arg = 0;
    std::vector<Expr> coordinates;  // one per dimension of the argument
    Expr condition = 1;
    bool operator==(const Branch&) const = default;
  };
  std::vector<Branch> branches;
  bool operator==(const IndexMap&) const = default;
};

struct Node {
  std::string name;  // unique
  TensorType type;
  std::variant<Input, Parameter, Scalar, Elementwise, Coordinate, Reduction, IndexMap> op;
  std::vector<int> args;  // earlier nodes
  bool operator==(const Node&) const = default;
  template <class T>
  const T* as() const {
    return std::get_if<T>(&op);
  }
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<int> outputs;
  bool operator==(const Graph&) const = default;
};

/// The variable that stands for output coordinate `dimension`: i, j, k, … z (a matmul of rank 8 has nine inside).
Expr coordinate(std::size_t dimension);
/// Their ranges under a shape, for simplify and bounds.
Ranges coordinate_ranges(const Shape&);

/// The articles' form: `linear_a_bc = input[i, j] -> (4, 3, 2) float32`, `s = sum(x, axis=-2) -> …`; `na` for the 0 in
/// a dimension of extent 1; branches `where (i < 3): a[i, j] else: b[(i - 3), j]`.
std::string print(const Graph&);
/// The first violation of what is said above, as one line; "" when there is none.
std::string verify(const Graph&);

/// In double, every intermediate whole; `sources` as torch::evaluate. Throws Error where an intermediate would have
/// more than 2^27 elements. Only for small graphs: the check of the decompositions.
std::vector<std::vector<double>> evaluate(const Graph&, const std::vector<std::vector<double>>& sources);

}  // namespace deplo::ir::tensor
