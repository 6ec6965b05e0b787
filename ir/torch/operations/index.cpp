// Types of what picks, joins or masks elements by their index.
#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/operations/op_rows.h"

namespace deplo::ir::torch {
namespace {

// As Python clamps the bounds of a slice.
std::int64_t clamp_bound(std::int64_t bound, std::int64_t extent) {
  return std::clamp<std::int64_t>(bound < 0 ? std::max(bound, -extent) + extent : bound, 0, extent);
}

void check_index(const Call& call, std::size_t arg) {
  if (call.dtype(arg) != DType::i32) call.expected("indices of dtype int32");
}

DType promote_all(const Call& call) {
  DType dtype = call.dtype(0);
  for (std::size_t i = 1; i < call.size(); ++i) dtype = promote_types(dtype, call.dtype(i));
  return dtype;
}

}  // namespace

TensorType infer_slice(const Call& call) {
  const Node& node = call.node();
  const std::int64_t dim = call.normalise_dim("dim", call.rank(0));
  const std::int64_t extent = call.shape(0)[static_cast<std::size_t>(dim)], step = node.integer("step");
  const std::int64_t start = clamp_bound(node.integer("start"), extent);
  const std::int64_t end = call.has("end") ? clamp_bound(node.integer("end"), extent) : extent;
  if (step < 1) call.expected("a step of at least 1", std::to_string(step));
  if (start >= end)
    call.expected("a slice of at least one element",
                  fmt::format("{} to {} of dimension {} of {}", start, end, dim, print(call.type(0))));
  const std::int64_t count = 1 + (end - start - 1) / step;
  call.set("start", start);
  call.set("end", count == 1 ? start + 1 : end);  // of one element the step says nothing, and may be huge
  call.set("step", count == 1 ? 1 : step);
  TensorType type = call.type(0);
  type.shape[static_cast<std::size_t>(dim)] = count;
  return type;
}

TensorType infer_select(const Call& call) {
  TensorType type = call.type(0);
  const std::int64_t dim = call.normalise_dim("dim", call.rank(0));
  call.normalise_dim("index", type.shape[static_cast<std::size_t>(dim)]);
  type.shape.erase(type.shape.begin() + dim);
  return type;
}

TensorType infer_cat(const Call& call) {
  TensorType type = {promote_all(call), call.shape(0)};
  const auto dim = static_cast<std::size_t>(call.normalise_dim("dim", call.rank(0)));
  for (std::size_t i = 1; i < call.size(); ++i) {
    Shape other = call.shape(i);
    if (other.size() != type.shape.size()) call.expected("tensors of one rank");
    const std::int64_t extent = std::exchange(other[dim], call.shape(0)[dim]);
    if (other != call.shape(0)) call.expected(fmt::format("shapes equal but for dimension {}", dim));
    type.shape[dim] += extent;
    check_type(call.op(), type);  // before the sum could overflow
  }
  return type;
}

TensorType infer_stack(const Call& call) {
  for (std::size_t i = 1; i < call.size(); ++i)
    if (call.shape(i) != call.shape(0)) call.expected("tensors of one shape");
  TensorType type = {promote_all(call), call.shape(0)};
  const std::int64_t dim = call.normalise_dim("dim", call.rank(0) + 1);
  type.shape.insert(type.shape.begin() + dim, static_cast<std::int64_t>(call.size()));
  return type;
}

TensorType infer_triangle(const Call& call) {
  const Shape& shape = call.shape(0);
  if (shape.size() < 2) call.expected("a tensor of at least two dimensions");
  // What lies beyond these keeps or drops as much.
  call.set("diagonal", std::clamp(call.node().integer("diagonal"), -shape.end()[-2], shape.end()[-1]));
  return call.type(0);
}

TensorType infer_embedding(const Call& call) {
  check_index(call, 1);
  if (call.rank(0) != 2) call.expected("a weight of two dimensions");
  TensorType type = {call.dtype(0), call.shape(1)};
  type.shape.push_back(call.shape(0)[1]);
  return type;
}

TensorType infer_gather(const Call& call) {
  check_index(call, 1);
  const auto dim = static_cast<std::size_t>(call.normalise_dim("dim", call.rank(0)));
  if (call.rank(1) != call.rank(0)) call.expected("an index of as many dimensions as the tensor");
  for (std::size_t i = 0; i < call.shape(0).size(); ++i)
    if (i != dim && call.shape(1)[i] > call.shape(0)[i])
      call.expected(fmt::format("an index no larger than the tensor but in dimension {}", dim));
  return {call.dtype(0), call.shape(1)};
}

}  // namespace deplo::ir::torch
