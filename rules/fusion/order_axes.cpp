// Orders the axes of a copy as its result lies in memory, if more of its accesses are consecutive in that order.
//   padded is stored (c, h, w):   padded[a2, a0, a1] = x[a2, (a0 - 1), (a1 - 1)]   →   padded[a0, a1, a2] = x[a0, …]
// Before this step, the free axes are the dimensions of the result.
#include <algorithm>

#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {
namespace {

/// The number of elements of the buffer by which the access moves with one step of the axis. It is taken in the middle
/// of the axis, because the index of a padded tensor does not move at the edges. 0 if the access does not move, or if a
/// loaded value chooses the element.
std::int64_t step(const Fusion& fusion, int tensor, const std::vector<ir::Expr>& index, std::size_t axis,
                  const ir::Shape& extents) {
  const Layout& layout = fusion.layouts[static_cast<std::size_t>(tensor)];
  const std::vector<std::int64_t> strides = ir::row_major_strides(stored_shape(fusion.type(tensor).shape, layout));
  std::vector<std::pair<std::string, std::int64_t>> place;
  for (std::size_t d = 0; d < extents.size(); ++d)
    place.emplace_back(ir::tensor::coordinate(d).name(), (extents[d] - 1) / 2);
  std::int64_t moved = 0;
  const std::vector<ir::Expr> stored = stored_index(fusion, tensor, layout, index, extents);
  for (std::size_t d = 0; d < stored.size(); ++d) {
    for (const std::string& name : ir::variables(stored[d]))
      if (std::ranges::none_of(place, [&](const auto& at) { return at.first == name; })) return 0;
    auto next = place;
    ++next[axis].second;
    moved += (ir::evaluate(stored[d], next) - ir::evaluate(stored[d], place)) * strides[d];
  }
  return moved;
}

int consecutive_accesses(const Fusion& fusion, const LoopOp& op, std::size_t axis) {
  const ir::Shape& extents = fusion.shape(op);
  int count = step(fusion, op.output, written(fusion, op, op.output), axis, extents) == 1 ? 1 : 0;
  for (const ValueId id : reachable(fusion.values, op.root))
    if (const Value& value = fusion.values[id]; value.kind == Value::Kind::load)
      count += step(fusion, value.tensor, value.index, axis, extents) == 1 ? 1 : 0;
  return count;
}

/// The axes in the order in which the dimensions lie in memory.
std::vector<std::size_t> memory_order(const Layout& layout, std::size_t rank) {
  std::vector<std::size_t> order;
  for (const std::vector<int>& dims : layout)
    for (const int d : dims) order.push_back(static_cast<std::size_t>(d));
  for (std::size_t d = 0; d < rank; ++d)  // dimensions of extent 1 that the buffer does not have
    if (std::ranges::find(order, d) == order.end()) order.insert(order.begin(), d);
  return order;
}

void reorder(Fusion& fusion, LoopOp& op, const std::vector<std::size_t>& order) {
  const ir::Shape& extents = fusion.shape(op);
  ir::Substitution sigma;
  ir::Shape axes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    axes.push_back(extents[order[i]]);
    sigma.emplace_back(ir::tensor::coordinate(order[i]).name(), ir::tensor::coordinate(i));
  }
  replace_axes(fusion, op, sigma, std::move(axes));
}

}  // namespace

void order_axes(Fusion& fusion) {
  for (LoopOp& op : fusion.ops) {
    const Layout& layout = fusion.layouts[static_cast<std::size_t>(op.output)];
    if (layout.empty() || !op.axes.empty() || !only_copies(fusion, op)) continue;
    const std::vector<std::size_t> order = memory_order(layout, fusion.shape(op).size());
    std::size_t last = fusion.shape(op).size() - 1;
    while (last > 0 && fusion.shape(op)[last] == 1) --last;
    if (!std::ranges::is_sorted(order) &&
        consecutive_accesses(fusion, op, order.back()) > consecutive_accesses(fusion, op, last))
      reorder(fusion, op, order);
  }
}

}  // namespace deplo::rules::fusion
