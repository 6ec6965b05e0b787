#include "ir/emit/expression.h"

#include <fmt/format.h>

#include "core/error.h"

namespace deplo::ir {
namespace {

struct Spelling {
  const char* text;
  int precedence;  // of C, higher binds tighter
};

Spelling spelling(ExprOp op) {
  switch (op) {
    case ExprOp::add:
      return {"+", 5};
    case ExprOp::sub:
      return {"-", 5};
    case ExprOp::mul:
      return {"*", 6};
    case ExprOp::div:
      return {"/", 6};
    case ExprOp::mod:
      return {"%", 6};
    case ExprOp::lt:
      return {"<", 4};
    case ExprOp::eq:
      return {"==", 3};
    case ExprOp::land:
      return {"&&", 2};
    case ExprOp::min:
      return {"min", 0};
    case ExprOp::max:
      return {"max", 0};
  }
  check_failed("every operation has a spelling", __FILE__, __LINE__);
}

std::string text(const Expr& e, int outer, bool wide, bool in_call) {
  if (e.kind() == Expr::Kind::constant) return fmt::format("{}{}", e.value(), wide && in_call ? "L" : "");
  if (e.kind() == Expr::Kind::variable) return e.name();
  const Spelling s = spelling(e.op());
  if (s.precedence == 0)
    return fmt::format("{}({}, {})", s.text, text(e.lhs(), 0, wide, true), text(e.rhs(), 0, wide, true));
  // Right operands of the same precedence keep their parentheses: a - (b + c), a * (b / c).
  const std::string result = fmt::format("{} {} {}", text(e.lhs(), s.precedence, wide, in_call), s.text,
                                         text(e.rhs(), s.precedence + 1, wide, in_call));
  return s.precedence < outer ? "(" + result + ")" : result;
}

}  // namespace

std::string index_code(const Expr& e, bool wide) { return text(e, 0, wide, false); }

}  // namespace deplo::ir
