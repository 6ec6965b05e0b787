// Each planted violation is found, and each legal form is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "core/rng.h"
#include "ir/verify/verify_fixture.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;
using testing::loop;

TEST(Verify, LegalLoops) {
  EXPECT_EQ(
      loop("for a0 in 0..32: # free\n  for a1 in 0..64: # free\n    in0 = load a[a0, a1]\n    in1 = load t[a1, a0]\n"
           "    v0 = add(in0, in1)\n    c[a0, a1] = v0\n"),
      "");
  EXPECT_EQ(loop("for a0 in 0..32: # free\n  v0 = exp(2)\n  c[a0, 0] = v0\nfor a0 in 0..8: # free\n  c[a0, 1] = inf\n"),
            "");
  EXPECT_EQ(loop("for a0 in 0..1: # free\n  c[0, 0] = 1\n"), "") << "an axis of extent 1 need not appear";
  EXPECT_EQ(loop("for a0 in 0..9: # reduce\n  c[0, 0] += 1\n"), "");
  EXPECT_EQ(loop("StridedLoop(a0 = 3; < 32; += 7): # free\n  c[a0, (a0 + 3)] = 1\n"), "") << "the last value is 31";
  EXPECT_EQ(loop("for a0 in 0..32: # free\n  for a1 in 0..64: # reduce\n    in0 = load a[a0, a1]\n    acc0 <- "
                 "maximum(acc0, in0)\n"
                 "  for a1 in 0..64: # reduce\n    in1 = load a[a0, a1]\n    v0 = subtract(in1, acc0)\n    acc1 <- "
                 "add(acc1, v0)\n"
                 "  v1 = divide(acc1, acc0)\n  c[a0, 0] = v1\n"),
            "");
}

TEST(Verify, IndexRanges) {
  EXPECT_THAT(loop("for a0 in 0..33: # free\n  c[a0, 0] = 1\n"),
              ::testing::StrEq("k: `c[a0, 0] = 1`: index 0 `a0` is in 0..32, not proven in 0..31"));
  EXPECT_THAT(loop("for a0 in 0..32: # free\n  c[a0, (a0 - 1)] = 1\n"), HasSubstr("index 1 `(a0 - 1)` is in -1..30"));
  EXPECT_THAT(loop("c[32, 0] = 1\n"), HasSubstr("index 0 `32` is in 32..32"));
  EXPECT_THAT(loop("c[0] = 1\n"), HasSubstr("`c` has 2 dimensions, found 1 indices"));
  EXPECT_THAT(loop("c[(a0 + 1), 0] = 1\n"), HasSubstr("`a0` is not an axis in scope"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  c[a0, 0] = 1\nc[a0, 0] = 1\n"),
              HasSubstr("`a0` is not an axis in scope"));
  EXPECT_THAT(loop("c[((1073741824 * 1073741824) * 64), 0] = 1\n"), HasSubstr("may overflow"));
  EXPECT_THAT(loop("c[2000000000000000000, 0] = 1\n"), HasSubstr("too large"));
  EXPECT_EQ(loop("for a0 in 0..32: # free\n  c[a0, (a0 + (1 - a0))] = 1\n"), "") << "correlated: always 1";
  EXPECT_EQ(loop("for a0 in 0..9: # free\n  for a1 in 0..4: # free\n    c[min((a0 * 4), 28) + a1, max(a0, a1)] = 1\n"),
            "");
}

TEST(Verify, ConditionsBoundIndices) {
  EXPECT_EQ(loop("for a0 in 0..40: # free\n  if (a0 < 32):\n    c[a0, 0] = 1\n"), "");
  EXPECT_EQ(loop("for a0 in 0..40: # free\n  if (7 < a0):\n    c[(a0 - 8), 0] = 1\n"), "");
  EXPECT_EQ(loop("for a0 in 0..40: # free\n  if ((a0 < 33) && (0 < a0)):\n    c[(a0 - 1), 0] = 1\n"), "");
  EXPECT_EQ(loop("for a0 in 0..40: # free\n  if (a0 == 5):\n    c[a0, 0] = 1\n"), "");
  EXPECT_EQ(loop("for a0 in 0..5: # free\n  for a1 in 0..8: # free\n    if (((a0 * 8) + a1) < 32):\n      c[((a0 * 8) "
                 "+ a1), 0] = 1\n"),
            "");
  EXPECT_EQ(loop("for a0 in 0..5: # free\n  for a1 in 0..8: # free\n    if ((a1 + (8 * a0)) < 31):\n      c[((a0 * 8) "
                 "+ (a1 + 1)), 0] = 1\n"),
            "")
      << "the same up to a constant";
  EXPECT_EQ(loop("for a0 in 0..5: # free\n  for a1 in 0..800: # free\n    if (((a0 * 800) + a1) < 2048):\n"
                 "      c[(((a0 * 800) + a1) / 64), (((a0 * 800) + a1) % 64)] = 1\n"),
            "");
  EXPECT_EQ(loop("for a0 in 0..40: # free\n  for a1 in 0..32: # free\n    if (a0 < a1):\n      c[a0, a1] = 1\n"), "");
  EXPECT_EQ(loop("for a0 in 0..4: # free\n  if (9 < a0):\n    c[(a0 * 99), 0] = 1\n"), "") << "never runs";
  EXPECT_THAT(loop("for a0 in 0..40: # free\n  if (a0 < 33):\n    c[a0, 0] = 1\n"), HasSubstr("in 0..32"));
  EXPECT_THAT(loop("for a0 in 0..40: # free\n  if (a0 < 32):\n    c[a0, 0] = 1\n  c[a0, 1] = 1\n"),
              HasSubstr("in 0..39"));
  EXPECT_THAT(loop("for a0 in 0..5: # free\n  for a1 in 0..8: # free\n    if (((a0 * 8) + a1) < 34):\n      c[((a0 * "
                   "8) + a1), 0] = 1\n"),
              HasSubstr("not proven in 0..31"));
  EXPECT_THAT(loop("for a0 in 0..5: # free\n  if (a1 < 4):\n    c[0, 0] = 1\n"),
              HasSubstr("`a1` is not an axis in scope"));
}

TEST(Verify, NamesAndScopes) {
  EXPECT_THAT(loop("v0 = exp(v1)\n"), ::testing::StrEq("k: `v0 = exp(v1)`: `v1` is not defined before this"));
  EXPECT_THAT(loop("v0 = exp(1)\nv0 = exp(2)\n"), HasSubstr("`v0` is defined twice"));
  EXPECT_THAT(loop("a = exp(1)\n"), HasSubstr("`a` is defined twice"));
  EXPECT_THAT(loop("v0 = exp(a)\n"), HasSubstr("`a` is not a value"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  v0 = exp(a0)\n"), HasSubstr("`a0` is not a value"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  v0 = exp(1)\nv1 = exp(v0)\n"), HasSubstr("`v0` is out of scope"));
  EXPECT_THAT(loop("if (1 < 2):\n  v0 = exp(1)\nv1 = exp(v0)\n"), HasSubstr("`v0` is out of scope"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  for a0 in 0..2: # free\n    c[a0, 0] = 1\n"),
              HasSubstr("`a0` is defined twice"));
  EXPECT_THAT(loop("for c in 0..2: # free\n  v0 = exp(1)\n"), HasSubstr("`c` is defined twice"));
  EXPECT_THAT(loop("v0 = load b[0]\n"), HasSubstr("buffer `b` is not declared before this"));
  EXPECT_THAT(loop("v1 = exp(1)\nv0 = load v1[0]\n"), HasSubstr("`v1` is not a buffer"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n"), HasSubstr("the body is empty"));
  EXPECT_THAT(verify(parse("=== loop: k ===\ninput a: f32[1]\ninput a: f32[1]\n")), HasSubstr("`a` is defined twice"));
}

TEST(Verify, ProgramsThatNoTextGives) {
  const auto with = [](Stmt s) {
    return verify({Level::loop, "k", {{"c", DType::f32, Role::output, {4}, {1}}}, {std::move(s)}});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with(Write{"c", {0}, 1.0}), "");
  EXPECT_THAT(with(Assign{"for", {}, Op::copy, {1.0}}), HasSubstr("`for` cannot name a value"));
  EXPECT_THAT(with(Assign{"v 0", {}, Op::copy, {1.0}}), HasSubstr("cannot name"));
  EXPECT_THAT(with(Assign{"v0", {}, Op::add, {1.0}}), HasSubstr("add takes 2 arguments, found 1"));
  EXPECT_THAT(with(Assign{"v0", {}, Op::copy, {nan}}), HasSubstr("not a number"));
  EXPECT_THAT(with(Accum{"acc0", {}, Op::add, {}}), HasSubstr("add takes 2 arguments, found 1"));
  EXPECT_THAT(with(Write{"c", {Expr(4) / Expr(0)}, 1.0}), HasSubstr("does not divide by a positive constant"));
  EXPECT_THAT(with(Loop{{"a0", 0, Bind::free}, 0, 1, 1, {Write{"c", {0}, 1.0}}}), HasSubstr("an extent of 0"));
  EXPECT_THAT(with(Loop{{"a0", 1, Bind::block}, 0, 1, 1, {Write{"c", {0}, 1.0}}}), HasSubstr("free, reduce or scan"));
  EXPECT_THAT(with(Loop{{"a0", 1, Bind::free}, 0, 0, 1, {Write{"c", {0}, 1.0}}}), HasSubstr("a step of 0"));
  EXPECT_THAT(with(Loop{{"a0", 1, Bind::free}, 0, 1, -1, {Write{"c", {0}, 1.0}}}), HasSubstr("an unroll factor of -1"));
  EXPECT_THAT(verify({Level::loop, "", {}, {}}), HasSubstr("`` is not a name"));
  EXPECT_THAT(verify({Level::loop, "k", {{"c", DType::f32, Role::input, {4}, {}}}, {}}),
              HasSubstr("1 dimensions and 0 strides"));
  EXPECT_THAT(verify({Level::loop, "k", {{"c", DType::f32, Role::input, {0}, {1}}}, {}}), HasSubstr("an extent of 0"));
  EXPECT_THAT(verify({Level::loop, "k", {{"c", DType::f32, Role::output, {4}, {0}}}, {}}), HasSubstr("a stride of 0"));
  EXPECT_EQ(verify({Level::loop, "k", {{"c", DType::f32, Role::input, {4}, {0}}}, {}}), "") << "a broadcast input";
}

// If two elements of an output are at the same address, its final value depends on the schedule.
TEST(Verify, ElementsOfAnOutputLieApart) {
  const auto output = [](Shape shape, std::vector<std::int64_t> strides, Role role = Role::output) {
    return verify({Level::loop, "k", {{"y", DType::f32, role, std::move(shape), std::move(strides)}}, {}});
  };
  EXPECT_EQ(output({64, 64}, {1, 1}), "k: output `y` has elements [1, 0] and [0, 1] at the same address");
  EXPECT_EQ(output({64, 64}, {63, 1}), "k: output `y` has elements [0, 63] and [1, 0] at the same address");
  EXPECT_THAT(output({4, 7, 5}, {7, 1, 7}), HasSubstr("at the same address"));
  EXPECT_EQ(output({64, 64}, {1, 1}, Role::input), "") << "a window";
  EXPECT_EQ(output({64, 64}, {1, 64}), "") << "transposed";
  EXPECT_EQ(output({64, 64}, {1, 100}), "") << "transposed, with rows that are padded";
  EXPECT_EQ(output({2, 8, 33, 64}, {33 * 8 * 64, 64, 8 * 64, 1}), "") << "heads between the rows";
  EXPECT_EQ(output({64, 64}, {128, 2}), "") << "every second element";
  EXPECT_EQ(output({7}, {8}), "") << "a diagonal";
  EXPECT_EQ(output({2, 3}, {3, 2}), "") << "0, 2, 4 and 3, 5, 7";
  EXPECT_EQ(output({1, 5, 1}, {0, 1, 1}), "") << "an extent of 1 has no second element";
  EXPECT_EQ(output({}, {}), "");
  EXPECT_THAT(output({1, 5}, {-1, 1}), HasSubstr("a stride of -1"));
  EXPECT_THAT(output({5, 5}, {5, -1}), HasSubstr("a stride of -1"));
  EXPECT_THAT(output({3, 3}, {std::int64_t{1} << 62, 1}), HasSubstr("more than 2^60 elements"));
  EXPECT_THAT(output({std::int64_t{1} << 40, std::int64_t{1} << 40}, {std::int64_t{1} << 40, 1}),
              HasSubstr("more than 2^60 elements"));
  // Two dimensions are decided exactly, whatever their size. More dimensions are decided within a million steps.
  EXPECT_EQ(output({1 << 20, 1 << 20}, {(1 << 20) + 1, 1 << 20}), "");
  EXPECT_THAT(output({(1 << 20) + 1, (1 << 20) + 2}, {(1 << 20) + 1, 1 << 20}), HasSubstr("at the same address"));
  EXPECT_THAT(output({10'007, 10'009, 10'037, 10'039}, {1'000'003, 1'000'033, 1'000'037, 1'000'039}),
              HasSubstr("output `y` has "));
}

TEST(Verify, ElementsOfAnOutputLieApartAsCountingSays) {
  Rng rng(5);
  int apart = 0, together = 0;
  for (int i = 0; i < 20'000; ++i) {
    Shape shape;
    std::vector<std::int64_t> strides;
    for (std::uint64_t rank = rng.below(5); rank > 0; --rank) {
      shape.push_back(1 + static_cast<std::int64_t>(rng.below(5)));
      strides.push_back(1 + static_cast<std::int64_t>(rng.below(40)));
    }
    const Buffer buffer{"y", DType::f32, Role::output, shape, strides};
    std::set<std::int64_t> addresses;
    for (std::int64_t n = 0; n < element_count(shape); ++n) {
      std::int64_t address = 0, rest = n;
      for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) address += rest % shape[d] * strides[d];
      addresses.insert(address);
    }
    const bool differ = static_cast<std::int64_t>(addresses.size()) == element_count(shape);
    EXPECT_EQ(verify({Level::loop, "k", {buffer}, {}}) == "", differ) << print(shape) << " " << print(strides);
    (differ ? apart : together) += 1;
  }
  EXPECT_GT(apart, 2000);
  EXPECT_GT(together, 2000);
}

TEST(Verify, Types) {
  EXPECT_EQ(loop("v0 = load h[1]\nv1 = add(v0, 0.5)\n"), "");
  EXPECT_THAT(loop("v0:i32 = load h[1]\n"), HasSubstr("`h` holds f16"));
  EXPECT_THAT(loop("v0:f32x2 = copy(1)\n"), HasSubstr("vector values belong to Kernel IR"));
  EXPECT_THAT(loop("c[0, 0]:x2 = 1\n"), HasSubstr("vector values belong to Kernel IR"));
  EXPECT_THAT(loop("a[0, 0] = 1\n"), HasSubstr("`a` cannot be written"));
}

TEST(Verify, Accumulators) {
  EXPECT_THAT(loop("for a0 in 0..2: # reduce\n  v0 = exp(acc0)\n  acc0 <- add(acc0, v0)\n"),
              HasSubstr("`acc0` is not defined before this"));
  EXPECT_THAT(loop("acc0 <- subtract(acc0, 1)\n"), HasSubstr("subtract has no neutral element"));
  EXPECT_THAT(loop("acc0 <- add(acc0, 1)\nacc0 <- maximum(acc0, 1)\n"),
              HasSubstr("`acc0` is accumulated by add before this"));
  EXPECT_THAT(loop("acc0 <- add(acc0, 1)\nacc0:i32 <- add(acc0, 1)\n"),
              HasSubstr("`acc0` has another type before this"));
  EXPECT_THAT(loop("acc0 <- add(acc0, acc0)\n"), HasSubstr("`acc0` accumulates itself"));
  EXPECT_THAT(loop("acc0 <- fma(acc0, 1, 2)\n"), HasSubstr("Kernel IR only"));
  EXPECT_THAT(loop("v0 = exp(1)\nv0 <- add(v0, 1)\n"), HasSubstr("`v0` is not an accumulator"));
  EXPECT_THAT(loop("acc0 <- add(acc0, 1)\nacc0 = exp(1)\n"), HasSubstr("`acc0` is defined twice"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  acc0 <- add(acc0, 1)\nc[0, 0] = acc0\n"),
              ::testing::StrEq("k: `acc0` accumulates over the free axis `a0`"));
  EXPECT_EQ(loop("for a0 in 0..2: # free\n  acc0 <- add(acc0, 1)\n  c[a0, 0] = acc0\n"), "")
      << "its scope is the loop's body";
  EXPECT_EQ(loop("for a0 in 0..2: # reduce\n  for a1 in 0..2: # reduce\n    acc0 <- add(acc0, 1)\n  acc1 <- add(acc1, "
                 "acc0)\nc[0, 0] = acc1\n"),
            "");
}

TEST(Verify, LoopLevel) {
  for (const char* statement : {"Sync", "Smem s[4] (f32)", "Init(acc0, op=add)", "Combine(acc0, op=add, over=())",
                                "s = Stage(a, origin=(0, 0), slab=(x:4@0))", "TreeHalve(s, op=add, length=4, tid=0)",
                                "Tile(axes=()):\n  v0 = exp(1)"})
    EXPECT_THAT(loop(std::string(statement) + "\n"), HasSubstr("not a statement of loop IR"));
  EXPECT_THAT(loop("for a0 in 0..2: # free\n  for a1 in 0..2: # free\n    c[a0, 0] = 1\n"),
              HasSubstr("every value of axis `a1` writes the same element"));
  EXPECT_THAT(loop("for a0 in 0..2: # reduce\n  c[0, 0] = 1\n"),
              HasSubstr("every value of axis `a0` writes the same element"));
}

}  // namespace
}  // namespace deplo::ir
