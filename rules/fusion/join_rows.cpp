// Joins the axes along which the rows of a contraction lie into one axis, so that a block of rows can extend over
// several of these axes.
//   out[a0, a1, a2] = … x[a0, (a1 + r0), r1] …, w[…, a2]   →   out[(a1 / 28), (a1 % 28), a2] = …, a1 in 0..(a0 * a1)
// In a convolution, these axes are the images, and the lines and places of an image. On GPUs, a slab gathers the rows
// from wherever they lie, so groups and strides are no obstacle. On CPUs, such rows are faster within a line
// (docs/performance.md, "Convolutional networks").
#include <algorithm>
#include <optional>
#include <utility>

#include "rules/fusion/guard.h"
#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {
namespace {

/// Axes with more than one element each. `outer` is the candidate to be joined with `rows`.
struct Axes {
  std::size_t outer, rows, columns;
  bool are_neighbours;  // no axis, such as a convolution's groups, lies between outer and rows
};

/// Does the load walk two neighbouring dimensions by the outer axis and the rows? They can then be one dimension.
bool walks_neighbours(const Value& load, const Axes& axes) {
  for (std::size_t d = 0; d + 1 < load.index.size(); ++d)
    if (load.index[d] == ir::tensor::coordinate(axes.outer) && load.index[d + 1] == ir::tensor::coordinate(axes.rows))
      return true;
  return false;
}

/// Does the load walk the rows in any way other than one dimension element by element?
bool skips_rows(const Fusion& fusion, ValueId load, const Axes& axes) {
  const ir::Expr rows = ir::tensor::coordinate(axes.rows);
  return std::ranges::any_of(fusion.values[load].index,
                             [&](const ir::Expr& e) { return ir::depends_on(e, rows.name()) && !(e == rows); });
}

/// Does the load read windows, i.e. elements whose index is the sum of the rows and of a reduce axis?
bool reads_windows(const Fusion& fusion, ValueId load, const Axes& axes) {
  return std::ranges::any_of(fusion.values[load].index, [&](const ir::Expr& e) {
    return ir::depends_on(e, ir::tensor::coordinate(axes.rows).name()) &&
           std::ranges::any_of(fusion.values.live(load).reduces,
                               [&](int reduce) { return ir::depends_on(e, fusion.values.axis(reduce).name()); });
  });
}

/// Can the outer axis join the rows? Every operand of a sum must walk both axes or neither of them, and must walk them
/// in windows or as one dimension.
bool joins(const Fusion& fusion, const LoopOp& op, const Axes& axes) {
  for (const ValueId id : reachable(fusion.values, op.root)) {
    const Value& value = fusion.values[id];
    const Live& live = fusion.values.live(id);
    if (value.kind == Value::Kind::softmax || value.kind == Value::Kind::scatter) return false;
    if (value.kind != Value::Kind::load || live.reduces.empty()) continue;
    const auto walks = [&](std::size_t axis) { return (live.free >> axis & 1) != 0; };
    if (walks(axes.outer) != walks(axes.rows) || (walks(axes.outer) && walks(axes.columns))) return false;
    if (!walks(axes.rows) || reads_windows(fusion, id, axes)) continue;
    if (!fusion.target.cpu && skips_rows(fusion, id, axes)) continue;
    if (!axes.are_neighbours || !walks_neighbours(value, axes)) return false;
  }
  return true;
}

/// The innermost axis that can join the second innermost one. Axes of extent 1 do not count.
std::optional<Axes> axes_to_join(const Fusion& fusion, const LoopOp& op) {
  const ir::Shape shape = fusion.shape(op);
  std::vector<std::size_t> last;  // the innermost axis first
  for (std::size_t d = shape.size(); d-- > 0;)
    if (shape[d] > 1) last.push_back(d);
  const std::size_t end = fusion.target.cpu ? std::min<std::size_t>(last.size(), 3) : last.size();
  for (std::size_t i = 2; i < end; ++i)
    if (const Axes axes = {last[i], last[1], last[0], i == 2}; joins(fusion, op, axes)) return axes;
  return std::nullopt;
}

void join(Fusion& fusion, LoopOp& op, const Axes& axes) {
  ir::Shape shape = fusion.shape(op);
  const std::int64_t rows = shape[axes.rows];
  const ir::Expr joined = ir::tensor::coordinate(axes.rows);
  const ir::Substitution sigma = {{ir::tensor::coordinate(axes.outer).name(), joined / rows},
                                  {joined.name(), joined % rows}};
  shape[axes.rows] *= std::exchange(shape[axes.outer], 1);
  replace_axes(fusion, op, sigma, std::move(shape));
}

}  // namespace

void join_rows(Fusion& fusion, LoopOp& op) {
  if (!has_rows_and_columns(fusion, op)) return;
  while (const auto axes = axes_to_join(fusion, op)) join(fusion, op, *axes);
}

}  // namespace deplo::rules::fusion
