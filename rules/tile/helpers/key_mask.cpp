#include "rules/tile/helpers/key_mask.h"

#include <string>
#include <utility>
#include <vector>

#include "ir/softmax.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

constexpr const char* key_in_chunk = "key in the chunk";  // no name in a program is the same

bool is_and(const ir::Expr& e) { return e.kind() == ir::Expr::Kind::binary && e.op() == ir::ExprOp::land; }

// Returns a condition that is true if `condition` can hold for some row of the block and some key of the chunk. Returns
// 1 if that is not known.
ir::Expr may_hold(const ir::Expr& condition, const std::vector<std::pair<std::string, std::int64_t>>& varying) {
  if (is_and(condition)) return ir::both(may_hold(condition.lhs(), varying), may_hold(condition.rhs(), varying));
  if (condition.kind() != ir::Expr::Kind::binary || condition.op() != ir::ExprOp::lt) return 1;
  ir::Expr left = condition.lhs(), right = condition.rhs();
  for (const auto& [axis, extent] : varying) {
    const auto step = ir::coefficient(ir::simplify(left - right), axis);
    if (!step) return 1;
    const ir::Substitution end = {{axis, *step > 0 ? 0 : extent - 1}};
    left = ir::simplify(ir::substitute(left, end)), right = ir::simplify(ir::substitute(right, end));
  }
  return ir::less(left, right);
}

// Moves upper bounds on the chunk from the condition to `end`, and returns the rest of the condition.
ir::Expr end_early(const ir::Expr& condition, const std::string& chunk, std::optional<ir::Expr>& end) {
  if (is_and(condition))
    return ir::both(end_early(condition.lhs(), chunk, end), end_early(condition.rhs(), chunk, end));
  if (condition.kind() != ir::Expr::Kind::binary || condition.op() != ir::ExprOp::lt) return condition;
  const ir::Expr over = ir::simplify(condition.lhs() - condition.rhs());
  const auto step = ir::coefficient(over, chunk);
  if (!step || *step <= 0) return condition;
  const ir::Expr room = ir::substitute(ir::Expr(0) - over, {{chunk, ir::Expr(0)}});
  ir::Expr first = ir::simplify((room + (*step - 1)) / *step);
  end = end ? ir::min(*end, std::move(first)) : std::move(first);
  return 1;
}

}  // namespace

VisitedChunks visited_chunks(const ir::Tile& tile, const ir::Loop& sweep, const ir::SoftmaxSum& step,
                             std::int64_t keys) {
  const std::string& chunk = sweep.axis.name;
  std::vector<std::pair<std::string, std::int64_t>> varying = {{key_in_chunk, keys}};
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind != ir::Bind::block) varying.emplace_back(axis.name, axis.extent);
  const ir::Expr key = ir::var(chunk) * keys + ir::var(key_in_chunk);
  const ir::Expr seen = may_hold(ir::substitute(ir::seen(sweep.body, step.score), {{chunk, key}}), varying);
  ir::Ranges scope = scope_in(tile);
  scope.emplace_back(chunk, ir::Interval{0, ceil_div(sweep.axis.extent, keys) - 1});
  VisitedChunks result;
  result.condition = end_early(ir::simplify(seen, scope), chunk, result.end);
  return result;
}

}  // namespace deplo::rules
