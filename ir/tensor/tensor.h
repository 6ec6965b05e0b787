// Tensor IR: one SSA graph of elementwise operations, reductions and index maps. Every type is known.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "ir/expr.h"
#include "ir/op.h"
#include "ir/types/types.h"
#include "ir/types/value_source.h"

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

/// out[i, j, …] = op(args[0][i, j, …], …). An argument has the shape of the result or is a Scalar node. `copy` converts
/// to another dtype (to i32: towards zero; to bool: whether it is not zero). Tensors of f16 and bf16 are rounded when
/// they are stored; round_f16 and round_bf16 round an f32 in any case.
struct Elementwise {
  Op op = Op::copy;
  bool operator==(const Elementwise&) const = default;
};

/// out[i, j, …] = expression of the coordinates, for arange and masks. The result has integers, or booleans for a
/// condition. For integer division, the expression may name `g1`, `g2`, …: the value of args[0], args[1], … at [i, j,
/// …], which is an i64 if the result is i64 and an i32 otherwise.
struct Coordinate {
  Expr value;
  bool operator==(const Coordinate&) const = default;
};

/// Collapses `axis` to extent 1.
struct Reduction {
  Op op = Op::add;  // has a neutral element
  int axis = 0;
  bool operator==(const Reduction&) const = default;
};

/// Along the last dimension: out[…, k] = the elements args[0][…, 0] to args[0][…, k], combined by `op`.
struct Scan {
  Op op = Op::add;  // has a neutral element
  bool operator==(const Scan&) const = default;
};

/// out[i, j, …] = args[b.arg][b.coordinates] for the first branch b whose condition holds. The condition of the last
/// branch is 1. Every coordinate is in range for all i, j, … of the result, even if the condition is false (clamped by
/// min and max). For a gather, coordinates may name `g1`, `g2`, …: the value (i32) of args[1], args[2], … at [i, j, …].
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

/// The maximum number of branches of an index map that is composed with the nodes that read it. A map with more
/// branches joins many tensors, such as the outputs of a recurrence's steps, and its result is stored in memory.
inline constexpr std::size_t max_composed_branches = 8;

struct Node {
  std::string name;  // unique
  TensorType type;
  std::variant<Input, Parameter, Scalar, Elementwise, Coordinate, Reduction, Scan, IndexMap> op;
  std::vector<int> args;  // earlier nodes
  bool operator==(const Node&) const = default;
  template <class T>
  const T* as() const {
    return std::get_if<T>(&op);
  }
};

/// Inputs, parameters and scalars: nodes that compute nothing.
inline bool is_leaf(const Node& n) {
  return n.as<Input>() != nullptr || n.as<Parameter>() != nullptr || n.as<Scalar>() != nullptr;
}

struct Graph {
  std::vector<Node> nodes;
  std::vector<int> outputs;
  bool operator==(const Graph&) const = default;
};

/// The variable of output coordinate `dimension`: i, j, k, …, z (a matmul of rank 8 uses nine of them internally).
Expr coordinate(std::size_t dimension);
/// The ranges of the coordinates of a shape, for simplify and bounds.
Ranges coordinate_ranges(const Shape&);

/// Prints in the articles' form: `linear_a_bc = input[i, j] -> (4, 3, 2) float32`, `s = sum(x, axis=-2) -> …`; `na` for
/// the 0 in a dimension of extent 1; branches as `where (i < 3): a[i, j] else: b[(i - 3), j]`.
std::string print(const Graph&);
/// Checks the rules stated above. Returns the first violation as one line, or "" if there is none.
std::string verify(const Graph&);

/// Evaluates in double, with all intermediate tensors in memory. `sources` as in torch::evaluate. Throws Error if a
/// tensor has more than 2^27 elements. Only for small graphs, to check the decompositions.
std::vector<std::vector<double>> evaluate(const Graph&, const std::vector<std::vector<double>>& sources);

}  // namespace deplo::ir::tensor
