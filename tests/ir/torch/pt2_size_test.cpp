// Expressions of sizes in .pt2 files and their guards.
#include <gtest/gtest.h>

#include <string>

#include "ir/torch/pt2/program/size_expression.h"

namespace deplo::ir::torch::pt2 {
namespace {

std::optional<std::int64_t> find(std::string_view name) {
  if (name == "s27" || name == "L['x'][0].size()[1]") return 10;
  return name == "s0" || name == "L['n']" ? std::optional<std::int64_t>(3) : std::nullopt;
}

SizeValue value(std::string_view text) {
  const Evaluated found = evaluate_size(text, find);
  EXPECT_EQ(found.unknown, "") << text;
  return found.value.value_or(std::int64_t{-1000});
}

std::int64_t integer(std::string_view text) { return whole(value(text)).value_or(-1000); }

bool holds(std::string_view text) { return value(text) == SizeValue{true}; }

std::string unknown(std::string_view text) { return evaluate_size(text, find).unknown; }

TEST(Pt2Sizes, ConstructorsOfSymPy) {
  EXPECT_EQ(integer("Symbol('s27', positive=True, integer=True)"), 10);
  EXPECT_EQ(integer("Add(Mul(Integer(2), Symbol('s27', integer=True)), Integer(-1))"), 19);
  EXPECT_EQ(integer("FloorDiv(Add(Symbol('s0', integer=True), Integer(-10)), Integer(2))"), -4);
  EXPECT_EQ(integer("PythonMod(Mul(Integer(-1), Symbol('s27', integer=True)), Integer(4))"), 2);
  EXPECT_EQ(integer("Max(Integer(1), Symbol('s0', integer=True), Symbol('s27', integer=True))"), 10);
  EXPECT_EQ(integer("Min(Integer(1), Symbol('s0', integer=True))"), 1);
  EXPECT_EQ(integer("Pow(Symbol('s27', integer=True), Integer(2))"), 100);
  EXPECT_EQ(integer("Mul(Rational(1, 2), Symbol('s27', integer=True))"), 5);
  EXPECT_EQ(integer("TruncToInt(Mul(Float('1.25', precision=53), ToFloat(Symbol('s27', integer=True))))"), 12);
  EXPECT_EQ(integer("CeilToInt(IntTrueDiv(Symbol('s27', integer=True), Integer(4)))"), 3);
  EXPECT_EQ(value("FloatPow(ToFloat(Symbol('s0', integer=True)), Float('2.0', precision=53))"), SizeValue{9.0});
  EXPECT_TRUE(holds("GreaterThan(Symbol('s27', integer=True), Integer(10))"));
  EXPECT_FALSE(holds("StrictLessThan(Symbol('s27', integer=True), Integer(10))"));
}

TEST(Pt2Sizes, TextOfSymPy) {
  EXPECT_EQ(integer("2*s27 + 1"), 21);
  EXPECT_EQ(integer("(s27//4)"), 2);
  EXPECT_EQ(integer("-s27**2 + s0*s27 - (-s27)//4"), -67);
  EXPECT_EQ(integer("Mod(s27, 4)"), 2);
  EXPECT_EQ(integer("s27/2"), 5);
  EXPECT_EQ(integer("2**3**2"), 512);
  EXPECT_EQ(integer("(-1)**s0"), -1);
  EXPECT_EQ(integer("Max(1, s0 - 5)"), 1);
}

TEST(Pt2Sizes, Guards) {
  EXPECT_TRUE(holds("L['x'][0].size()[1] == 10"));
  EXPECT_TRUE(holds("((-1) + L['x'][0].size()[1]) != (2*L['n'])"));
  EXPECT_TRUE(holds("2 <= L['n'] and not L['n'] == 4"));
  EXPECT_TRUE(holds("L['n'] == 1 or L['x'][0].size()[1] % 5 == 0"));
  EXPECT_TRUE(holds("1 < L['n'] < 4"));
  EXPECT_FALSE(holds("1 < L['n'] < 3"));
  EXPECT_TRUE(holds("math.trunc(0.7*torch.sym_float(L['n'])) == torch.sym_max(1, 2)"));
}

TEST(Pt2Sizes, WhatHasNoValueIsNamed) {
  EXPECT_EQ(unknown("Add(Symbol('u0', integer=True), Integer(1))"), "u0");
  EXPECT_EQ(unknown("Strange(s27)"), "Strange");
  EXPECT_EQ(unknown("Mod(s27)"), "Mod");
  EXPECT_EQ(unknown("s27 s27"), "s27 s27");
  EXPECT_EQ(unknown("L['y'].size()[0] > 2"), "L['y'].size()[0]");
  EXPECT_EQ(unknown("s27 // (s0 - 3)"), "a division by 0");
  EXPECT_EQ(unknown("9223372036854775807 + s0"), "an integer beyond 2^63");
  EXPECT_EQ(unknown("s27**64"), "an integer beyond 2^63");
  EXPECT_EQ(unknown("TruncToInt(1e300)"), "a number beyond 2^53");
  EXPECT_EQ(unknown(std::string(1000, '(')), "an expression of more than 100 levels");
  EXPECT_NE(unknown("Symbol('"), "");
  EXPECT_NE(unknown("L['x"), "");
  EXPECT_NE(unknown(""), "");
}

}  // namespace
}  // namespace deplo::ir::torch::pt2
