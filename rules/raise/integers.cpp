// Integers as index expressions. A scalar that has no such form, or none that is affine, becomes an unknown. The store
// that uses it solves for the unknown.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "ir/tile_program/attribute.h"
#include "rules/raise/evaluator.h"

namespace deplo::rules::raising {
namespace {

bool is_affine(const ir::Expr& e) {
  if (e.kind() != ir::Expr::Kind::binary) return true;
  const bool sum = e.op() == ir::ExprOp::add || e.op() == ir::ExprOp::sub;
  if (!sum && e.op() != ir::ExprOp::mul) return false;
  return is_affine(e.lhs()) && is_affine(e.rhs()) && (sum || e.rhs().kind() == ir::Expr::Kind::constant);
}

/// Is the expression a number of the block, i.e. does it depend on unknowns and on nothing else?
bool is_of_block(const ir::Expr& e) {
  const std::vector<std::string> names = ir::variables(e);
  return !names.empty() && std::ranges::all_of(names, [](const std::string& name) {
    return name.size() > 1 && (name[0] == 'b' || name[0] == 'l' || name[0] == 's');
  });
}

class Integers {
 public:
  Integers(Evaluator& in, const tp::Operation& op, const Index& index) : in_(in), op_(op), index_(index) {}

  /// The number that the operation reads. The signed number of one bit is -1.
  ir::Expr operand(std::size_t i) {
    const Element number = element(i);
    if (number.value != ValueId::none) refuse("expected an index expression, found an i1 that is a value");
    const bool truth = in_.type(op_.operands[i]).element == ir::DType::boolean;
    return in_.elements.simplify(truth && has_attribute(op_, "signedness") && is_signed() ? 0 - number.index
                                                                                          : number.index);
  }
  Element element(std::size_t i) { return in_.operand(op_, i, index_); }
  bool scalar() const { return in_.type(op_.results[0]).shape.empty(); }
  ir::DType type() const { return in_.type(op_.results[0]).element; }

  /// The result, in its simplest form.
  Element give(const ir::Expr& e) {
    const ir::Expr simple = in_.elements.simplify(e);
    const auto range = in_.elements.bounds(simple);
    if (range) expect_fits(*range);
    if (scalar() && !is_affine(simple) && is_of_block(simple)) return {in_.unknown(ir::print(simple), range)};
    return {simple};
  }
  /// The result of an operation that index expressions cannot represent: an unknown.
  Element give_unknown(const std::vector<ir::Expr>& operands) {
    std::string key(op_.form->name), found;
    bool of_block = true;
    for (const ir::Expr& e : operands) {
      key += " " + ir::print(e);
      found += (found.empty() ? "" : " and ") + ir::print(e);
      of_block = of_block && (e.kind() == ir::Expr::Kind::constant || is_of_block(e));
    }
    for (const std::string_view attribute : {"signedness", "rounding"})
      if (has_attribute(op_, attribute)) key += fmt::format(" {}", op_.number(attribute));
    if (!scalar() || !of_block)
      in_.refuse(op_, fmt::format("expected operands whose result is an index expression, found {}", found));
    return {in_.unknown(key)};
  }
  /// Refuses the operation if the range has numbers that the result's type cannot hold as signed numbers, or i1 as 0 or
  /// 1. So every index expression is the number that a signed operation reads.
  void expect_fits(const ir::Interval& range) const {
    const int w = ir::width(type());
    const std::int64_t end = w == 1   ? 2
                             : w < 62 ? std::int64_t{1} << (w - 1)
                                      : std::numeric_limits<std::int64_t>::max();
    if (range.low < (w == 1 ? 0 : -end) || range.high >= end)
      in_.refuse(op_, fmt::format("expected a number that fits in {}, found {} to {}", ir::tile_name(type()), range.low,
                                  range.high));
  }
  bool is_at_least(const ir::Expr& e, std::int64_t low) {
    const auto range = in_.elements.bounds(e);
    return range && range->low >= low;
  }
  bool is_signed() const { return op_.number("signedness") == static_cast<std::int64_t>(tp::Signedness::is_signed); }
  [[noreturn]] void refuse(const std::string& why) { in_.refuse(op_, why); }
  const tp::Operation& op() const { return op_; }

 private:
  Evaluator& in_;
  const tp::Operation& op_;
  const Index& index_;
};

bool constant(const ir::Expr& e) { return e.kind() == ir::Expr::Kind::constant; }

// --- Arithmetic ------------------------------------------------------------------------------------------------------

template <Element operation(Integers&, const ir::Expr&, const ir::Expr&)>
Element binary(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Integers now(in, op, index);
  const ir::Expr a = now.operand(0), b = now.operand(1);
  return operation(now, a, b);
}

Element add(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Integers now(in, op, index);
  return now.give(now.operand(0) + now.operand(1));
}
Element subtract(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Integers now(in, op, index);
  return now.give(now.operand(0) - now.operand(1));
}
Element negate(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Integers now(in, op, index);
  return now.give(0 - now.operand(0));
}
Element multiply(Integers& now, const ir::Expr& a, const ir::Expr& b) {
  if (!constant(a) && !constant(b)) return now.give_unknown({a, b});
  return now.give(constant(a) ? b * a : a * b);
}

/// Requires constants, or a quotient whose rounding is known to be the same as rounding down.
Element divide(Integers& now, const ir::Expr& a, const ir::Expr& b) {
  const auto rounding = static_cast<ir::Rounding>(now.op().number("rounding"));
  if (b.is_constant(0)) now.refuse("expected a divisor other than 0");
  const bool whole = constant(b) && b.value() > 0 && (now.is_signed() || now.is_at_least(a, 0));
  if (whole && rounding == ir::Rounding::positive_inf) return now.give((a + (b.value() - 1)) / b);
  if (whole && (rounding == ir::Rounding::negative_inf || now.is_at_least(a, 0))) return now.give(a / b);
  if (constant(a) && constant(b) && now.is_signed()) {
    const std::int64_t towards_zero = a.value() / b.value();
    const bool rest = a.value() % b.value() != 0, negative = (a.value() < 0) != (b.value() < 0);
    const bool up = rounding == ir::Rounding::positive_inf && rest && !negative;
    const bool down = rounding == ir::Rounding::negative_inf && rest && negative;
    return now.give(towards_zero + (up ? 1 : 0) - (down ? 1 : 0));
  }
  return now.give_unknown({a, b});
}

Element remainder(Integers& now, const ir::Expr& a, const ir::Expr& b) {
  if (b.is_constant(0)) now.refuse("expected a divisor other than 0");
  if (constant(a) && constant(b) && now.is_signed()) return now.give(a.value() % b.value());
  if (constant(b) && b.value() > 0 && now.is_at_least(a, 0)) return now.give(a % b);
  return now.give_unknown({a, b});
}

template <ir::ExprOp word>
Element extremum(Integers& now, const ir::Expr& a, const ir::Expr& b) {
  if (!now.is_signed() && !(now.is_at_least(a, 0) && now.is_at_least(b, 0))) return now.give_unknown({a, b});
  return now.give({word, a, b});
}
Element absolute(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Integers now(in, op, index);
  const ir::Expr a = now.operand(0);
  return now.give(ir::Expr(ir::ExprOp::max, a, 0 - a));
}

Element shift_left(Integers& now, const ir::Expr& a, const ir::Expr& b) {
  if (!constant(b) || b.value() < 0 || b.value() > 62) return now.give_unknown({a, b});
  return now.give(a * (std::int64_t{1} << b.value()));
}
Element shift_right(Integers& now, const ir::Expr& a, const ir::Expr& b) {
  const bool floors = now.is_signed() || now.is_at_least(a, 0);
  if (!constant(b) || b.value() < 0 || b.value() > 62 || !floors) return now.give_unknown({a, b});
  return now.give(a / (std::int64_t{1} << b.value()));
}

// --- Conditions and bits ---------------------------------------------------------------------------------------------

/// and, or, exclusive or of truth values, or of the bits of integers if index expressions can represent the result.
template <tp::Rmw mode>
Element bits(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Integers now(in, op, index);
  const Element a = now.element(0), b = now.element(1);
  if (now.type() == ir::DType::boolean && (a.value != ValueId::none || b.value != ValueId::none)) {
    const tp::Type& type = in.type(op.results[0]);
    const ir::Op word = mode == tp::Rmw::band  ? ir::Op::logical_and
                        : mode == tp::Rmw::bor ? ir::Op::logical_or
                                               : ir::Op::not_equal;
    return {0, in.elements.assign(word, {in.value_of(type, a), in.value_of(type, b)}, ir::DType::boolean)};
  }
  const ir::Expr x = now.operand(0), y = now.operand(1);
  if (now.type() == ir::DType::boolean) {
    if (mode == tp::Rmw::band) return now.give({ir::ExprOp::land, x, y});
    if (mode == tp::Rmw::bor) return now.give({ir::ExprOp::max, x, y});
    return now.give({ir::ExprOp::bxor, x, y});
  }
  if (mode == tp::Rmw::band && constant(y) && std::has_single_bit(static_cast<std::uint64_t>(y.value()) + 1) &&
      y.value() >= 0)
    return now.give(x % (y.value() + 1));
  if (mode == tp::Rmw::bxor && now.is_at_least(x, 0) && now.is_at_least(y, 0))
    return now.give({ir::ExprOp::bxor, x, y});
  return now.give_unknown({x, y});
}

Element compare(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Integers now(in, op, index);
  using enum tp::Comparison;
  auto comparison = static_cast<tp::Comparison>(op.number("comparison_predicate"));
  ir::Expr a = now.operand(0), b = now.operand(1);
  if (comparison == equal) return now.give(ir::equal(a, b));
  if (comparison == not_equal) return now.give(1 - ir::equal(a, b));
  if (comparison == greater || comparison == greater_equal) std::swap(a, b);
  const bool strict = comparison == less || comparison == greater;
  const ir::Expr below = ir::less(a, strict ? b : b + 1);
  if (now.is_signed() || (now.is_at_least(a, 0) && now.is_at_least(b, 0))) return now.give(below);
  // As an unsigned number, a negative number is greater than all others.
  if (now.is_at_least(b, 0)) return now.give({ir::ExprOp::land, ir::less(-1, a), below});
  return now.give_unknown({a, b});
}

// --- Conversions -----------------------------------------------------------------------------------------------------

Element extend(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Integers now(in, op, index);
  if (const ValueId condition = now.element(0).value; condition != ValueId::none) {
    const ir::Expr number = ir::var(loaded_name(in.elements.assign(ir::Op::copy, {condition}, ir::DType::i32)));
    return {now.is_signed() ? 0 - number : number};
  }
  const ir::Expr a = now.operand(0);
  if (!now.is_signed() && !now.is_at_least(a, 0)) return now.give_unknown({a});
  return now.give(a);
}

Element truncate(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Integers now(in, op, index);
  const ir::Expr a = now.operand(0);
  if (now.type() == ir::DType::boolean) return now.give(a % 2);
  const auto range = in.elements.bounds(a);
  const std::int64_t half = std::int64_t{1} << (ir::width(now.type()) - 1);
  const bool fits = range && range->low >= -half && range->high < half;
  if (!fits && op.number("overflow") == static_cast<std::int64_t>(tp::Overflow::none)) return now.give_unknown({a});
  return now.give(a);
}

Element iota(Evaluator& in, const tp::Operation& op, std::size_t, const Index& index) {
  Integers(in, op, index).expect_fits({0, in.type(op.results[0]).shape[0] - 1});
  return {index[0]};
}
Element block_id(Evaluator& in, const tp::Operation&, std::size_t result, const Index&) { return {in.block(result)}; }
Element block_count(Evaluator& in, const tp::Operation&, std::size_t result, const Index&) {
  return {in.launch.grid.at(result)};
}

}  // namespace

std::vector<NamedRaiser> integer_raisers() {
  return {{"absi", absolute},
          {"addi", add},
          {"andi", bits<tp::Rmw::band>},
          {"cmpi", compare},
          {"divi", binary<divide>},
          {"exti", extend},
          {"get_num_tile_blocks", block_count},
          {"get_tile_block_id", block_id},
          {"iota", iota},
          {"maxi", binary<extremum<ir::ExprOp::max>>},
          {"mini", binary<extremum<ir::ExprOp::min>>},
          {"muli", binary<multiply>},
          {"negi", negate},
          {"ori", bits<tp::Rmw::bor>},
          {"remi", binary<remainder>},
          {"shli", binary<shift_left>},
          {"shri", binary<shift_right>},
          {"subi", subtract},
          {"trunci", truncate},
          {"xori", bits<tp::Rmw::bxor>}};
}

}  // namespace deplo::rules::raising
