// as_strided: selects elements by their positions in a tensor's memory. Only `.pt2` files use it, because they state
// how tensors lie in memory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace memory_places {
namespace {

/// Returns the dimensions in their order in memory, the innermost last. Fails if elements overlap or have gaps between
/// them.
Shape memory_order(pt2::Call& call, const pt2::TensorMeta& meta) {
  const Shape& shape = meta.type.shape;
  if (meta.offset != 0 || meta.strides.size() != shape.size())
    call.fail("self", "a tensor that covers its whole memory");
  Shape order(shape.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto at = [](const auto& list, std::int64_t d) { return list[static_cast<std::size_t>(d)]; };
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return at(shape, a) > 1 && at(shape, b) > 1 && at(meta.strides, a) > at(meta.strides, b);
  });
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::int64_t extent = at(shape, order[i]);
    if (extent > 1 && at(meta.strides, order[i]) != stride) call.fail("self", "a tensor that covers its whole memory");
    stride *= std::max<std::int64_t>(extent, 1);
  }
  return order;
}

std::vector<Id> read(pt2::Call& call) {
  const Given g(call);
  const Id x = call.tensor("self");
  const std::vector<std::int64_t> size = call.integers("size"), stride = call.integers("stride");
  const std::int64_t offset = call.integer("storage_offset", 0);
  const Shape order = memory_order(call, call.stated("self"));
  if (size.size() != stride.size()) call.fail("stride", "a stride for each size");
  std::int64_t last = offset;
  for (std::size_t d = 0; d < size.size(); ++d) last += std::max<std::int64_t>(size[d] - 1, 0) * stride[d];
  const std::int64_t count = element_count(g.shape(x));
  if (offset < 0 || std::ranges::any_of(stride, [](std::int64_t s) { return s < 0; }) || last >= count)
    call.fail("size", fmt::format("indices within the tensor's {} elements", count));
  Id place = g.whole(offset, DType::i64);
  for (std::size_t d = 0; d < size.size(); ++d) {
    const Id steps = g.apply("mul", g.along(g.range(0, size[d]), d, size.size()), g.whole(stride[d], DType::i64));
    place = g.apply("add", steps, place);
  }
  return {pick_by_tensors(g, g.reshape(g.permute(x, order), {count}), {place})};
}

}  // namespace
}  // namespace memory_places

Composites strided_views() {
  return {{}, {{"aten.as_strided", memory_places::read}, {"aten.as_strided_copy", memory_places::read}}};
}

}  // namespace deplo::ir::torch
