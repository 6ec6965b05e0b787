// Private to decompose: the decompositions, one function per operation or per group of operations that differ in the
// scalar operation only. Each returns the node that holds the result, of the type of the call.
#pragma once
#include <vector>

#include "ir/tensor/emitter.h"
#include "ir/torch/graph.h"

namespace deplo::rules {

using ir::tensor::Coordinates;
using ir::tensor::Dims;
using ir::tensor::Emitter;
using ir::tensor::identity;

struct Call {
  const ir::torch::Graph& graph;
  const ir::torch::Node& node;
  std::vector<int> args;     // nodes of Tensor IR
  ir::Op op = ir::Op::copy;  // of the table's row

  const ir::torch::Node& arg(std::size_t i) const { return graph.nodes[static_cast<std::size_t>(node.args[i])]; }
  const ir::Shape& shape() const { return node.type.shape; }
  ir::DType dtype() const { return node.type.dtype; }
};

// elementwise.cpp
int unary(Emitter&, const Call&);
int silu(Emitter&, const Call&);
int gelu(Emitter&, const Call&);
int arithmetic(Emitter&, const Call&);
int power(Emitter&, const Call&);
int comparison(Emitter&, const Call&);
int swapped_comparison(Emitter&, const Call&);  // a > b is b < a
int logical(Emitter&, const Call&);
int where(Emitter&, const Call&);
int masked_fill(Emitter&, const Call&);
int to(Emitter&, const Call&);
int full(Emitter&, const Call&);

// reduce.cpp
int reduction(Emitter&, const Call&);
int mean(Emitter&, const Call&);
int var(Emitter&, const Call&);
int softmax(Emitter&, const Call&);
int log_softmax(Emitter&, const Call&);
int layer_norm(Emitter&, const Call&);
int rms_norm(Emitter&, const Call&);
/// exp(x - max) / sum of it, over one dimension.
int softmax_over(Emitter&, int x, std::int64_t dim);

// matmul.cpp
int matmul(Emitter&, const Call&);
int linear(Emitter&, const Call&);
int attention(Emitter&, const Call&);

// shape.cpp
int transpose(Emitter&, const Call&);
int permute(Emitter&, const Call&);
int reshape(Emitter&, const Call&);  // also unsqueeze, squeeze: extents of 1 come and go
int expand(Emitter&, const Call&);
int slice(Emitter&, const Call&);
int select(Emitter&, const Call&);
int cat(Emitter&, const Call&);
int stack(Emitter&, const Call&);

// index.cpp
int embedding(Emitter&, const Call&);
int gather(Emitter&, const Call&);
int triu(Emitter&, const Call&);
int tril(Emitter&, const Call&);
int arange(Emitter&, const Call&);

}  // namespace deplo::rules
