#include "ir/emit/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory_resource>
#include <optional>

#include "core/error.h"
#include "ir/loop.h"
#include "ir/simplify/simplify_impl.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

struct Operator {
  const char* text;
  int precedence;  // of C, higher binds tighter
};

Operator operator_of(ExprOp op) {
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
      return {"&&", 1};
    case ExprOp::bxor:
      return {"^", 2};
    case ExprOp::min:
      return {"min", 0};
    case ExprOp::max:
      return {"max", 0};
  }
  check_failed("every operation has a spelling", __FILE__, __LINE__);
}

class Text {
 public:
  Text(const Ranges& axes, bool wide) : axes_(axes), wide_(wide) {}

  void text(const Expr& e, int outer, bool in_call) {
    if (e.kind() == Expr::Kind::constant) return constant(e.value(), in_call);
    if (e.kind() == Expr::Kind::variable) return variable(e.name());
    const Operator s = operator_of(e.op());
    if (s.precedence == 0) return function(s.text, e);
    const bool cast = wide_ && in_call && is_condition(e), parentheses = cast || s.precedence < outer;
    if (cast) out += "(long)";
    if (parentheses) out += '(';
    if (truncates(e)) {
      floored(e, in_call);
    } else {
      // Right operands of the same precedence keep their parentheses: a - (b + c), a * (b / c).
      text(e.lhs(), s.precedence, in_call);
      ((out += ' ') += s.text) += ' ';
      text(e.rhs(), s.precedence + 1, in_call);
    }
    if (parentheses) out += ')';
  }
  // c * variable + …, all of it positive.
  void sum(const Affine& a) {
    for (const Term& term : a.terms) {
      if (!out.empty()) out += " + ";
      variable(term.atom.name());
      if (term.coefficient != 1) (out += " * ") += std::to_string(term.coefficient);
    }
    if (a.constant == 0 && !out.empty()) return;
    if (!out.empty()) out += " + ";
    out += std::to_string(a.constant);
  }
  std::string out;

 private:
  void variable(const std::string& name) {
    if (wide_ && !is_axis(name)) out += "(long)";
    out += name;
  }
  void constant(std::int64_t value, bool in_call) {
    out += std::to_string(value);
    if (wide_ && in_call) out += 'L';
  }
  void function(const char* name, const Expr& e) {
    (out += name) += '(';
    text(e.lhs(), 0, true);
    out += ", ";
    text(e.rhs(), 0, true);
    out += ')';
  }
  bool is_axis(const std::string& name) const {
    return std::any_of(axes_.begin(), axes_.end(), [&](const auto& axis) { return axis.first == name; });
  }
  bool truncates(const Expr& e) const {
    return (e.op() == ExprOp::div || e.op() == ExprOp::mod) && range_of(e.lhs(), axes_).low < 0;
  }
  // x mod c = (x % c + c) % c; x div c = (x - (x mod c)) / c
  void floored(const Expr& e, bool in_call) {
    const auto by = [&] { text(e.rhs(), 7, in_call); };
    const auto remainder = [&] {
      out += '(';
      text(e.lhs(), 6, in_call);
      out += " % ", by(), out += " + ", by(), out += ") % ", by();
    };
    if (e.op() == ExprOp::mod) return remainder();
    out += '(';
    text(e.lhs(), 5, in_call);
    out += " - ";
    remainder();
    out += ") / ";
    by();
  }

  const Ranges& axes_;
  bool wide_;
};

// `(int4)(base) + (int4)(0, c, 2c, 3c)`, comparisons of such, conjunctions of those; nullopt for other forms and where
// 32 bits may be too few.
class Ramp {
 public:
  Ramp(int lanes, const Ranges& axes, bool wide) : lanes_(lanes), axes_(axes), wide_(wide) {}

  std::optional<std::string> vector(const Expr& e) const {
    if (is_condition(e) && depends_on(e, lane_variable)) {
      const bool both = e.op() == ExprOp::land;
      if (both && !(is_condition(e.lhs()) && is_condition(e.rhs()))) return std::nullopt;
      const auto l = vector(e.lhs()), r = vector(e.rhs());
      if (!l || !r) return std::nullopt;
      if (both) return fmt::format("({}) & ({})", *l, *r);
      return fmt::format("{}({}) {} {}({})", sign(e.lhs()), *l, operator_of(e.op()).text, sign(e.rhs()), *r);
    }
    constexpr std::int64_t far = 1 << 20;  // 15 of them stay far from the end of 32 bits
    const auto step = coefficient(e, lane_variable);
    if (!step || std::abs(*step) > far || !within(range_of(e, axes_), INT32_MIN, INT32_MAX)) return std::nullopt;
    const Expr base = simplify(substitute(e, {{lane_variable, Expr(0)}}), axes_);
    std::string text = fmt::format("(int{})({})", lanes_, scalar(base));
    if (*step == 0) return sign(e) + text;
    std::string steps;
    for (int lane = 0; lane < lanes_; ++lane) steps += fmt::format("{}{}", lane == 0 ? "" : ", ", lane * *step);
    return fmt::format("{} + (int{})({})", text, lanes_, steps);
  }

  std::string lane_by_lane(const Expr& e) const {
    std::string list;
    for (int lane = 0; lane < lanes_; ++lane) {
      const Expr one = simplify(substitute(e, {{lane_variable, Expr(lane)}}), axes_);
      list += fmt::format("{}{}{}", lane == 0 ? "" : ", ", sign(e), scalar(one));
    }
    return fmt::format("(int{})({})", lanes_, list);
  }

 private:
  static const char* sign(const Expr& e) { return is_condition(e) ? "-" : ""; }  // -1 → 1
  std::string scalar(const Expr& e) const { return "(int)(" + index_code(e, axes_, wide_) + ")"; }

  int lanes_;
  const Ranges& axes_;
  bool wide_;
};

}  // namespace

bool is_condition(const Expr& e) {
  return e.kind() == Expr::Kind::binary && (e.op() == ExprOp::lt || e.op() == ExprOp::eq || e.op() == ExprOp::land);
}

std::string index_code(const Expr& e, const Ranges& axes, bool wide) {
  Text text(axes, wide);
  text.text(e, 0, false);
  return std::move(text.out);
}

std::string offset_code(const std::vector<Expr>& index, const std::vector<std::int64_t>& strides, const Ranges& axes,
                        bool wide) {
  std::array<std::byte, 512> buffer;  // of most sums
  std::pmr::monotonic_buffer_resource arena(buffer.data(), buffer.size());
  Affine sum(&arena);
  for (std::size_t d = 0; d < index.size(); ++d) sum.add(index[d], strides[d]);
  const bool plain = !sum.overflow && sum.constant >= 0 && std::ranges::all_of(sum.terms, [](const Term& term) {
    return term.coefficient > 0 && term.atom.kind() == Expr::Kind::variable;
  });
  if (!plain) return index_code(flat_offset(index, strides), axes, wide);
  Text text(axes, wide);
  text.sum(sum);
  return std::move(text.out);
}

std::string index_vector(const Expr& e, int lanes, Ranges axes, bool wide) {
  axes.emplace_back(lane_variable, Interval{0, lanes - 1});
  const Ramp ramp(lanes, axes, wide);
  return ramp.vector(e).value_or(ramp.lane_by_lane(e));
}

}  // namespace deplo::ir
