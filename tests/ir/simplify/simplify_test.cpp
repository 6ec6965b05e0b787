#include <gtest/gtest.h>

#include <climits>

#include "drawn_seeds.h"
#include "ir/simplify/clamped.h"
#include "ir/simplify/random_expr.h"
#include "ir/simplify/repeats.h"

namespace deplo::ir {
namespace {

using testing::between;

const Ranges ranges{{"a1", {0, 7}}, {"a2", {0, 255}}, {"a3", {0, 31}}, {"one", {5, 5}}};
const Expr a1 = var("a1"), a2 = var("a2"), a3 = var("a3"), n = var("n");

std::string simplified(const Expr& e) { return print(simplify(e, ranges)); }

TEST(Simplify, SumsReadAsInTheArticles) {
  EXPECT_EQ(simplified(a1 * 256 + a2), "((a1 * 256) + a2)");
  EXPECT_EQ(simplified((a1 * 56 + a2) * 16 + 3), "(((a1 * 896) + (a2 * 16)) + 3)");
  EXPECT_EQ(simplified(a1 + 2 + a2 + 3 - a1), "(a2 + 5)");
  EXPECT_EQ(simplified(5 - a1), "(5 - a1)");
  EXPECT_EQ(simplified(a2 - a1 * 2 - 1), "((a2 - (a1 * 2)) - 1)");
  EXPECT_EQ(simplified(a1 - a1), "0");
  EXPECT_EQ(simplified(var("one") + n), "(n + 5)");
}

TEST(Simplify, DivisionAndRemainder) {
  EXPECT_EQ(simplified((a1 * 256 + a2) / 256), "a1");
  EXPECT_EQ(simplified((a1 * 256 + a2) % 256), "a2");
  EXPECT_EQ(simplified((n * 6 + a1) % 3), "(a1 % 3)");
  EXPECT_EQ(simplified((n * 8 + a2) / 8), "(n + (a2 / 8))");
  EXPECT_EQ(simplified(n / 4 / 8), "(n / 32)");
  EXPECT_EQ(simplified((n % 12) % 4), "(n % 4)");
  EXPECT_EQ(simplified((n % 32) / 8), "((n / 8) % 4)");
  EXPECT_EQ(simplified((a1 * 16 + a3 / 2) / 32), "(a1 / 2)");
  EXPECT_EQ(simplified((a1 * 16 + a3 / 2) % 32), "(((a1 % 2) * 16) + (a3 / 2))");
  EXPECT_EQ(simplified(n / 12 * 12 + n % 12), "n");
  EXPECT_EQ(simplified(min(a1 * 64, 400) / 16), "min((a1 * 4), 25)");
}

TEST(Simplify, MinimumAndComparison) {
  EXPECT_EQ(simplified(min(a1 * 64, 448)), "(a1 * 64)");
  EXPECT_EQ(simplified(min(a1 * 64, 440)), "min((a1 * 64), 440)");
  EXPECT_EQ(simplified(min(n + 3, 10)), "(min(n, 7) + 3)");
  EXPECT_EQ(simplified(min(10, n)), "min(n, 10)");
  EXPECT_EQ(simplified(min(min(n, 10), 7)), "min(n, 7)");
  EXPECT_EQ(simplified(min(n + a1, a1 + 4)), "(a1 + min(n, 4))");
  EXPECT_EQ(simplified(less(a1 * 256 + a2, 2048)), "1");
  EXPECT_EQ(simplified(less(a1 * 256 + a2, 512)), "(a1 < 2)");
  EXPECT_EQ(simplified(less(a1 * 256 + a2, 777)), "(((a1 * 256) + a2) < 777)");
  EXPECT_EQ(simplified(less(a1 * 16, 100)), "(a1 < 7)");
  EXPECT_EQ(simplified(less(a1, 0)), "0");
  EXPECT_EQ(simplified(equal(a1 * 2, 3)), "0");
  EXPECT_EQ(simplified(equal(a1 + 2, 4)), "(a1 == 2)");
  EXPECT_EQ(simplified(Expr(ExprOp::land, less(a1, 100), less(a3, 5))), "(a3 < 5)");
}

TEST(Simplify, UnchangedIsTheSameHandle) {
  for (const Expr& e :
       {a1 * 256 + a2, min(a1 * 64, 440) + a2 * 8 + 3, less(a1 * 256 + a2, 777), n / 4 % 3, 5 - n, n * 2000}) {
    EXPECT_TRUE(simplify(e, ranges).same(e)) << print(e);
  }
}

TEST(Simplify, LeavesAloneWhatOverflows) {
  const Expr huge = INT64_MAX, tiny = INT64_MIN;
  EXPECT_EQ(simplified(huge + 1), print(huge + 1));
  EXPECT_EQ(simplified(n * tiny * 2), print(n * tiny * 2));
  Rng rng(7);
  for (int i = 0; i < 20000; ++i) {
    Expr e = testing::random_expr(rng, 4);
    const std::int64_t extreme[] = {INT64_MAX, INT64_MIN, INT64_MAX / 2, INT64_MIN / 3, 1LL << 32};
    e = substitute(e, {{"a0", extreme[rng.below(5)]}, {"a1", n * extreme[rng.below(5)]}});
    const Ranges wide{{"a2", {INT64_MIN / 2, INT64_MAX / 2}}, {"a3", {INT64_MIN, INT64_MAX}}};
    simplify(e, wide);
    bounds(e, wide);
    known_divisor(e);
    coefficient(e, "n");
  }
}

// Returns what is wrong with the simplification of e, or "".
std::string fault(const Expr& e, const Ranges& scope, const std::vector<testing::Values>& points) {
  const Expr s = simplify(e, scope);
  if (!simplify(s, scope).same(s)) return "not idempotent: " + print(s) + " -> " + print(simplify(s, scope));
  const std::optional<Interval> before = bounds(e, scope), after = bounds(s, scope);
  if (!before || !after) return "no bounds";
  const std::int64_t divisor = known_divisor(e);
  for (const testing::Values& point : points) {
    const std::int64_t expected = evaluate(e, point), found = evaluate(s, point);
    if (expected != found)
      return "-> " + print(s) + " = " + std::to_string(found) + ", expected " + std::to_string(expected);
    if (expected < before->low || expected > before->high) return "bounds exclude " + std::to_string(expected);
    if (expected < after->low || expected > after->high)
      return "bounds of " + print(s) + " exclude " + std::to_string(expected);
    if (divisor == 0 ? expected != 0 : expected % divisor != 0) return "not a multiple of " + std::to_string(divisor);
    const std::optional<std::int64_t> c = coefficient(e, "a0");
    testing::Values next = point;
    ++next[0].second;
    if (c && evaluate(e, next) - expected != *c) return "coefficient of a0 is not " + std::to_string(*c);
  }
  return "";
}

TEST(Simplify, RandomExpressionsKeepTheirMeaning) {
  for (const std::uint64_t seed : drawn_seeds(20000)) {
    Rng rng(seed);
    const Expr e = testing::random_expr(rng, 1 + static_cast<int>(rng.below(5)));
    const Ranges scope = testing::random_ranges(rng);
    std::vector<testing::Values> points;
    for (int i = 0; i < 20; ++i) points.push_back(testing::random_point(rng, scope));
    if (fault(e, scope, points).empty()) continue;
    const Expr smallest = testing::shrink(e, [&](const Expr& x) { return !fault(x, scope, points).empty(); });
    std::string where;
    for (const auto& [name, range] : scope)
      where += " " + name + " in " + std::to_string(range.low) + ".." + std::to_string(range.high);
    FAIL() << "seed " << seed << ": " << print(smallest) << " " << fault(smallest, scope, points) << "; " << where;
  }
}

TEST(WalksOrStands, IndicesOfPaddedTensorsDo) {
  const Expr x = var("x"), y = var("y");
  EXPECT_TRUE(walks_or_stands(Expr(ExprOp::max, min(y * 16 + x, 58), 3) - 3, "x"));
  EXPECT_TRUE(walks_or_stands(min(x, y + x), "x"));
  EXPECT_TRUE(walks_or_stands(x + y / 3, "x"));
  EXPECT_FALSE(walks_or_stands(x * 2, "x"));
  EXPECT_FALSE(walks_or_stands(y - x, "x"));
  EXPECT_FALSE(walks_or_stands(x / 2, "x"));
  EXPECT_FALSE(walks_or_stands(x % 4, "x"));
  EXPECT_FALSE(walks_or_stands(min(x, 3) + min(x, 4), "x"));
  EXPECT_FALSE(walks_or_stands(min(x, x * 2), "x"));
}

TEST(Repeats, NeighboursThatShareAnElementDo) {
  const Expr x = var("x"), y = var("y");
  EXPECT_EQ(repeats_of({x / 8}, "x", 16), 8);
  EXPECT_EQ(repeats_of({y * 2 + x / 8}, "x", 16), 8);
  EXPECT_EQ(repeats_of({x / 2 + 3}, "x", 16), 2);
  EXPECT_EQ(repeats_of({(x + 16) / 4}, "x", 8), 4);
  EXPECT_EQ(repeats_of({x / 8}, "x", 8), 0) << "all lanes have one";
  EXPECT_EQ(repeats_of({x}, "x", 16), 0);
  EXPECT_EQ(repeats_of({y}, "x", 16), 0);
  EXPECT_EQ(repeats_of({x / 3}, "x", 16), 0);
  EXPECT_EQ(repeats_of({y, x / 8}, "x", 16), 8);
  EXPECT_EQ(repeats_of({x / 8, y}, "x", 16), 0) << "rows";
  EXPECT_EQ(repeats_of({x, x / 8}, "x", 16), 0);
  EXPECT_EQ(repeats_of({x / 8 * 2}, "x", 16), 0);
  EXPECT_EQ(repeats_of({(x + 1) / 2}, "x", 16), 0);
}

// Checks the claims of walks_or_stands() against values at many points.
TEST(WalksOrStands, StepsAreZeroOrOne) {
  int found = 0;
  for (const std::uint64_t seed : drawn_seeds(20000)) {
    Rng rng(seed);
    const Expr e = testing::random_expr(rng, 1 + static_cast<int>(rng.below(5)));
    if (!depends_on(e, "a0") || !walks_or_stands(e, "a0")) continue;
    ++found;
    testing::Values at = {{"a0", 0},
                          {"a1", testing::between(rng, 0, 70)},
                          {"a2", testing::between(rng, 0, 70)},
                          {"a3", testing::between(rng, 0, 70)}};
    for (std::int64_t a0 = -40; a0 < 80; ++a0) {
      at[0].second = a0;
      const std::int64_t here = evaluate(e, at);
      at[0].second = a0 + 1;
      const std::int64_t step = evaluate(e, at) - here;
      ASSERT_TRUE(step == 0 || step == 1) << "seed " << seed << ": " << print(e) << " at a0 = " << a0;
    }
  }
  EXPECT_GT(found, 10);
}

}  // namespace
}  // namespace deplo::ir
