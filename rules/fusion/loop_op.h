// A kernel of the graph during fusion: its output tensor and the value of each element of the output.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/tensor/tensor.h"
#include "rules/fusion/decisions.h"
#include "rules/fusion/fuse.h"
#include "rules/fusion/stacks.h"
#include "rules/fusion/values.h"

namespace deplo::rules::fusion {

/// The cost of a kernel, counted on its loop nest (nest.h).
struct Cost {
  double work = 0;        // operations, loads and stores executed
  double reductions = 0;  // accumulating operations among them
  double lookups = 0;     // loads among them by loaded indices
  double scattered = 0;   // lookups among them whose indices differ between neighbours
  double bytes = 0;       // of global memory that is accessed; each element counts once
};

/// A tensor that a kernel computes: a node of the Tensor IR, and the value of an element as a function of the free
/// axes.
struct Result {
  int output = -1;
  ValueId root = ValueId::none;
};

struct LoopOp {
  int output = -1;               // tensor: a node of the Tensor IR
  ValueId root = ValueId::none;  // value of an element; one free axis per dimension of the output
  // Further results, indexed by the first free axes of the kernel (join_results.cpp).
  std::vector<Result> others = {};
  std::vector<int> reads = {};  // tensors, sorted
  Cost cost = {};
  double inflation = 1;  // work relative to the kernels it was merged from (guard.h)
  // Set if the free axes are not the output's dimensions: the extents of the axes, and the index of the element that is
  // written.
  ir::Shape axes = {};
  std::vector<ir::Expr> index = {};
};

/// How a tensor is stored, row-major: dimension s of the buffer is the tensor's dimensions layout[s], flattened in that
/// order. An empty layout means that the buffer has the tensor's dimensions, in order.
using Layout = std::vector<std::vector<int>>;

/// The tensors (numbered like the nodes of the Tensor IR), the kernels that compute them, and the values of these
/// kernels.
struct Fusion {
  const ir::tensor::Graph& graph;
  Values values;
  std::vector<LoopOp> ops;  // in the order of their outputs
  std::vector<Layout> layouts = std::vector<Layout>(graph.nodes.size());
  Target target = {};
  std::map<int, FoundAttention> attentions;  // by the output of the kernel that contains the product
  Decisions decisions = {};
  Stacks stacks = {};
  /// For each tensor: the outputs of the kernels that read it, and of merge attempts that would read it. `consumers`
  /// filters it.
  std::vector<std::set<int>> readers = std::vector<std::set<int>>(graph.nodes.size());

  const std::string& name(int tensor) const { return graph.nodes[static_cast<std::size_t>(tensor)].name; }
  const ir::TensorType& type(int tensor) const { return graph.nodes[static_cast<std::size_t>(tensor)].type; }
  bool is_output(int tensor) const { return std::ranges::find(graph.outputs, tensor) != graph.outputs.end(); }
  bool is_output(const LoopOp& op) const { return is_output(op.output); }
  /// Is the tensor always in memory, in the order of its dimensions, whichever kernels read it?
  bool is_stored(int tensor) const { return stacks.stored.contains(tensor) || is_output(tensor); }
  /// The extents of the free axes.
  const ir::Shape& shape(const LoopOp& op) const { return op.axes.empty() ? type(op.output).shape : op.axes; }
};

/// Makes one kernel of each node that computes something, except for tensors that their parts fill (Stacks::wholes).
/// Results of 16-bit floats are f32 until they are written.
void lift(Fusion&);
/// Computes `reads` and `cost` from the roots.
void complete(Fusion&, LoopOp&);
/// The index at which a kernel writes `tensor`, which it computes.
std::vector<ir::Expr> written(const Fusion&, const LoopOp&, int tensor);
/// Gives a kernel other free axes. `sigma`: the old axes as expressions of the new ones, whose extents are `axes`.
void replace_axes(Fusion&, LoopOp&, const ir::Substitution& sigma, ir::Shape axes);
/// All results of a kernel, in the order in which they are written. The kernel's output is the last.
std::vector<Result> results(const LoopOp&);
bool computes(const LoopOp&, int tensor);
/// The value of an element of each result.
std::vector<ValueId> roots(const LoopOp&);
/// The distinct values reachable from the roots, each after its arguments.
std::vector<ValueId> reachable(const Values&, const std::vector<ValueId>& roots);
std::vector<ValueId> reachable(const Values&, ValueId root);

/// The value without the rounding to `stored`, the type in which it is stored.
ValueId unrounded(const Values&, ValueId, ir::DType stored);

/// The free axis along which a kernel with these values scans; -1 if it does not scan.
int scan_axis(const Values&, const std::vector<ValueId>& roots);
/// Do schedules support the kernel? If a kernel scans, all its scans must run along its last axis, and it must not
/// reduce.
bool scans_in_order(const Fusion&, const LoopOp&);

/// The kernels that read the output of `producer`.
std::vector<std::size_t> consumers(const Fusion&, const LoopOp& producer);
/// Returns the consumer with the producer's values in place of its loads of the producer's output. Returns nullopt if
/// that output must be in memory: if the consumer gathers from it and the producer reduces, if the producer has `axes`
/// of its own, or if the result would scan in a way that schedules do not support (scans_in_order).
std::optional<LoopOp> splice(Fusion&, const LoopOp& producer, const LoopOp& consumer);

/// Merges kernels into their consumers while the guard (guard.h) permits it. A merge whose costs the guard weighs is a
/// decision. If `guard` is false, every legal merge is made.
void merge(Fusion&, bool guard);

/// Merges the kernels of an attention (scores, softmax, weighted product) into one, if kernel `at` contains the
/// product. Returns false if there is no attention, or if it stays several kernels. Records what was found in
/// `attentions`.
bool merge_attention(Fusion&, std::size_t at, bool guard);
/// Turns a softmax and the sums that it weights into one reduction, a Value::Kind::softmax. Returns nullopt if the root
/// has no such sums. Sets `why_not` if it has them, but a single sweep would change their meaning.
std::optional<ValueId> online_softmax(Values&, ValueId root, const ir::Shape& shape, std::string& why_not);
/// Splits each free axis that the kernel's values read in parts, as a / c and a % c, into two axes. Example: heads and
/// head_dim of an output that stores them as one dimension.
void split_axes(Fusion&, LoopOp&);

/// Joins the row axes of a contraction that reads windows into one axis.
void join_rows(Fusion&, LoopOp&);

/// Lists the pairs of a producer and a consumer that were not merged, each with the reason.
std::vector<Apart> kernels_apart(Fusion&);

/// Joins kernels without contractions that read the same elements into one kernel with several results, if that saves
/// enough memory traffic for the work that is repeated (guard.h). Each join is a decision.
void join_results(Fusion&);

/// Chooses how parameters and results between kernels are stored, so that readers access consecutive elements.
void choose_layouts(Fusion&);
/// Does the kernel compute each element from a few others, without reductions and scans? The axes of such a kernel may
/// be in any order.
bool only_copies(const Fusion&, const LoopOp&);
/// Orders the axes of copies as their results are stored, if that makes more accesses consecutive.
void order_axes(Fusion&);
/// `stored_shape`: the extents of a tensor's buffer under a layout (at least one dimension). `stored_index`: the index
/// of an element in it.
ir::Shape stored_shape(const ir::Shape& tensor, const Layout&);
std::vector<ir::Expr> stored_index(const Fusion&, int tensor, const Layout&, const std::vector<ir::Expr>& index,
                                   const ir::Shape& free_extents);

/// The kernel as a Loop IR program.
ir::Program place(const Fusion&, const LoopOp&);

}  // namespace deplo::rules::fusion
