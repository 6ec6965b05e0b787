// The operations of Torch IR, one table row each: arguments, attributes, type inference (ops_*.cpp).
//
// T: a tensor or scalar node; attributes with their defaults; dims are normalised to 0 … rank - 1.
//   neg exp log sqrt rsqrt tanh sigmoid silu relu erf sin cos abs reciprocal logical_not      (T)
//   gelu(T, approximate="none" | "tanh")
//   add sub mul div pow maximum minimum eq ne lt le gt ge logical_and logical_or              (T, T), broadcast
//   where(T condition, T, T)   masked_fill(T, T mask, T value)
//   sum mean amax amin prod(T, dims=[] (all; normalised to all), keepdim=false)   var(T, dims, keepdim, correction=1)
//   softmax log_softmax(T, dim)   layer_norm(T x[, T weight[, T bias]], dims (how many at the end), eps=1e-5)
//   rms_norm(T x[, T weight], dims, eps=2^-23 (PyTorch's None))
//   matmul(T, T)   linear(T x, T weight (out, in)[, T bias])
//   scaled_dot_product_attention(T q, T k, T v[, T mask], is_causal=false, scale (1/sqrt(E)), enable_gqa=false)
//   embedding(T weight, T indices)   gather(T, T index, dim)
//   transpose(T, dim0, dim1)   permute(T, dims)   reshape(T, shape (a -1 is resolved))   unsqueeze(T, dim)
//   squeeze(T, dims (none given: all of extent 1; normalised to those of extent 1))   expand(T, shape (-1 keeps))
//   slice(T, dim, start=0, end=max, step=1 (≥ 1))   select(T, dim, index)   cat(T…, dim=0)   stack(T…, dim=0)
//   triu tril(T, diagonal=0)   arange(start=0, end, step=1, dtype)   full(shape, value, dtype)   to(T, dtype)
// What PyTorch has and is not here is made of these by the readers: split and chunk are slices, `x.T` a transpose.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Every operation's name, sorted.
std::vector<std::string_view> op_names();
bool is_op(std::string_view name);
/// Fills in defaults, normalises, checks, infers: the attributes of `call` are replaced. `args` are the argument nodes.
/// Throws Error `op: expected …, found …`.
TensorType infer(Node& call, std::span<const Node* const> args);
/// Whether the attribute of an inferred call has the value that it would have if it were not given (print leaves it
/// out).
bool is_default(const Node& call, std::span<const Node* const> args, std::string_view attribute);

/// NumPy's rule; throws Error naming both shapes.
Shape broadcast(std::string_view op, const Shape&, const Shape&);
/// PyTorch's promotion: bool < int < float; a rank-0 scalar node of a tensor's own kind does not widen it; f16 with
/// bf16 gives f32.
DType promote(const Node& a, const Node& b);

}  // namespace deplo::ir::torch
