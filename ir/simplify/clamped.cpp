#include "ir/simplify/clamped.h"

namespace deplo::ir {

bool walks_or_stands(const Expr& e, const std::string& variable) {
  if (coefficient(e, variable) == 1) return true;
  if (e.kind() != Expr::Kind::binary) return false;
  const bool left = depends_on(e.lhs(), variable), right = depends_on(e.rhs(), variable);
  const bool clamps = e.op() == ExprOp::min || e.op() == ExprOp::max;
  if (left && right) return clamps && walks_or_stands(e.lhs(), variable) && walks_or_stands(e.rhs(), variable);
  if (left) return (clamps || e.op() == ExprOp::add || e.op() == ExprOp::sub) && walks_or_stands(e.lhs(), variable);
  return right && (clamps || e.op() == ExprOp::add) && walks_or_stands(e.rhs(), variable);
}

}  // namespace deplo::ir
