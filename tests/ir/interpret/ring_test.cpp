// The exact arithmetic: its laws, and which results are the same as those of ordinary numbers.
#include "ir/interpret/arithmetic/ring.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "drawn_seeds.h"
#include "ir/program.h"

namespace deplo::ir::ring_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr int cases = 2000;

const Ring& ring() {
  static const Ring all{Program{}};
  return all;
}

double apply(Op op, double a, double b = 0, double c = 0) {
  double result = 0;
  ring().apply(op, 1, &result, &a, &b, &c);
  return result;
}
double add(double a, double b) { return apply(Op::add, a, b); }
double times(double a, double b) { return apply(Op::multiply, a, b); }
double number(double value) { return ring().constant(value); }

/// Calls `f` with three elements in each case.
template <class F>
void for_each_case(F f) {
  for (const std::uint64_t seed : drawn_seeds(cases)) {
    SCOPED_TRACE(seed);
    f(Ring::element(3 * seed), Ring::element(3 * seed + 1), Ring::element(3 * seed + 2));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Ring, HasTheLawsOfAField) {
  for_each_case([](double x, double y, double z) {
    EXPECT_EQ(add(add(x, y), z), add(x, add(y, z)));
    EXPECT_EQ(add(x, y), add(y, x));
    EXPECT_EQ(times(times(x, y), z), times(x, times(y, z)));
    EXPECT_EQ(times(x, add(y, z)), add(times(x, y), times(x, z)));
    EXPECT_EQ(times(x, y), times(y, x));
    EXPECT_EQ(add(x, 0), x);
    EXPECT_EQ(times(x, number(1)), x);
    EXPECT_EQ(add(x, apply(Op::negative, x)), 0);
    EXPECT_EQ(apply(Op::subtract, x, y), add(x, apply(Op::negative, y)));
    EXPECT_EQ(times(apply(Op::divide, x, y), y), x);
    EXPECT_EQ(apply(Op::divide, x, y), times(x, apply(Op::reciprocal, y)));
    EXPECT_EQ(apply(Op::fma, x, y, z), add(times(x, y), z));
    const double left[] = {x, y}, right[] = {y, z};
    EXPECT_EQ(ring().dot(z, left, right), add(add(z, times(x, y)), times(y, z)));
  });
}

TEST(Ring, MakesAHomomorphismOfTheExponential) {
  EXPECT_EQ(apply(Op::exp, 0), number(1));
  for_each_case([](double x, double y, double) {
    EXPECT_EQ(apply(Op::exp, add(x, y)), times(apply(Op::exp, x), apply(Op::exp, y)));
    EXPECT_EQ(apply(Op::exp, apply(Op::exp, add(x, y))), apply(Op::exp, times(apply(Op::exp, x), apply(Op::exp, y))));
    EXPECT_EQ(apply(Op::exp2, times(x, number(std::numbers::log2e))), apply(Op::exp, x));
    EXPECT_NE(apply(Op::exp, x), apply(Op::exp, y));
  });
}

TEST(Ring, OrdersElements) {
  for_each_case([](double x, double y, double z) {
    EXPECT_EQ(apply(Op::maximum, apply(Op::maximum, x, y), z), apply(Op::maximum, x, apply(Op::maximum, y, z)));
    EXPECT_EQ(apply(Op::maximum, x, -infinity), x);
    EXPECT_EQ(apply(Op::maximum, x, number(-std::numeric_limits<float>::max())), x);
    EXPECT_EQ(apply(Op::relu, x), apply(Op::maximum, x, 0));
    EXPECT_EQ(apply(Op::absolute, x), apply(Op::absolute, apply(Op::negative, x)));
    EXPECT_EQ(apply(Op::less, x, y) + apply(Op::less_equal, y, x), 1);
  });
  int negative = 0;
  for_each_case([&](double x, double, double) { negative += x < 0 ? 1 : 0; });
  EXPECT_NEAR(negative, cases / 2, cases / 10) << "a function of the sign would not be seen";
  for (int i = -100; i < 100; ++i) EXPECT_EQ(apply(Op::less, number(i), number(i + 1)), 1) << i;
}

TEST(Ring, KeepsTheAlgebraOfConstants) {
  // Sums and products of these values are exact in double.
  const double values[] = {0, 1, -1, 0.5, -0.75, 3, 1e6, 0x1p-10, -0x1p30, 0x1.5p-12};
  for (const double a : values)
    for (const double b : values) {
      EXPECT_EQ(add(number(a), number(b)), number(a + b)) << a << " + " << b;
      EXPECT_EQ(times(number(a), number(b)), number(a * b)) << a << " * " << b;
      EXPECT_EQ(number(a) == number(b), a == b);
    }
  EXPECT_EQ(apply(Op::divide, number(0.2), number(3)), number(0.2 / 3));
  EXPECT_EQ(times(number(49), number(1.0 / 49)), number(1));
  EXPECT_NE(number(std::nextafter(0.2, 1)), number(0.2));
  EXPECT_NE(number(static_cast<double>(0.2F)), number(0.2));
  for (int i = -50; i < 50; ++i) EXPECT_EQ(ring().integer(number(i), DType::i32), i);
}

TEST(Ring, ADotIsTheSumOfItsProducts) {
  Rng rng(9);
  const auto expect_same = [](double x, double y) {
    EXPECT_TRUE(std::isnan(x) ? std::isnan(y) : ring().canonical(x) == ring().canonical(y)) << x << " " << y;
  };
  for (int turn = 0; turn < cases; ++turn) {
    const auto draw = [&] {
      constexpr double special[] = {0, -0.0, 0x1p70, infinity, nan};
      if (turn % 4 == 0 && rng.below(8) == 0) return special[rng.below(std::size(special))];
      return rng.below(3) == 0 ? number(rng.uniform(-5, 5)) : Ring::element(rng.next());
    };
    std::vector<double> a, b;
    for (std::uint64_t k = rng.below(40); k > 0; --k) a.push_back(draw()), b.push_back(draw());
    const double start = draw();
    double sum = start;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double before = std::exchange(sum, add(times(a[k], b[k]), sum));
      expect_same(sum, apply(Op::fma, a[k], b[k], before));
    }
    expect_same(sum, ring().dot(start, a, b));
  }
}

TEST(Ring, KeepsInfinitiesAndNaN) {
  const double x = Ring::element(1), large = number(-std::numeric_limits<float>::max());
  EXPECT_EQ(add(x, -infinity), -infinity);
  EXPECT_EQ(apply(Op::subtract, -infinity, large), -infinity);
  EXPECT_EQ(apply(Op::exp, -infinity), 0);
  EXPECT_EQ(times(infinity, number(-2)), -infinity);
  EXPECT_EQ(apply(Op::divide, x, infinity), 0);
  EXPECT_EQ(apply(Op::log, 0), -infinity);
  EXPECT_EQ(apply(Op::subtract, large, large), 0);
  for (const double v : {add(infinity, -infinity), times(0, infinity), add(nan, x), apply(Op::divide, 0, 0)})
    EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(add(large, number(1)), add(ring().canonical(large), number(1)));
  EXPECT_NE(ring().canonical(large), large);
}

// The hash of a function depends on the function and on its operand, and on nothing else.
TEST(Ring, HashesOtherFunctions) {
  for (const Op op : {Op::log, Op::sqrt, Op::tanh, Op::sigmoid, Op::erf, Op::sin, Op::cos}) {
    const double x = Ring::element(1), y = Ring::element(2);
    EXPECT_EQ(apply(op, x), apply(op, x));
    EXPECT_NE(apply(op, x), apply(op, y));
    EXPECT_NE(apply(op, x), apply(Op::exp, x));
  }
  EXPECT_EQ(apply(Op::tanh, 0), 0);
  EXPECT_EQ(apply(Op::sigmoid, 0), number(0.5));
  EXPECT_EQ(times(apply(Op::rsqrt, Ring::element(1)), apply(Op::sqrt, Ring::element(1))), number(1));
  EXPECT_EQ(apply(Op::power, Ring::element(1), number(2)), times(Ring::element(1), Ring::element(1)));
}

}  // namespace
}  // namespace deplo::ir::ring_test
