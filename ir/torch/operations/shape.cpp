// Types of what rearranges dimensions and keeps every element.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/torch/operations/op_rows.h"

namespace deplo::ir::torch {
namespace {

std::int64_t& at(Shape& shape, std::int64_t i) { return shape[static_cast<std::size_t>(i)]; }

// The shape's -1 is what is left of `count` elements; 0 where that is none.
std::int64_t left_over(const Shape& shape, std::int64_t count) {
  for (const std::int64_t extent : shape) {
    if (extent == -1) continue;
    if (extent < 1 || count % extent != 0) return 0;
    count /= extent;
  }
  return count;
}

}  // namespace

TensorType infer_transpose(const Call& call) {
  const std::int64_t a = call.normalise_dim("dim0", call.rank(0)), b = call.normalise_dim("dim1", call.rank(0));
  TensorType type = call.type(0);
  std::swap(at(type.shape, a), at(type.shape, b));
  return type;
}

TensorType infer_permute(const Call& call) {
  const Shape dims = call.normalise_dims(call.rank(0));
  if (dims.size() != call.shape(0).size()) call.expected("each dimension once", print_list(dims));
  TensorType type = {call.dtype(0), {}};
  for (const std::int64_t dim : dims) type.shape.push_back(call.shape(0)[static_cast<std::size_t>(dim)]);
  return type;
}

TensorType infer_reshape(const Call& call) {
  Shape shape = call.node().integers("shape");
  const auto unknown = std::ranges::count(shape, -1);
  const std::int64_t rest = left_over(shape, element_count(call.shape(0)));
  if (unknown > 1 || rest == 0 || (unknown == 0 && rest != 1))
    call.expected(fmt::format("a shape of {} elements, at most one extent -1", element_count(call.shape(0))),
                  print(shape));
  std::ranges::replace(shape, -1, rest);
  call.set("shape", shape);
  return {call.dtype(0), shape};
}

TensorType infer_unsqueeze(const Call& call) {
  TensorType type = call.type(0);
  const std::int64_t dim = call.normalise_dim("dim", call.rank(0) + 1);
  type.shape.insert(type.shape.begin() + dim, 1);
  return type;
}

TensorType infer_squeeze(const Call& call) {
  Shape dims;
  if (call.has("dims"))
    dims = call.normalise_dims(call.rank(0));
  else
    for (std::int64_t i = 0; i < call.rank(0); ++i) dims.push_back(i);
  TensorType type = call.type(0);
  std::erase_if(dims, [&](std::int64_t dim) { return at(type.shape, dim) != 1; });
  std::ranges::sort(dims);
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) type.shape.erase(type.shape.begin() + *dim);
  call.set("dims", dims);
  return type;
}

TensorType infer_expand(const Call& call) {
  Shape shape = call.node().integers("shape");
  const Shape& from = call.shape(0);
  bool fits = shape.size() >= from.size();
  const std::size_t extra = fits ? shape.size() - from.size() : 0;
  for (std::size_t i = 0; fits && i < from.size(); ++i) {
    std::int64_t& extent = shape[extra + i];
    if (extent == -1) extent = from[i];
    fits = extent == from[i] || from[i] == 1;
  }
  if (!fits)
    call.expected(fmt::format("a shape that {} expands to", print(from)), print(call.node().integers("shape")));
  call.set("shape", shape);
  return {call.dtype(0), shape};
}

}  // namespace deplo::ir::torch
