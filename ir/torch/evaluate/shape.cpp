// What rearranges elements, in terms of strides.
#include <algorithm>

#include "ir/torch/evaluate/ops.h"

namespace deplo::ir::torch {
namespace {

std::int64_t& at(Shape& shape, std::int64_t i) { return shape[static_cast<std::size_t>(i)]; }

// result[index] = argument[start + index · strides]
Values strided(const Operands& o, const Shape& strides, std::int64_t start = 0) {
  Values result;
  result.reserve(o.result_count());
  const double* from = o.value(0).data() + start;
  for_each_index(o.result(), std::array{strides}, [&](std::size_t i) { result.push_back(from[i]); });
  return result;
}

}  // namespace

Values evaluate_copy(const Operands& o) { return o.value(0); }

Values evaluate_transpose(const Operands& o) {
  Shape strides = row_major_strides(o.shape(0));
  std::swap(at(strides, o.node.integer("dim0")), at(strides, o.node.integer("dim1")));
  return strided(o, strides);
}

Values evaluate_permute(const Operands& o) {
  Shape own = row_major_strides(o.shape(0)), strides;
  for (const std::int64_t dim : o.node.integers("dims")) strides.push_back(at(own, dim));
  return strided(o, strides);
}

Values evaluate_expand(const Operands& o) { return strided(o, broadcast_strides(o.shape(0), o.result())); }

Values evaluate_slice(const Operands& o) {
  Shape strides = row_major_strides(o.shape(0));
  std::int64_t& stride = at(strides, o.node.integer("dim"));
  const std::int64_t start = o.node.integer("start") * stride;
  stride *= o.node.integer("step");
  return strided(o, strides, start);
}

Values evaluate_select(const Operands& o) {
  Shape strides = row_major_strides(o.shape(0));
  const std::int64_t dim = o.node.integer("dim"), start = o.node.integer("index") * at(strides, dim);
  strides.erase(strides.begin() + dim);
  return strided(o, strides, start);
}

// Both interleave the arguments' blocks: what lies at and within the dimension.
Values evaluate_join(const Operands& o) {
  const auto dim = static_cast<std::ptrdiff_t>(o.node.integer("dim"));
  std::vector<std::ptrdiff_t> blocks;
  for (std::size_t i = 0; i < o.size(); ++i)
    blocks.push_back(element_count(Shape(o.shape(i).begin() + dim, o.shape(i).end())));
  const std::int64_t outer = element_count(Shape(o.result().begin(), o.result().begin() + dim));
  Values result;
  result.reserve(o.result_count());
  for (std::int64_t row = 0; row < outer; ++row)
    for (std::size_t i = 0; i < o.size(); ++i) {
      const auto begin = o.value(i).begin() + row * blocks[i];
      result.insert(result.end(), begin, begin + blocks[i]);
    }
  return result;
}

}  // namespace deplo::ir::torch
