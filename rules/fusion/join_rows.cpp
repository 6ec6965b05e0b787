// The rows of a contraction that lie along several axes become one axis, so that blocks of rows reach over them.
//   out[a0, a1, a2] = … x[a0, (a1 + r0), r1] …, w[…, a2]   →   out[(a1 / 28), (a1 % 28), a2] = …, a1 in 0..(a0 * a1)
// Of a convolution, these are the images, and the lines and places of an image.
#include <optional>
#include <utility>

#include "rules/fusion/guard.h"
#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {
namespace {

/// The last three axes of more than one element: `outer` may join the rows.
struct Axes {
  std::size_t outer, rows, columns;
};
std::optional<Axes> last_axes(const ir::Shape& shape) {
  std::vector<std::size_t> axes;
  for (std::size_t d = shape.size(); d-- > 0 && axes.size() < 3;)
    if (shape[d] > 1) axes.push_back(d);
  if (axes.size() < 3) return std::nullopt;
  return Axes{axes[2], axes[1], axes[0]};
}

/// Does the load walk neighbouring dimensions by the outer axis and by the rows, which are one dimension then?
bool walks_neighbours(const Value& load, const Axes& axes) {
  for (std::size_t d = 0; d + 1 < load.index.size(); ++d)
    if (load.index[d] == ir::tensor::coordinate(axes.outer) && load.index[d + 1] == ir::tensor::coordinate(axes.rows))
      return true;
  return false;
}

/// Does the load take every second, third … row, and more than one of a line?
bool skips_rows(const Fusion& fusion, ValueId load, const Axes& axes) {
  return std::ranges::any_of(fusion.values[load].index, [&](const ir::Expr& e) {
    return ir::coefficient(e, ir::tensor::coordinate(axes.rows).name()).value_or(0) > 1;
  });
}

/// Does the load read windows: elements at the sum of the rows and of an axis that is summed up?
bool reads_windows(const Fusion& fusion, ValueId load, const Axes& axes) {
  return std::ranges::any_of(fusion.values[load].index, [&](const ir::Expr& e) {
    return ir::depends_on(e, ir::tensor::coordinate(axes.rows).name()) &&
           std::ranges::any_of(fusion.values.live(load).reduces,
                               [&](int reduce) { return ir::depends_on(e, fusion.values.axis(reduce).name()); });
  });
}

/// Do the operands of sums walk the outer axis exactly where they walk the rows, with windows or as one dimension?
bool joins(const Fusion& fusion, const LoopOp& op, const Axes& axes) {
  for (const ValueId id : reachable(fusion.values, op.root)) {
    const Value& value = fusion.values[id];
    const Live& live = fusion.values.live(id);
    if (value.kind == Value::Kind::softmax || value.kind == Value::Kind::scatter) return false;
    if (value.kind != Value::Kind::load || live.reduces.empty()) continue;
    const auto walks = [&](std::size_t axis) { return (live.free >> axis & 1) != 0; };
    if (walks(axes.outer) != walks(axes.rows) || (walks(axes.outer) && walks(axes.columns))) return false;
    if (walks(axes.rows) && !walks_neighbours(value, axes) && !reads_windows(fusion, id, axes) &&
        !skips_rows(fusion, id, axes))
      return false;
  }
  return true;
}

void join(Fusion& fusion, LoopOp& op, const Axes& axes) {
  ir::Shape shape = fusion.shape(op);
  std::vector<ir::Expr> index = written(fusion, op);
  const std::int64_t rows = shape[axes.rows];
  const ir::Expr joined = ir::tensor::coordinate(axes.rows);
  const ir::Substitution sigma = {{ir::tensor::coordinate(axes.outer).name(), joined / rows},
                                  {joined.name(), joined % rows}};
  shape[axes.rows] *= std::exchange(shape[axes.outer], 1);
  for (ir::Expr& e : index) e = fusion.values.substitute(e, sigma, shape);
  op.root = fusion.values.substitute(op.root, sigma, shape);
  op.axes = std::move(shape);
  op.index = std::move(index);
}

}  // namespace

void join_rows(Fusion& fusion, LoopOp& op) {
  if (!has_rows_and_columns(fusion, op)) return;
  for (auto axes = last_axes(fusion.shape(op)); axes && joins(fusion, op, *axes); axes = last_axes(fusion.shape(op)))
    join(fusion, op, *axes);
}

}  // namespace deplo::rules::fusion
