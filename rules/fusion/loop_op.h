// One kernel of the graph while it is being fused: an output tensor and the value of each of its elements.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/tensor/tensor.h"
#include "rules/fusion/fuse.h"
#include "rules/fusion/values.h"

namespace deplo::rules::fusion {

/// Counted on its nest (nest.h).
struct Cost {
  double work = 0;        // operations, loads and stores executed
  double reductions = 0;  // of them operations that accumulate
  double bytes = 0;       // elements touched in global memory, each once, in bytes
};

struct LoopOp {
  int output = -1;              // tensor: a node of the Tensor IR
  ValueId root = -1;            // in terms of the free axes, one per dimension of the output
  std::vector<int> reads = {};  // tensors, sorted
  Cost cost = {};
  double inflation = 1;  // work over that of the kernels it was merged from (guard.h)
  // Where the free axes are not the dimensions of the output (split_axes): their extents, and the element written.
  ir::Shape axes = {};
  std::vector<ir::Expr> index = {};
};

/// How a tensor is stored, row-major: dimension s of the buffer is the tensor's dimensions layout[s], flattened in that
/// order. Empty: each dimension by itself, in order.
using Layout = std::vector<std::vector<int>>;

/// The tensors (numbered as the nodes of the Tensor IR), the kernels that compute them in order, and their values.
struct Fusion {
  const ir::tensor::Graph& graph;
  Values values;
  std::vector<LoopOp> ops;
  std::vector<Layout> layouts = std::vector<Layout>(graph.nodes.size());
  Target target = {};
  std::map<int, FoundAttention> attentions;  // by the output of the kernel that has the product

  const std::string& name(int tensor) const { return graph.nodes[static_cast<std::size_t>(tensor)].name; }
  const ir::TensorType& type(int tensor) const { return graph.nodes[static_cast<std::size_t>(tensor)].type; }
  bool is_output(const LoopOp& op) const { return std::ranges::find(graph.outputs, op.output) != graph.outputs.end(); }
  /// The extents of the free axes.
  const ir::Shape& shape(const LoopOp& op) const { return op.axes.empty() ? type(op.output).shape : op.axes; }
};

/// One kernel per node that computes something. What it computes of 16-bit floats is f32, until it is written.
void lift(Fusion&);
/// Fills in what follows from the root: reads and cost.
void complete(const Fusion&, LoopOp&);
/// The element at a kernel's own coordinates; 0 in a dimension of extent 1, whose axis is no axis.
std::vector<ir::Expr> identity(const ir::Shape&);
/// The element that a kernel writes.
std::vector<ir::Expr> written(const Fusion&, const LoopOp&);
/// The distinct values below the root, each after its arguments.
std::vector<ValueId> reachable(const Values&, ValueId root);

/// The kernels that read what this one computes.
std::vector<std::size_t> consumers(const Fusion&, const LoopOp& producer);
/// The consumer with the producer's values in place of its loads of them; nullopt where it gathers what the producer
/// reduces: such elements must be in memory, as must those of a producer with axes of its own.
std::optional<LoopOp> splice(Fusion&, const LoopOp& producer, const LoopOp& consumer);

/// Merges kernels into their consumers while the guard (guard.h) permits; with `guard` false, all that is legal.
void merge(Fusion&, bool guard, Attention attention);

/// Kernel `at` and those that compute its attention as one: scores, softmax, and the product that it weighs. False
/// where there is none, or where it stays several; `attentions` has what was found.
bool merge_attention(Fusion&, std::size_t at, bool guard, Attention attention);
/// A softmax and the sums that it weighs as one reduction, a Value::Kind::softmax; nullopt where the root has none.
/// `why_not`: where it has such sums, but one sweep would not mean the same.
std::optional<ValueId> online_softmax(Values&, ValueId root, const ir::Shape& shape, std::string& why_not);
/// Where the values of a kernel read a free axis by its parts, a / c and a % c, these become axes of their own:
/// heads and head_dim of an output that has them as one dimension.
void split_axes(Fusion&, LoopOp&);

/// Chooses how parameters and results between kernels are stored, so that readers walk consecutive elements.
void choose_layouts(Fusion&);
/// The buffer of a tensor under a layout: its extents, at least one; and the index of an element there.
ir::Shape stored_shape(const ir::Shape& tensor, const Layout&);
std::vector<ir::Expr> stored_index(const Fusion&, int tensor, const Layout&, const std::vector<ir::Expr>& index,
                                   const ir::Shape& free_extents);

/// The kernel as a Loop program.
ir::Program place(const Fusion&, const LoopOp&);

}  // namespace deplo::rules::fusion
