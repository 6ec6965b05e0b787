// Types of the reductions and of what normalises by one.
#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/operations/op_rows.h"

namespace deplo::ir::torch {
namespace {

// `dims` sorted, all of them where none is given.
Shape reduced_shape(const Call& call) {
  Shape dims = call.has("dims") ? call.normalise_dims(call.rank(0)) : Shape{};
  if (dims.empty())
    for (std::int64_t i = 0; i < call.rank(0); ++i) dims.push_back(i);
  std::ranges::sort(dims);
  call.set("dims", dims);
  Shape shape;
  for (std::int64_t i = 0; i < call.rank(0); ++i) {
    const bool reduced = std::ranges::binary_search(dims, i);
    if (!reduced) shape.push_back(call.shape(0)[static_cast<std::size_t>(i)]);
    if (reduced && call.node().flag("keepdim")) shape.push_back(1);
  }
  return shape;
}

void check_float(const Call& call) {
  if (!is_float(call.dtype(0))) call.expected("floating-point numbers");
}

}  // namespace

TensorType infer_sum(const Call& call) {
  return {is_float(call.dtype(0)) ? call.dtype(0) : DType::i32, reduced_shape(call)};
}

TensorType infer_extremum(const Call& call) { return {call.dtype(0), reduced_shape(call)}; }

TensorType infer_mean(const Call& call) {
  check_float(call);
  return {call.dtype(0), reduced_shape(call)};
}

TensorType infer_softmax(const Call& call) {
  check_float(call);
  call.normalise_dim("dim", call.rank(0));
  return call.type(0);
}

TensorType infer_norm(const Call& call) {
  check_float(call);
  const std::int64_t dims = call.node().integer("dims");
  if (dims < 1 || dims > call.rank(0))
    call.expected(fmt::format("dims from 1 to {}, the dimensions of the input", call.rank(0)), std::to_string(dims));
  const Shape& shape = call.shape(0);
  const TensorType normalised = {call.dtype(0), Shape(shape.end() - dims, shape.end())};
  for (std::size_t i = 1; i < call.size(); ++i)
    if (call.type(i) != normalised)
      call.expected(fmt::format("a {} {}", i == 1 ? "weight" : "bias", print(normalised)));
  return call.type(0);
}

}  // namespace deplo::ir::torch
