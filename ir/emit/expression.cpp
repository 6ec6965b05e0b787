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
  int precedence;  // in C; higher binds tighter
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

bool fits_int(const Interval& range) { return within(range, INT32_MIN, INT32_MAX); }

// Returns the ranges of the axes, with `of_values` as the range of all other variables in the expression.
Ranges with_values(const Expr& e, const Ranges& axes, const Interval& of_values) {
  Ranges all = axes;
  for_each_variable(e, [&](const std::string& name) {
    if (std::ranges::find(all, name, &Ranges::value_type::first) == all.end()) all.emplace_back(name, of_values);
  });
  return all;
}

// True if 32 bits hold each part of the expression.
bool parts_fit(const Expr& e, const Ranges& ranges) {
  return fits_int(range_of(e, ranges)) &&
         (e.kind() != Expr::Kind::binary || (parts_fit(e.lhs(), ranges) && parts_fit(e.rhs(), ranges)));
}

class Text {
 public:
  /// `ranges`: ranges of all variables; nullptr if no part of the expression needs more bits than an axis has.
  Text(const Ranges& axes, const Speller& spell, const Ranges* ranges = nullptr)
      : axes_(axes), ranges_(ranges), spell_(spell), wide_(spell.index_type == spell.long_type) {}

  /// Appends an expression. `outer`: precedence of its context. `in_call`: it is an argument of min or max, whose two
  /// arguments must have one type. `in_long`: it is computed in 64 bits.
  void text(const Expr& e, int outer, bool in_call, bool in_long = false) {
    if (e.kind() == Expr::Kind::constant) return constant(e.value(), in_long || (wide_ && in_call));
    if (e.kind() == Expr::Kind::variable) return variable(e.name(), in_long);
    const Operator s = operator_of(e.op());
    const bool fits = ranges_ == nullptr || parts_fit(e, *ranges_), is_call = s.precedence == 0,
               is_sum = e.op() == ExprOp::add || e.op() == ExprOp::sub || e.op() == ExprOp::mul;
    if (in_long && (fits || !(is_sum || is_call))) {
      cast();
      out += '(';
      text(e, 0, false);
      out += ')';
      return;
    }
    if (is_call) return function(s.text, e, in_long || !fits);
    const bool cast_result = wide_ && in_call && is_condition(e), parentheses = cast_result || s.precedence < outer;
    if (cast_result) cast();
    if (parentheses) out += '(';
    if (truncates(e)) {
      floored(e, in_call);
    } else {
      // C computes in 64 bits if one operand has 64 bits. Right operands of the same precedence keep their parentheses:
      // a - (b + c), a * (b / c).
      text(e.lhs(), s.precedence, in_call, is_sum && !fits && !fits_int(range_of(e, *ranges_)));
      ((out += ' ') += s.text) += ' ';
      text(e.rhs(), s.precedence + 1, in_call);
    }
    if (parentheses) out += ')';
  }
  // Appends c * variable + …, in which all coefficients are positive.
  void sum(const Affine& a) {
    for (const Term& term : a.terms) {
      if (!out.empty()) out += " + ";
      variable(term.atom.name(), false);
      if (term.coefficient != 1) (out += " * ") += std::to_string(term.coefficient);
    }
    if (a.constant == 0 && !out.empty()) return;
    if (!out.empty()) out += " + ";
    out += std::to_string(a.constant);
  }
  std::string out;

 private:
  void cast() { ((out += '(') += spell_.long_type) += ')'; }
  void variable(const std::string& name, bool in_long) {
    if (in_long || (wide_ && !is_axis(name))) cast();
    out += name;
  }
  void constant(std::int64_t value, bool in_long) {
    out += std::to_string(value);
    if (in_long) out += spell_.long_suffix;
  }
  void function(const char* name, const Expr& e, bool in_long) {
    (out += name) += '(';
    text(e.lhs(), 0, true, in_long);
    out += ", ";
    text(e.rhs(), 0, true, in_long);
    out += ')';
  }
  bool is_axis(const std::string& name) const {
    return std::any_of(axes_.begin(), axes_.end(), [&](const auto& axis) { return axis.first == name; });
  }
  bool truncates(const Expr& e) const {
    return (e.op() == ExprOp::div || e.op() == ExprOp::mod) && range_of(e.lhs(), axes_).low < 0;
  }
  // True if 32 bits may be too few for a part of the usual text of a division or remainder that rounds down.
  bool overflows(const Expr& e) const {
    const std::int64_t c = e.rhs().value(), low = std::max<std::int64_t>(range_of(e.lhs(), axes_).low, INT32_MIN);
    return !wide_ && (c - 1 > INT32_MAX - c || (e.op() == ExprOp::div && low - floor_mod(low, c) < INT32_MIN));
  }
  // Appends a division or remainder that rounds down: x mod c = (x % c + c) % c; x div c = (x - (x mod c)) / c
  // If that may overflow: x mod c = x % c + (x % c < 0 ? c : 0); x div c = x / c - (x % c < 0)
  void floored(const Expr& e, bool in_call) {
    if (overflows(e)) {
      Text x(axes_, spell_, ranges_);
      x.text(e.lhs(), 6, false);
      const char* form =
          e.op() == ExprOp::div ? "({0} / {1} - ({0} % {1} < 0))" : "({0} % {1} + ({0} % {1} < 0 ? {1} : 0))";
      out += fmt::format(fmt::runtime(form), x.out, e.rhs().value());
      return;
    }
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
  const Ranges* ranges_;
  const Speller& spell_;
  bool wide_;  // axis variables have 64 bits
};

// Computes in 32 bits if they hold each part. Variables that are not axes are i32 values; `of_values` is their range
// here.
std::string code(const Expr& e, const Ranges& axes, const Speller& spell, const Interval& of_values) {
  const bool wide = spell.index_type == spell.long_type;
  bool has_values = false;
  if (!wide)
    for_each_variable(e, [&](const std::string& name) {
      has_values |= std::ranges::find(axes, name, &Ranges::value_type::first) == axes.end();
    });
  const Ranges all = has_values ? with_values(e, axes, of_values) : Ranges();
  const Ranges& ranges = has_values ? all : axes;
  Text text(axes, spell, wide || parts_fit(e, ranges) ? nullptr : &ranges);
  text.text(e, 0, false);
  return std::move(text.out);
}

// Index expressions as vectors: `(int4)(base) + (int4)(0, c, 2c, 3c)`, comparisons of such vectors, and conjunctions of
// comparisons. vector() returns nullopt for other forms, and if 32 bits may be too few.
class Ramp {
 public:
  Ramp(int lanes, const Ranges& axes, const Speller& spell) : lanes_(lanes), axes_(axes), spell_(spell) {}

  std::optional<std::string> vector(const Expr& e) const {
    if (is_condition(e) && depends_on(e, lane_variable)) {
      const bool both = e.op() == ExprOp::land;
      if (both && !(is_condition(e.lhs()) && is_condition(e.rhs()))) return std::nullopt;
      const auto l = vector(e.lhs()), r = vector(e.rhs());
      if (!l || !r) return std::nullopt;
      if (both) return fmt::format("({}) & ({})", *l, *r);
      return fmt::format("{}({}) {} {}({})", sign(e.lhs()), *l, operator_of(e.op()).text, sign(e.rhs()), *r);
    }
    constexpr std::int64_t far = 1 << 20;  // 15 times this is far below the limit of 32 bits
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
  // A true condition is 1 in a scalar, -1 in a lane.
  static const char* sign(const Expr& e) { return is_condition(e) ? "-" : ""; }
  std::string scalar(const Expr& e) const { return "(int)(" + index_code(e, axes_, spell_) + ")"; }

  int lanes_;
  const Ranges& axes_;
  const Speller& spell_;
};

constexpr Interval any_int = {INT32_MIN, INT32_MAX};

}  // namespace

bool is_condition(const Expr& e) {
  return e.kind() == Expr::Kind::binary && (e.op() == ExprOp::lt || e.op() == ExprOp::eq || e.op() == ExprOp::land);
}

std::string index_code(const Expr& e, const Ranges& axes, const Speller& spell) {
  return code(e, axes, spell, any_int);
}

std::string offset_code(const std::vector<Expr>& index, const std::vector<std::int64_t>& strides, const Ranges& axes,
                        const Speller& spell, bool far) {
  std::array<std::byte, 512> buffer;  // enough for most sums
  std::pmr::monotonic_buffer_resource arena(buffer.data(), buffer.size());
  Affine sum(&arena);
  for (std::size_t d = 0; d < index.size(); ++d) sum.add(index[d], strides[d]);
  // If all terms are positive, no part of the sum is greater than the offset.
  const bool plain = !far && !sum.overflow && sum.constant >= 0 && std::ranges::all_of(sum.terms, [](const Term& term) {
    return term.coefficient > 0 && term.atom.kind() == Expr::Kind::variable;
  });
  if (!plain) return code(flat_offset(index, strides), axes, spell, far ? any_int : Interval{0, 0});
  Text text(axes, spell);
  text.sum(sum);
  return std::move(text.out);
}

std::string index_vector(const Expr& e, int lanes, Ranges axes, const Speller& spell) {
  axes.emplace_back(lane_variable, Interval{0, lanes - 1});
  const Ramp ramp(lanes, axes, spell);
  return ramp.vector(e).value_or(ramp.lane_by_lane(e));
}

}  // namespace deplo::ir
