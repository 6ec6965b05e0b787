// Tests proofs about conditions: those that raising needs, and random ones, which must hold for all numbers.
#include "rules/raise/proofs.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "drawn_seeds.h"

namespace deplo::rules::raising {
namespace {

using ir::Expr;
using ir::less;

const Expr x = ir::var("x"), y = ir::var("y"), z = ir::var("z");

// Causal attention with key x and query y, in tiles of 128.
TEST(Proofs, TilesOfKeysAndQueries) {
  const ir::Ranges ranges = {{"x", {0, 1023}}, {"y", {0, 999}}};
  const Expr causal = less(x, y + 1);
  EXPECT_TRUE(implies({less(x / 128, y / 128)}, causal, ranges));                // tiles before the query's
  EXPECT_FALSE(implies({less(x / 128, y / 128 + 1)}, causal, ranges));           // the query's tile is partly hidden
  EXPECT_TRUE(implies({less(y / 128, x / 128)}, negations(causal)[0], ranges));  // tiles after it
  const Expr end = (ir::min(y / 128 * 128 + 128, 1000) + 127) / 128;             // the program's last tile
  EXPECT_TRUE(implies({negations(less(x / 128, end))[0]}, negations(causal)[0], ranges));
  EXPECT_FALSE(implies({negations(less(x / 128, end - 1))[0]}, negations(causal)[0], ranges));
}

TEST(Proofs, WholeNumbers) {
  EXPECT_TRUE(implies({less(3, x * 2)}, less(1, x), {{"x", {-9, 9}}}));
  EXPECT_TRUE(implies({less(x * 2, y * 2 + 1)}, less(x, y + 1), {}));  // x and y have no bounds
  EXPECT_TRUE(implies({ir::equal(x, 3)}, less(x % 4, 4), {}));
  EXPECT_TRUE(implies({ir::equal(x, 7)}, ir::equal(x % 4, 3), {}));
  EXPECT_FALSE(implies({}, less(x, 5), {{"x", {0, 5}}}));
  EXPECT_TRUE(implies({less(x, 0)}, less(x, -7), {{"x", {0, 5}}}));  // the premise never holds
}

TEST(Proofs, Quotients) {
  const Expr r = ir::var("r1");
  EXPECT_EQ(ir::print(ir::simplify(without_quotients(less(r / 8, y)))), ir::print(ir::simplify(less(r, y * 8))));
  EXPECT_EQ(without_quotients(less(x / 8, y)), less(x / 8, y));  // x is not a reduce axis
  for (std::int64_t of = -9; of < 40; ++of)
    for (std::int64_t bound = -3; bound < 7; ++bound)
      for (const Expr& e : {less(r / 8, y), less(y, r / 8), less(y + 1, r / 8 + 3), less(r / 8 + 1, 2 - y)})
        EXPECT_EQ(ir::evaluate(e, {{"r1", of}, {"y", bound}}),
                  ir::evaluate(without_quotients(e), {{"r1", of}, {"y", bound}}))
            << ir::print(e) << " " << of << " " << bound;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : rng_(seed) {}
  Expr sum(int depth) {
    const Expr leaf = std::array<Expr, 3>{x, y, z}[rng_.below(3)];
    if (depth == 0) return rng_.below(4) == 0 ? Expr(number(5)) : leaf;
    switch (rng_.below(7)) {
      case 0:
        return sum(depth - 1) + sum(depth - 1);
      case 1:
        return sum(depth - 1) - sum(depth - 1);
      case 2:
        return sum(depth - 1) * number(3);
      case 3:
        return sum(depth - 1) / (1 + static_cast<std::int64_t>(rng_.below(4)));
      case 4:
        return sum(depth - 1) % (1 + static_cast<std::int64_t>(rng_.below(4)));
      case 5:
        return {rng_.below(2) == 0 ? ir::ExprOp::min : ir::ExprOp::max, sum(depth - 1), sum(depth - 1)};
      default:
        return leaf;
    }
  }
  Expr condition() {
    const Expr one = rng_.below(5) == 0 ? ir::equal(sum(1), sum(1)) : less(sum(2), sum(1));
    return rng_.below(5) == 0 ? Expr(ir::ExprOp::land, one, less(sum(1), sum(1))) : one;
  }

 private:
  std::int64_t number(std::int64_t most) { return static_cast<std::int64_t>(rng_.below(2 * most + 1)) - most; }
  Rng rng_;
};

// What is proved holds for all numbers, and most conditions that hold are proved.
TEST(Proofs, RandomOnesHold) {
  const ir::Ranges ranges = {{"x", {-3, 6}}, {"y", {0, 9}}, {"z", {-5, 2}}};
  int proved = 0, hold = 0;
  for (const std::uint64_t seed : drawn_seeds(3000)) {
    Random random(seed);
    const Expr first = random.condition(), second = random.condition(), goal = random.condition();
    bool holds = true;
    for (std::int64_t a = -3; a <= 6; ++a)
      for (std::int64_t b = 0; b <= 9; ++b)
        for (std::int64_t c = -5; c <= 2; ++c) {
          const std::vector<std::pair<std::string, std::int64_t>> at = {{"x", a}, {"y", b}, {"z", c}};
          const bool given = ir::evaluate(first, at) != 0 && ir::evaluate(second, at) != 0;
          holds = holds && (!given || ir::evaluate(goal, at) != 0);
        }
    const bool found = implies({first, second}, goal, ranges);
    ASSERT_TRUE(holds || !found) << ir::print(first) << ", " << ir::print(second) << " do not imply "
                                 << ir::print(goal);
    proved += found ? 1 : 0;
    hold += holds ? 1 : 0;
  }
  EXPECT_GT(hold, 300);
  EXPECT_GT(proved, hold * 8 / 10) << hold;
}

}  // namespace
}  // namespace deplo::rules::raising
