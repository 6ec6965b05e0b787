// Hashes of expressions: rewrites that are exact in floats keep the hash, and all others change it.
#include "ir/interpret/arithmetic/order.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/interpret/fingerprint.h"

namespace deplo::ir::order_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double apply(Op op, double a, double b = 0, double c = 0) {
  double result = 0;
  Order().apply(op, 1, &result, &a, &b, &c);
  return result;
}
double add(double a, double b) { return apply(Op::add, a, b); }
double times(double a, double b) { return apply(Op::multiply, a, b); }
double negative(double a) { return apply(Op::negative, a); }

template <class F>
void for_each_case(F f) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    f(Order::element(3 * seed), Order::element(3 * seed + 1), Order::element(3 * seed + 2));
}

TEST(Order, KnowsWhatIsExact) {
  for_each_case([](double x, double y, double z) {
    EXPECT_EQ(add(x, y), add(y, x));
    EXPECT_EQ(times(x, y), times(y, x));
    EXPECT_EQ(add(x, 0), x);
    EXPECT_EQ(times(x, Order().constant(1)), x);
    EXPECT_EQ(times(x, Order().constant(-1)), negative(x));
    EXPECT_EQ(add(negative(x), negative(y)), negative(add(x, y)));
    EXPECT_EQ(apply(Op::subtract, x, y), add(x, negative(y)));
    EXPECT_EQ(apply(Op::subtract, x, x), 0);
    EXPECT_EQ(times(negative(x), y), negative(times(x, y)));
    EXPECT_EQ(apply(Op::fma, x, y, 0), times(x, y));
    EXPECT_EQ(apply(Op::fma, y, x, z), apply(Op::fma, x, y, z));
    EXPECT_EQ(apply(Op::fma, negative(x), y, negative(z)), negative(apply(Op::fma, x, y, z)));
    EXPECT_EQ(apply(Op::fma, x, Order().constant(1), z), add(x, z));
    EXPECT_EQ(apply(Op::maximum, apply(Op::maximum, x, y), z), apply(Op::maximum, x, apply(Op::maximum, y, z)));
    EXPECT_EQ(apply(Op::maximum, x, y), negative(apply(Op::minimum, negative(x), negative(y))));
    const double rounded = Order().stored(x, DType::f16);
    EXPECT_EQ(Order().stored(rounded, DType::f16), rounded);
    EXPECT_EQ(apply(Op::round_tf32, rounded), rounded);
    EXPECT_EQ(Order().stored(negative(x), DType::f16), negative(rounded));
  });
}

TEST(Order, TellsOrdersApart) {
  for_each_case([](double x, double y, double z) {
    EXPECT_NE(add(add(x, y), z), add(x, add(y, z)));
    EXPECT_NE(times(times(x, y), z), times(x, times(y, z)));
    EXPECT_NE(times(x, add(y, z)), add(times(x, y), times(x, z)));
    EXPECT_NE(apply(Op::fma, x, y, z), add(times(x, y), z));
    EXPECT_NE(apply(Op::divide, x, y), times(x, apply(Op::reciprocal, y)));
    EXPECT_NE(apply(Op::exp, add(x, y)), times(apply(Op::exp, x), apply(Op::exp, y)));
    EXPECT_NE(Order().stored(x, DType::f16), x);
    EXPECT_NE(Order().stored(x, DType::f16), Order().stored(x, DType::bf16));
    const double a[] = {x, y}, b[] = {y, z}, c[] = {y, x}, d[] = {z, y};
    EXPECT_NE(Order().dot(z, a, b), apply(Op::fma, y, z, apply(Op::fma, x, y, z)));
    EXPECT_NE(Order().dot(z, a, b), Order().dot(z, c, d));
  });
}

TEST(Order, KeepsInfinities) {
  const double x = Order::element(1);
  EXPECT_EQ(add(x, -infinity), -infinity);
  EXPECT_EQ(apply(Op::exp, -infinity), 0);
  EXPECT_EQ(apply(Op::maximum, x, Order().constant(-std::numeric_limits<float>::max())), x);
  EXPECT_TRUE(std::isnan(add(infinity, -infinity)));
}

Fingerprint of(const std::string& kernel) {
  const Program program = parse("=== kernel: sum ===\ninput x: f32[8, 64]\noutput y: f32[8]\n" + kernel);
  return fingerprint(program, program, {});
}

const std::string in_a_row = R"(Tile(axes=(a0:8=BLOCK, a1:1=THREAD)):
  Init(acc0, op=add)
  for a2 in 0..64: # reduce
    in0 = load x[a0, a2]
    acc0 <- add(acc0, in0)
  y[a0] = acc0
)";

TEST(Fingerprint, IsThatOfTheOrderAlone) {
  const std::string other_launch = R"(Tile(axes=(a0:2=BLOCK, a1:4=THREAD)):
  Init(acc0, op=add)
  for a2 in 0..4: # reduce
    for a3 in 0..16: # reduce
      in0 = load x[((a0 * 4) + a1), ((a2 * 16) + a3)]
      acc0 <- add(acc0, in0)
  y[((a0 * 4) + a1)] = acc0
)",
                    in_halves = R"(Tile(axes=(a0:8=BLOCK, a1:1=THREAD)):
  Init(acc0, op=add)
  Init(acc1, op=add)
  for a2 in 0..32: # reduce
    in0 = load x[a0, a2]
    in1 = load x[a0, (a2 + 32)]
    acc0 <- add(acc0, in0)
    acc1 <- add(acc1, in1)
  v0 = add(acc0, acc1)
  y[a0] = v0
)";
  ASSERT_TRUE(of(in_a_row).is_known()) << print(of(in_a_row));
  EXPECT_EQ(of(in_a_row), of(other_launch));
  EXPECT_NE(of(in_a_row), of(in_halves));
  EXPECT_THAT(print(of(in_a_row)), ::testing::MatchesRegex("[0-9a-f]+"));
}

TEST(Fingerprint, IsUnknownIfTheOrderIs) {
  const Fingerprint found = of(R"(Tile(axes=(a0:8=BLOCK, a1:2=BLOCK, a2:1=THREAD)):
  Init(acc0, op=add)
  for a3 in 0..32: # reduce
    in0 = load x[a0, ((a1 * 32) + a3)]
    acc0 <- add(acc0, in0)
  y[a0] += acc0
)");
  EXPECT_EQ(print(found), "unknown: its blocks add to y in any order");
}

}  // namespace
}  // namespace deplo::ir::order_test
