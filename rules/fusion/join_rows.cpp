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

/// Do the operands of sums walk the outer axis exactly where they walk the rows, and does one read windows: the sum of
/// such an axis and of an axis that is summed up?
bool joins(const Fusion& fusion, const LoopOp& op, const Axes& axes) {
  bool windows = false;
  for (const ValueId id : reachable(fusion.values, op.root)) {
    const Value& value = fusion.values[id];
    const Live& live = fusion.values.live(id);
    if (value.kind == Value::Kind::softmax || value.kind == Value::Kind::scatter) return false;
    if (value.kind != Value::Kind::load || live.reduces.empty()) continue;
    const auto walks = [&](std::size_t axis) { return (live.free >> axis & 1) != 0; };
    if (walks(axes.outer) != walks(axes.rows) || (walks(axes.outer) && walks(axes.columns))) return false;
    for (const ir::Expr& e : value.index) {
      const bool on_rows = ir::depends_on(e, ir::tensor::coordinate(axes.rows).name());
      for (const int reduce : live.reduces) windows |= on_rows && ir::depends_on(e, fusion.values.axis(reduce).name());
    }
  }
  return windows;
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
