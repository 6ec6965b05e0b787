// An index that the verifier accepts is in range: random indices under random conditions are checked by running all
// iterations.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "ir/program.h"
#include "ir/simplify/random_expr.h"

namespace deplo::ir {
namespace {

using testing::between;
using testing::random_constant;
using testing::random_expr;

struct Nest {
  std::vector<Loop> loops;  // a0 … a3, outermost first
  Expr condition, index;
};

Nest random_nest(Rng& rng) {
  Nest n;
  for (int i = 0; i < 4; ++i) {
    Loop l;
    l.axis = {"a" + std::to_string(i), between(rng, 1, 6), Bind::free};
    if (i > 0 && rng.below(3) == 0) l.start = var("a" + std::to_string(i - 1)) * Expr(between(rng, 0, 3));
    if (rng.below(3) == 0) l.step = between(rng, 1, 4);
    n.loops.push_back(std::move(l));
  }
  n.index = random_expr(rng, 3);
  const Expr bound = rng.below(3) == 0 ? random_expr(rng, 1) : Expr(random_constant(rng));
  const Expr about = rng.below(2) == 0 ? n.index + Expr(random_constant(rng)) : random_expr(rng, 2);
  n.condition = rng.below(2) == 0 ? less(about, bound) : less(bound, about);
  if (rng.below(4) == 0) n.condition = Expr(ExprOp::land, n.condition, equal(var("a1"), random_expr(rng, 1)));
  return n;
}

// Appends all values of the index for which the condition holds.
void run(const Nest& n, std::size_t depth, testing::Values& at, std::vector<std::int64_t>& out) {
  if (depth == n.loops.size()) {
    if (evaluate(n.condition, at) != 0) out.push_back(evaluate(n.index, at));
    return;
  }
  const Loop& l = n.loops[depth];
  for (std::int64_t v = evaluate(l.start, at); v < l.axis.extent; v += l.step) {
    at.emplace_back(l.axis.name, v);
    run(n, depth + 1, at, out);
    at.pop_back();
  }
}

Program load_in(const Nest& n, std::int64_t extent, int lanes) {
  Body body{If{n.condition, {Load{"in0", {DType::f32, lanes}, "x", {n.index}}}}};
  for (auto l = n.loops.rbegin(); l != n.loops.rend(); ++l) {
    Loop loop = *l;
    loop.body = std::move(body);
    body = {std::move(loop)};
  }
  return {Level::kernel, "k", {{"x", DType::f32, Role::input, {extent}, {1}}}, {Tile{{}, std::move(body)}}};
}

TEST(VerifyIndex, AcceptsOnlyWhatIsInRange) {
  Rng rng(3);
  int accepted = 0, legal = 0;
  for (int i = 0; i < 6000; ++i) {
    const Nest n = random_nest(rng);
    std::vector<std::int64_t> values;
    testing::Values at;
    run(n, 0, at, values);
    const std::int64_t high = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
    const bool negative = !values.empty() && *std::min_element(values.begin(), values.end()) < 0;
    const int lanes = rng.below(3) == 0 ? 4 : 1;
    const std::int64_t least = std::max<std::int64_t>(high + lanes, 1);  // the smallest extent that is legal
    for (const std::int64_t extent : {least, least - 1}) {
      if (extent < 1) continue;
      const bool fits = values.empty() || (!negative && extent >= high + lanes);
      const Program p = load_in(n, extent, lanes);
      const bool proven = verify(p).empty();
      ASSERT_TRUE(fits || !proven) << print(p) << "reaches " << high;
      legal += fits;
      accepted += proven;
    }
  }
  RecordProperty("legal", legal);
  RecordProperty("accepted", accepted);
  EXPECT_GT(accepted, legal / 2);  // random conditions are more correlated than those of any rule
}

// A chunk of 512 of a convolution's 576 products: the condition limits both parts of the index together.
TEST(VerifyIndex, KnowsAQuotientOfWhatAConditionLimits) {
  const Expr k = var("a0") * Expr(512) + var("a1");
  const Nest n = {{{{"a0", 2, Bind::free}, 0, 1, 1, {}}, {{"a1", 512, Bind::free}, 0, 1, 1, {}}},
                  less(k, Expr(576)),
                  var("a0") * Expr(8) + Expr(ExprOp::div, var("a1"), Expr(64))};
  EXPECT_EQ(verify(load_in(n, 9, 1)), "");
  EXPECT_NE(verify(load_in(n, 8, 1)), "");
}

}  // namespace
}  // namespace deplo::ir
