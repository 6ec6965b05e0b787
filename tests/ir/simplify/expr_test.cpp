#include "ir/expr.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/op.h"
#include "ir/types/types.h"

namespace deplo::ir {
namespace {

const Expr x = var("x"), y = var("y");

TEST(Expr, PrintsFullyParenthesised) {
  EXPECT_EQ(print(x * 256 + y), "((x * 256) + y)");
  EXPECT_EQ(print(min(x / 2, 5)), "min((x / 2), 5)");
  EXPECT_EQ(print(Expr(ExprOp::max, x % 2, -3)), "max((x % 2), -3)");
  EXPECT_EQ(print(Expr(ExprOp::land, less(x, 3), equal(y, 0))), "((x < 3) && (y == 0))");
  EXPECT_EQ(print(x - 5000), "(x - 5000)");
}

TEST(Expr, EqualityIsStructural) {
  EXPECT_EQ(x * 256 + y, var("x") * 256 + var("y"));
  EXPECT_NE(x + y, y + x);
  EXPECT_NE(x, Expr(0));
  EXPECT_EQ(Expr(100000), Expr(100000));
  EXPECT_TRUE(x.same(Expr(x)));
  EXPECT_FALSE(x.same(var("x")));
}

TEST(Expr, SubstituteIsSimultaneousAndKeepsHandles) {
  const Expr e = x * 2 + y;
  EXPECT_EQ(substitute(e, {{"x", y}, {"y", x}}), y * 2 + x);
  EXPECT_TRUE(substitute(e, {{"z", y}}).same(e));
}

TEST(Expr, Variables) {
  std::vector<std::string> names{"y"};
  collect_variables(min(x + y, x * var("z")), names);
  EXPECT_EQ(names, (std::vector<std::string>{"y", "x", "z"}));
  EXPECT_TRUE(depends_on(min(x, 3), "x"));
  EXPECT_FALSE(depends_on(min(x, 3), "y"));
}

TEST(Expr, Coefficient) {
  EXPECT_EQ(coefficient((x * 3 + y) * 4 - x, "x"), 11);
  EXPECT_EQ(coefficient(y / 4 + 7, "x"), 0);
  EXPECT_EQ(coefficient(x / 4, "x"), std::nullopt);
  EXPECT_EQ(coefficient(x * x, "x"), std::nullopt);
  EXPECT_EQ(coefficient(x * y, "x"), std::nullopt);
  EXPECT_EQ(coefficient(x * INT64_MAX * 3, "x"), std::nullopt);
}

TEST(Expr, KnownDivisor) {
  EXPECT_EQ(known_divisor(x * 12 + y * 8 + 4), 4);
  EXPECT_EQ(known_divisor(min(x * 64, 448)), 64);
  EXPECT_EQ(known_divisor(x * 64 / 16), 4);
  EXPECT_EQ(known_divisor(x * 64 % 48), 16);
  EXPECT_EQ(known_divisor(0), 0);
  EXPECT_EQ(known_divisor(x), 1);
}

TEST(Expr, Bounds) {
  const Ranges ranges{{"x", {0, 7}}, {"y", {-3, 3}}, {"x", {0, 1}}};  // the inner x shadows the outer x
  EXPECT_EQ(bounds(x * 64 + y, ranges), (Interval{-3, 67}));
  EXPECT_EQ(bounds(y / 2, ranges), (Interval{-2, 1}));
  EXPECT_EQ(bounds(y % 2, ranges), (Interval{0, 1}));
  EXPECT_EQ(bounds(x * y, ranges), (Interval{-3, 3}));
  EXPECT_EQ(bounds(less(x, 2), ranges), (Interval{1, 1}));
  EXPECT_EQ(bounds(var("n"), ranges), std::nullopt);
  EXPECT_EQ(bounds(min(var("n"), 4), ranges), std::nullopt);
  EXPECT_EQ(bounds(var("n") % 4, ranges), (Interval{0, 3}));
  EXPECT_EQ(bounds(x * INT64_MAX + x * INT64_MAX, ranges), std::nullopt);
}

TEST(Expr, EvaluatesWithFloorDivision) {
  EXPECT_EQ(evaluate(x / 4, {{"x", -1}}), -1);
  EXPECT_EQ(evaluate(x % 4, {{"x", -1}}), 3);
  EXPECT_EQ(evaluate(less(x, y), {{"x", 1}, {"y", 2}}), 1);
  EXPECT_EQ(evaluate(Expr(ExprOp::land, x, y), {{"x", 2}, {"y", 1}}), 1);
}

TEST(Op, NamesReadBack) {
  for (int i = 0; i <= static_cast<int>(Op::lanes_minimum); ++i)
    EXPECT_EQ(parse_op(name(static_cast<Op>(i))), static_cast<Op>(i));
  EXPECT_EQ(parse_op("mul"), std::nullopt);
}

TEST(Op, AppliesAndReduces) {
  const auto f = [](Op op, std::vector<double> args) { return ir::apply(op, args); };
  EXPECT_EQ(f(Op::fma, {2, 3, 4}), 10);
  EXPECT_EQ(f(Op::subtract, {2, 3}), -1);
  EXPECT_DOUBLE_EQ(f(Op::sigmoid, {0}), 0.5);
  EXPECT_DOUBLE_EQ(f(Op::rsqrt, {4}), 0.5);
  EXPECT_TRUE(std::isnan(f(Op::maximum, {NAN, 1})) && std::isnan(f(Op::maximum, {1, NAN})));
  for (const Op op : {Op::add, Op::multiply, Op::maximum, Op::minimum}) {
    EXPECT_EQ(f(op, {*neutral(op), -2.5}), -2.5);
    EXPECT_TRUE(horizontal(op));
  }
  EXPECT_EQ(neutral(Op::divide), std::nullopt);
}

TEST(Types, SpanFollowsTheStrides) {
  EXPECT_EQ(row_major_strides({2, 3, 4}), (std::vector<std::int64_t>{12, 4, 1}));
  EXPECT_EQ(span(Buffer{"b", DType::f32, Role::input, {3, 4}, {8, 1}}), 20);
  EXPECT_EQ(span(Buffer{"b", DType::f32, Role::input, {}, {}}), 1);
  EXPECT_EQ(element_count(Buffer{"b", DType::f32, Role::input, {3, 4}, {8, 1}}), 12);
}

TEST(Expr, AConditionNarrowsWhatItBounds) {
  const Ranges ranges = {{"x", {0, 9}}, {"y", {2, 5}}};
  const auto narrow = [&](const Expr& condition) { return narrowed(ranges, condition); };
  EXPECT_EQ(narrow(less(x + 2, 10)), (Ranges{{"x", {0, 7}}, {"y", {2, 5}}}));
  EXPECT_EQ(narrow(less(3, x)), (Ranges{{"x", {4, 9}}, {"y", {2, 5}}}));
  EXPECT_EQ(narrow(less(x, y)), (Ranges{{"x", {0, 4}}, {"y", {2, 5}}}));
  EXPECT_EQ(narrow({ExprOp::land, less(x, 8), less(2, y)}), (Ranges{{"x", {0, 7}}, {"y", {3, 5}}}));
  EXPECT_EQ(narrow(less(x * 2, 8)), ranges);  // a bound on x * 2 does not narrow x
  EXPECT_EQ(narrow(less(x, 100)), ranges);
  EXPECT_EQ(narrow(less(x, var("z"))), ranges);
  EXPECT_EQ(narrow(1), ranges);
}

}  // namespace
}  // namespace deplo::ir
