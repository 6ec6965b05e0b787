// Splits a free axis that is read in parts into two axes.
//   out[a0, a1] = x[a0, (a1 / 16), (a1 % 16)]   →   out[a0, ((a1 * 16) + a2)] = x[a0, a1, a2]
// If the axis is also read as a whole, that read becomes ((a1 * 16) + a2).
#include <algorithm>

#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {
namespace {

constexpr std::size_t max_axes = 18;  // number of letters of tensor::coordinate

/// Collects the numbers by which the axis is divided.
void collect(const ir::Expr& e, const std::string& axis, std::vector<std::int64_t>& divisors) {
  if (e.kind() != ir::Expr::Kind::binary) return;
  const bool parts = e.op() == ir::ExprOp::div || e.op() == ir::ExprOp::mod;
  if (parts && e.lhs() == ir::var(axis)) {
    divisors.push_back(e.rhs().value());
  } else {
    collect(e.lhs(), axis, divisors);
    collect(e.rhs(), axis, divisors);
  }
}

/// The extent of the inner part; 1 if the axis is not split.
std::int64_t inner_extent(const Values& values, ValueId root, std::size_t axis, std::int64_t extent) {
  std::vector<std::int64_t> divisors;
  for (const ValueId id : reachable(values, root))
    for (const ir::Expr& e : values[id].index) collect(e, ir::tensor::coordinate(axis).name(), divisors);
  if (divisors.empty()) return 1;
  const std::int64_t inner = std::ranges::min(divisors);
  const bool nested = std::ranges::all_of(divisors, [&](std::int64_t d) { return d % inner == 0; });
  return nested && inner < extent && extent % inner == 0 ? inner : 1;
}

void split(Fusion& fusion, LoopOp& op, std::size_t axis, std::int64_t inner) {
  ir::Shape axes = fusion.shape(op);
  ir::Substitution sigma;
  const auto old = [&](std::size_t d) { return ir::tensor::coordinate(d).name(); };
  sigma.emplace_back(old(axis), ir::tensor::coordinate(axis) * inner + ir::tensor::coordinate(axis + 1));
  for (std::size_t d = axis + 1; d < axes.size(); ++d) sigma.emplace_back(old(d), ir::tensor::coordinate(d + 1));
  axes[axis] /= inner;
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(axis) + 1, inner);
  replace_axes(fusion, op, sigma, std::move(axes));
}

}  // namespace

void split_axes(Fusion& fusion, LoopOp& op) {
  for (std::size_t d = 0; d < fusion.shape(op).size() && fusion.shape(op).size() < max_axes; ++d)
    if (const std::int64_t inner = inner_extent(fusion.values, op.root, d, fusion.shape(op)[d]); inner > 1)
      split(fusion, op, d, inner);
}

}  // namespace deplo::rules::fusion
