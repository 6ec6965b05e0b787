// as_strided: selects elements by their positions in a tensor's memory. `.pt2` files state how tensors lie in memory.
// Expressions determine it (expression/values/strides.h).
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
  const Id memory = g.reshape(g.permute(x, order), {element_count(g.shape(x))});
  return {pick_strided(g, memory, size, stride, offset)};
}

}  // namespace
}  // namespace memory_places

Id pick_strided(const Caller& c, Id memory, const Shape& size, const Shape& stride, std::int64_t offset) {
  auto last = static_cast<double>(offset);
  for (std::size_t d = 0; d < size.size(); ++d)
    last += static_cast<double>(std::max<std::int64_t>(size[d] - 1, 0)) * static_cast<double>(stride[d]);
  const std::int64_t count = element_count(c.shape(memory));
  const bool is_any_negative = std::ranges::any_of(stride, [](std::int64_t s) { return s < 0; }) ||
                               std::ranges::any_of(size, [](std::int64_t n) { return n < 0; });
  if (offset < 0 || is_any_negative || last >= static_cast<double>(count))
    throw Error(
        fmt::format("as_strided: expected indices within the memory's {} elements, found sizes {} with strides {} "
                    "from {}",
                    count, print_list(size), print_list(stride), offset));
  Id place = c.whole(offset, DType::i64);
  for (std::size_t d = 0; d < size.size(); ++d) {
    const Id steps = c.apply("mul", c.along(c.range(0, size[d]), d, size.size()), c.whole(stride[d], DType::i64));
    place = c.apply("add", steps, place);
  }
  return pick_by_tensors(c, memory, {place});
}

Composites strided_views() {
  return {{}, {{"aten.as_strided", memory_places::read}, {"aten.as_strided_copy", memory_places::read}}};
}

}  // namespace deplo::ir::torch
