// What the file of a family of operations works with, and the list of families.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "ir/torch/expression/call.h"
#include "ir/torch/operations/infer.h"
#include "ir/torch/operations/operands.h"
#include "ir/torch/operations/operation.h"
#include "ir/torch/operations/tensor_call.h"
#include "ir/torch/pt2/call.h"

namespace deplo::ir::torch {

using python::as_infix;
using python::as_method;
using python::as_prefix;
using python::either;
using python::in_functional;
using python::in_torch;
using python::stateless_module;
using tensor::Coordinates;
using tensor::Dims;
using tensor::Emitter;
using Kind = AttributeKind;

std::vector<Operation> unary_operations();
std::vector<Operation> binary_operations();
std::vector<Operation> choice_operations();
std::vector<Operation> reduction_operations();
std::vector<Operation> normalisation_operations();
std::vector<Operation> matmul_operations();
std::vector<Operation> attention_operations();
std::vector<Operation> layout_operations();
std::vector<Operation> slice_operations();
std::vector<Operation> index_operations();
std::vector<Operation> scatter_operations();
std::vector<Operation> order_operations();
std::vector<Operation> join_operations();
std::vector<Operation> creation_operations();

// What several families need.

/// A call of a tensor `input` (in `.pt2` files: `self`) and of the attributes by their names, as far as the signature
/// (the call) has them.
python::Value call_plain(const python::Call&);
std::vector<Id> read_plain(pt2::Call&);
/// Calls of several operations, in an expression or a `.pt2` file.
struct Caller {
  std::function<Id(std::string_view op, std::vector<Id> args, Attributes)> call;
  std::function<Id(double, DType)> scalar;
  std::function<const Node&(Id)> node;
};
Caller caller_of(python::Session&, std::string_view name);  // `name`: of the call, for messages
Caller caller_of(const python::Call&);
Caller caller_of(pt2::Call&);
/// gather(x, index, dim). Of a log_softmax only what is asked for is calculated: gathered elements are read from memory,
/// where all logarithms would have to be written first.
Id pick(const Caller&, Id x, Id index, std::int64_t dim);
/// Where along its one dimension an amax or amin finds its value, the first place of several. A NaN is an extreme.
Id extreme_index(const Caller&, const Node& extreme);
/// Whether an index tensor may have numbers below 0: not where its graph shows that it has none.
bool may_be_negative(const Caller&, Id index);
/// Refuses what is not of floats.
void check_float(const Inference&);
/// Refuses arguments of different dtypes among the first `count`, and truth values.
void check_one_dtype(const Inference&, std::size_t count);
/// All dimensions but the last two.
Shape batch_of(const Shape&);
/// Strides of the matrices of an operand under the indices of the result's batch.
Shape batch_strides(const Shape& operand, const Shape& batch);

/// An argument as an operand of an elementwise operation: of this dtype and, Scalars excepted, of the call's shape.
int operand(Emitter&, const TensorCall&, std::size_t i, DType);
/// Truth values are calculated with as the integers 0 and 1.
DType arithmetic_type(DType);
/// Besides, many elements of 16 bits amount to an f32, and what comes of that within an operation is one too.
DType accumulation_type(DType);
/// sum over k of a[batch…, m, k] * b[batch…, k, n] (b transposed: [batch…, n, k]). A vector has no m, or no n; nor has
/// the result then.
int contract(Emitter&, int a, int b, bool b_transposed, const Shape& result);
/// a op b, where b has extent 1 in some dimensions.
int with(Emitter&, Op, int a, int b, std::string_view suffix);
/// Pairs (i, j) of places along a dimension, i where the dimension was and j behind it: what sorts, or puts elements where
/// indices say, compares each place with each.
class Pairs {
 public:
  /// `others`: of the second places.
  Pairs(Emitter&, Shape, std::size_t dim, std::int64_t others);
  const Shape& space() const { return space_; }
  Expr first() const { return place(dim_); }
  Expr second() const { return place(dim_ + 1); }
  /// A tensor's elements at the first, or at the second places.
  int at_first(int x, std::string_view suffix) const { return at(x, dim_ + 1, suffix); }
  int at_second(int x, std::string_view suffix) const { return at(x, dim_, suffix); }
  /// Over the second places.
  int reduce(Op, int x) const;

 private:
  Expr place(std::size_t dim) const { return tensor::identity(space_)[dim]; }
  int at(int x, std::size_t without, std::string_view suffix) const;

  Emitter& emitter_;
  std::size_t dim_;
  Shape space_;
};

/// The coordinate that the first index of a gather names. Bad indices are kept in range: the reference refuses them, a
/// kernel must not read elsewhere.
Expr index_below(std::int64_t extent);
/// Elements along the dimensions.
double count_along(const Emitter&, int x, const Dims& dims);
int divided_sum(Emitter&, int x, const Dims& dims, double divisor);
int mean_over(Emitter&, int x, const Dims& dims);
/// x - mean
int centred(Emitter&, int x, const Dims& dims);
/// exp(x - max) / sum of it, over one dimension.
int softmax_over(Emitter&, int x, std::int64_t dim);

}  // namespace deplo::ir::torch
