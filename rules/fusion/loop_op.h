// One kernel of the graph during fusion: an output tensor and the value of each of its elements.
#pragma once
#include <algorithm>
#include <cstdint>
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

/// Counted on the kernel's nest (nest.h).
struct Cost {
  double work = 0;        // operations, loads and stores executed
  double reductions = 0;  // operations among them that accumulate
  double bytes = 0;       // of the global memory that is accessed, each element counted once
};

/// A tensor that a kernel computes: a node of the Tensor IR, and the value of an element, by the free axes.
struct Result {
  int output = -1;
  ValueId root = ValueId::none;
};

struct LoopOp {
  int output = -1;               // tensor: a node of the Tensor IR
  ValueId root = ValueId::none;  // value of an element, by the free axes: one per dimension of the output
  // What the kernel computes besides, by its first free axes (join_results.cpp).
  std::vector<Result> others = {};
  std::vector<int> reads = {};  // tensors, sorted
  Cost cost = {};
  double inflation = 1;  // work relative to the kernels it was merged from (guard.h)
  // Set if the free axes are not the output's dimensions: their extents, and the element that is written.
  ir::Shape axes = {};
  std::vector<ir::Expr> index = {};
};

/// How a tensor is stored, row-major: dimension s of the buffer is the tensor's dimensions layout[s], flattened in that
/// order. Empty: the buffer has the tensor's dimensions, in order.
using Layout = std::vector<std::vector<int>>;

/// The tensors (numbered like the nodes of the Tensor IR), the kernels that compute them, in order, and their values.
struct Fusion {
  const ir::tensor::Graph& graph;
  Values values;
  std::vector<LoopOp> ops;  // in the order of their outputs
  std::vector<Layout> layouts = std::vector<Layout>(graph.nodes.size());
  Target target = {};
  std::map<int, FoundAttention> attentions;  // by the output of the kernel that contains the product
  Decisions decisions = {};
  Stacks stacks = {};
  /// By tensor: the outputs of the kernels that read it, and of kernels that would have if they had been merged.
  std::vector<std::set<int>> readers = std::vector<std::set<int>>(graph.nodes.size());

  const std::string& name(int tensor) const { return graph.nodes[static_cast<std::size_t>(tensor)].name; }
  const ir::TensorType& type(int tensor) const { return graph.nodes[static_cast<std::size_t>(tensor)].type; }
  bool is_output(int tensor) const { return std::ranges::find(graph.outputs, tensor) != graph.outputs.end(); }
  bool is_output(const LoopOp& op) const { return is_output(op.output); }
  /// Is the tensor in memory whoever reads it, in the order of its dimensions?
  bool is_stored(int tensor) const { return stacks.stored.contains(tensor) || is_output(tensor); }
  /// The extents of the free axes.
  const ir::Shape& shape(const LoopOp& op) const { return op.axes.empty() ? type(op.output).shape : op.axes; }
};

/// Makes one kernel of each node that computes something, but for the wholes of stacks. Results of 16-bit floats are f32 until they are written.
void lift(Fusion&);
/// Fills in `reads` and `cost`, which follow from the roots.
void complete(Fusion&, LoopOp&);
/// The index of the element at a kernel's own coordinates: 0 in dimensions of extent 1, which have no axis.
std::vector<ir::Expr> identity(const ir::Shape&);
/// The index of the element that a kernel writes of a tensor that it computes.
std::vector<ir::Expr> written(const Fusion&, const LoopOp&, int tensor);
/// All results of a kernel, in the order in which they are written: its output is the last.
std::vector<Result> results(const LoopOp&);
bool computes(const LoopOp&, int tensor);
/// The value of an element of each result.
std::vector<ValueId> roots(const LoopOp&);
/// The distinct values reachable from the roots, each after its arguments.
std::vector<ValueId> reachable(const Values&, const std::vector<ValueId>& roots);
std::vector<ValueId> reachable(const Values&, ValueId root);

/// The free axis along which a kernel of these values scans; -1: it does not scan.
int scan_axis(const Values&, const std::vector<ValueId>& roots);
/// Is the kernel one that schedules know? If it scans, all its scans run along its last axis, and it reduces nothing.
bool scans_in_order(const Fusion&, const LoopOp&);

/// The kernels that read the output of `producer`.
std::vector<std::size_t> consumers(const Fusion&, const LoopOp& producer);
/// The consumer with the producer's values in place of its loads of the producer's output. nullopt if that output must
/// be in memory: if the consumer gathers from it and the producer reduces, or if the producer has `axes` of its own.
std::optional<LoopOp> splice(Fusion&, const LoopOp& producer, const LoopOp& consumer);

/// Merges kernels into their consumers while the guard (guard.h) permits it. If the guard weighs costs, the merge is a
/// decision. With `guard` false: all that is legal.
void merge(Fusion&, bool guard);

/// Merges the kernels of an attention (scores, softmax, weighted product) into one, if kernel `at` contains the
/// product. Returns false if there is no attention, or if it stays several kernels. Records what was found in
/// `attentions`.
bool merge_attention(Fusion&, std::size_t at, bool guard);
/// Makes one reduction, a Value::Kind::softmax, of a softmax and the sums that it weights. nullopt if the root has
/// none. `why_not` is set if the root has such sums, but a single sweep would change their meaning.
std::optional<ValueId> online_softmax(Values&, ValueId root, const ir::Shape& shape, std::string& why_not);
/// Splits each free axis that the kernel's values read by its parts, a / c and a % c, into two axes. Example: heads and
/// head_dim of an output that has them as one dimension.
void split_axes(Fusion&, LoopOp&);

/// Joins the axes of rows of a contraction that reads windows into one axis.
void join_rows(Fusion&, LoopOp&);

/// Why kernels of which one reads the other's output are two.
std::vector<Apart> kernels_apart(Fusion&);

/// Makes one kernel with several results of kernels without contractions that read the same elements, if that spares
/// enough memory traffic for the work that is repeated (guard.h). Each is a decision.
void join_results(Fusion&);

/// Chooses how parameters and results between kernels are stored, so that readers access consecutive elements.
void choose_layouts(Fusion&);
/// Is each element computed of a few others, and none summed or scanned? The axes of such a kernel may go in any order.
bool only_copies(const Fusion&, const LoopOp&);
/// Lets the axes of copies go as their results are stored, where that makes more accesses consecutive.
void order_axes(Fusion&);
/// The buffer of a tensor under a layout: its extents (at least one), and the index of an element in it.
ir::Shape stored_shape(const ir::Shape& tensor, const Layout&);
std::vector<ir::Expr> stored_index(const Fusion&, int tensor, const Layout&, const std::vector<ir::Expr>& index,
                                   const ir::Shape& free_extents);

/// The kernel as a Loop IR program.
ir::Program place(const Fusion&, const LoopOp&);

}  // namespace deplo::rules::fusion
