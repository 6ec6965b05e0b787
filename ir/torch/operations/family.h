// Helpers for the files of families of operations, and the list of families.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/torch/expression/values/call.h"
#include "ir/torch/operations/infer.h"
#include "ir/torch/operations/operands.h"
#include "ir/torch/operations/operation.h"
#include "ir/torch/operations/tensor_call.h"
#include "ir/torch/pt2/program/call.h"

namespace deplo::ir::torch {

using python::as_infix;
using python::as_method;
using python::as_prefix;
using python::either;
using python::in_functional;
using python::in_linalg;
using python::in_torch;
using python::of_modules_only;
using python::stateless_module;
using tensor::Coordinates;
using tensor::Dims;
using tensor::Emitter;
using Kind = AttributeKind;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// The `end` that `.pt2` files write for a slice that goes to the end of the dimension.
inline constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();
/// Signatures of a function of two tensors, and of an infix operator.
inline constexpr std::string_view two_tensors = "input, other", infix = "left, right";

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
std::vector<Operation> sort_operations();
std::vector<Operation> join_operations();
std::vector<Operation> window_operations();
std::vector<Operation> convolution_operations();
std::vector<Operation> bitwise_operations();
std::vector<Operation> creation_operations();

Composites other_composites();
Composites activations();
Composites bitwise_names();
Composites channel_norms();
Composites composed_functions();
Composites contractions();
Composites elementary_functions();
Composites interpolations();
Composites histograms();
Composites losses();
Composites placements();
Composites poolings();
Composites rearrangements();
Composites recurrences();
Composites samplings();
Composites strided_views();
Composites vector_norms();
Composites written_functions();

// Helpers that several families use.

/// Makes the call of an operation that takes one tensor `input` (in `.pt2` files: `self`) and attributes. Each
/// attribute is read by its name, if the signature (or the call in the file) has it.
python::Value call_plain(const python::Call&);
std::vector<Id> read_plain(pt2::Call&);
/// The call of an operation on two tensors, or on a tensor and a number, with the signatures `two_tensors` and `infix`
/// (in `.pt2` files: `self` and `other`).
python::Value call_binary(const python::Call&);
python::Value call_infix(const python::Call&);
std::vector<Id> read_binary(pt2::Call&);
/// Adds calls to a graph, either for an expression or for a `.pt2` file.
struct Caller {
  std::function<Id(std::string_view op, std::vector<Id> args, Attributes)> add;
  std::function<Id(double, DType)> add_scalar;
  std::function<const Node&(Id)> node;
  std::function<Id(Numbers)> list;  // adds a constant of one dimension

  TensorType type(Id id) const { return node(id).type; }
  Shape shape(Id id) const { return type(id).shape; }
  std::size_t rank(Id id) const { return shape(id).size(); }
  DType dtype(Id id) const { return type(id).dtype; }
  Id scalar(double value, DType dtype = DType::f32) const { return add_scalar(value, dtype); }
  Id whole(std::int64_t n, DType dtype = DType::i32) const { return add_scalar(static_cast<double>(n), dtype); }
  Id call(std::string_view op, std::vector<Id> args, Attributes attributes = {}) const {
    return add(op, std::move(args), std::move(attributes));
  }
  /// Adds op(a, b). One of the two operands may be a number.
  Id apply(std::string_view op, Id a, Id b) const { return call(op, {a, b}); }
  Id apply(std::string_view op, Id a, double b) const { return call(op, {a, scalar(b)}); }
  Id apply(std::string_view op, double a, Id b) const { return call(op, {scalar(a), b}); }
  Id apply(std::string_view op, Id a) const { return call(op, {a}); }
  /// condition ? a : b
  Id where(Id condition, Id a, Id b) const { return call("where", {condition, a, b}); }
  Id full(const Shape&, double value, DType) const;
  // These return the same tensor if it already has the requested form.
  Id reshape(Id, const Shape&) const;
  Id expand(Id, const Shape&) const;
  /// Reshapes a vector to `rank` dimensions, of which `dim` has its elements.
  Id along(Id vector, std::size_t dim, std::size_t rank) const;
  Id to(Id, DType) const;
  Id permute(Id, const Shape& dims) const;
  Id unsqueeze(Id id, std::int64_t dim) const { return call("unsqueeze", {id}, {{"dim", dim}}); }
  Id slice(Id, std::size_t dim, std::int64_t start, std::int64_t end) const;
  /// Returns the tensor start, start + step, …, which ends before `end`.
  Id range(std::int64_t start, std::int64_t end, std::int64_t step = 1) const;
  /// Returns the elements along a dimension that `index`, a tensor of rank 1, selects.
  Id select(Id, std::size_t dim, Id index) const;
};
Caller caller_of(python::Session&, std::string_view name);  // `name`: the call's name, for messages
Caller caller_of(const python::Call&);
Caller caller_of(pt2::Call&);
/// gather(x, index, dim). If x is a log_softmax, only the gathered logarithms are computed: a gather reads from memory,
/// so all logarithms would have to be written first.
Id pick(const Caller&, Id x, Id index, std::int64_t dim);
/// Returns x[i, :, j]. `indices`: for each of the first dimensions of x, a tensor of indices, or nullopt for `:`.
Id pick_by_tensors(const Caller&, Id x, const std::vector<std::optional<Id>>& indices);
/// Returns the elements memory[offset + i * stride[0] + j * stride[1] + …] of a vector.
Id pick_strided(const Caller&, Id memory, const Shape& size, const Shape& stride, std::int64_t offset);
/// Returns, for each true element of the mask in row-major order, the next of the rows, of which there is at least one.
/// False elements get any row.
Id next_rows(const Caller&, Id mask, Id rows);
/// Returns x with `values` written to the elements x[i, :, j], or added to them if `adds` is set.
Id put_by_tensors(const Caller&, Id x, const std::vector<std::optional<Id>>& indices, Id values, bool adds);
/// Returns the index of the value that `extreme`, an amax or amin over one dimension, returns. If several elements have
/// this value, it is the first one's index. A NaN counts as an extreme.
Id extreme_index(const Caller&, const Node& extreme);
/// Whether an index tensor may have negative elements. False only if its graph proves that it has none.
bool may_be_negative(const Caller&, Id index);
/// Returns the indices of a dimension of this extent. Negative indices, which count from its end, become positive.
Id counted_from_start(const Caller&, Id index, std::int64_t extent);
/// Returns the elements of a tensor that depends on no input, and only on parameters whose values a file has. Returns
/// nullopt for other tensors, and for very large ones.
std::optional<std::vector<double>> known_values(const Caller&, Id);
/// Returns a vector of integers. They are an arange if their steps are equal, otherwise a constant.
Id list_of(const Caller&, const std::vector<std::int64_t>&);
/// Replaces each mask (a tensor of truth values) by the indices of its true elements: a list for each dimension of the
/// mask. Throws Error if the elements of a mask are not known.
std::vector<std::optional<Id>> without_masks(const Caller&, const std::vector<std::optional<Id>>& indices);
/// Returns floor(x) for floats.
Id floor_of(const Caller&, Id x);
/// Returns round(x) for floats; halves are rounded to even numbers.
Id round_of(const Caller&, Id x);
/// Returns trunc(x) for floats.
Id trunc_of(const Caller&, Id x);
/// Returns fmod(x, divisor) for floats. The remainder has the sign of x.
Id remainder_towards_zero(const Caller&, Id x, Id divisor);
/// Returns x / divisor for integers, rounded down or towards 0. The divisor may be a number.
Id whole_quotient(const Caller&, Id x, Id divisor, bool down);
/// Returns x minus the multiple of the divisor that whole_quotient counts.
Id whole_remainder(const Caller&, Id x, Id divisor, bool down);
/// Throws Error unless the first argument is a tensor of floats.
void check_float(const Inference&);
/// Throws Error if the first `count` arguments have different dtypes, or are boolean.
void check_one_dtype(const Inference&, std::size_t count);
/// Returns all dimensions but the last two.
Shape batch_of(const Shape&);
/// Returns the strides between the matrices of an operand, for the indices of the result's batch dimensions.
Shape batch_strides(const Shape& operand, const Shape& batch);

/// Returns argument i as an operand of an elementwise operation: converted to the dtype and, unless it is a Scalar,
/// broadcast to the call's shape.
int operand(Emitter&, const TensorCall&, std::size_t i, DType);
/// The same, but a Scalar becomes a tensor of the call's shape.
int filled_operand(Emitter&, const TensorCall&, std::size_t i, DType);
/// Whether tensors of the type can be indices. PyTorch takes a uint8 as a mask, and refuses int8 and int16.
constexpr bool is_index_type(DType d) { return d == DType::i32 || d == DType::i64; }
/// Returns the type for arithmetic: i32 for booleans, which count as 0 and 1; otherwise the type itself.
DType arithmetic_type(DType);
/// Returns the type for sums of many elements, and for values computed from such sums: like arithmetic_type, but f32
/// for the 16-bit types.
DType accumulation_type(DType);
/// Returns the matrix product, the sum over k of a[batch…, m, k] * b[batch…, k, n] (with `b_transposed`: b[batch…, n,
/// k]). If a is a vector, a and the result have no dimension m. If b is a vector, b and the result have no dimension n.
int contract(Emitter&, int a, int b, bool b_transposed, const Shape& result);
/// Returns a op b, with b broadcast to the shape of a.
int with(Emitter&, Op, int a, int b, std::string_view suffix);
/// Upper bound on the number of pairs that one operation compares. For more pairs, a gather is the better way to
/// express the computation.
inline constexpr std::int64_t max_pairs = std::int64_t{1} << 26;
/// Pairs (i, j) of positions along a dimension: i replaces the dimension, and j is a new dimension after it. Operations
/// that sort, or place elements by indices, compare all pairs of positions.
class Pairs {
 public:
  /// `others`: the number of second positions.
  Pairs(Emitter&, Shape, std::size_t dim, std::int64_t others);
  const Shape& space() const { return space_; }
  Expr first() const { return place(dim_); }
  Expr second() const { return place(dim_ + 1); }
  /// Returns the elements of a tensor at the first or the second positions of the pairs.
  int at_first(int x, std::string_view suffix) const { return at(x, dim_ + 1, suffix); }
  int at_second(int x, std::string_view suffix) const { return at(x, dim_, suffix); }
  /// Reduces over the second positions.
  int reduce(Op, int x) const;

 private:
  Expr place(std::size_t dim) const { return tensor::identity(space_)[dim]; }
  int at(int x, std::size_t without, std::string_view suffix) const;

  Emitter& emitter_;
  std::size_t dim_;
  Shape space_;
};

/// The attributes of an operation along one dimension.
inline constexpr AttributeSpec dim_attribute[] = {{"dim", AttributeKind::integer, Required{}}};
inline std::size_t dim_of(const Node& node) { return static_cast<std::size_t>(node.integer("dim")); }
/// Returns the coordinate that g1, the first index of a gather, selects along a dimension of this extent. Invalid
/// indices are clamped: the reference refuses them, but a kernel must not read out of range.
Expr index_below(std::int64_t extent);
/// Returns the number of elements along the dimensions, which is the product of their extents.
double count_along(const Emitter&, int x, const Dims& dims);
int divided_sum(Emitter&, int x, const Dims& dims, double divisor);
int mean_over(Emitter&, int x, const Dims& dims);
/// Returns x minus its mean over the dimensions.
int centred(Emitter&, int x, const Dims& dims);
/// Returns exp(x - max) / sum(exp(x - max)) over one dimension.
int softmax_over(Emitter&, int x, std::int64_t dim);

}  // namespace deplo::ir::torch
