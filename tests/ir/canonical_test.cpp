// The canonical form is the same for all programs that differ only in what no schedule and no result depends on.
#include "ir/canonical/canonical.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/softmax_like.h"

namespace deplo::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string canonical_text(const Program& loop) { return print(canonical(loop).program); }

TEST(Canonical, RenamesInOrderOfAppearance) {
  EXPECT_EQ(canonical_text(parse(softmax_like)), R"(=== loop: kernel ===
input b0: f32[3, 7]
input b1: f32[7]
output b2: f32[3, 7]
for a0 in 0..3: # free
  for a1 in 0..7: # reduce
    v0 = load b0[a0, a1]
    acc0 <- maximum(acc0, v0)
  v1 = negative(acc0)
  for a2 in 0..7: # free
    v2 = load b0[a0, a2]
    v3 = load b1[a2]
    v4 = fma(v2, v3, v1)
    b2[a0, a2] = v4
)");
}

// Names are swapped, so renaming them one after the other would mix them up. Sibling loops share an axis name.
TEST(Canonical, EqualForTheSameKernelUnderOtherNames) {
  const char* const other = R"(=== loop: other ===
input b2: f32[3, 7]
input b0: f32[7]
output b1: f32[3, 7]
for a1 in 0..3: # free
  for a0 in 0..7: # reduce
    v4 = load b2[a1, a0]
    acc7 <- maximum(acc7, v4)
  v1 = negative(acc7)
  for a0 in 0..7: # free
    v3 = load b2[a1, a0]
    v2 = load b0[a0]
    v0 = fma(v3, v2, v1)
    b1[a1, a0] = v0
)";
  EXPECT_EQ(canonical_text(parse(other)), canonical_text(parse(softmax_like)));
}

TEST(Canonical, IsAFixedPointAndVerifies) {
  const Program once = parse(canonical_text(parse(softmax_like)));
  EXPECT_EQ(verify(once), "");
  EXPECT_EQ(canonical_text(once), print(once));
}

TEST(Canonical, DiffersWhereTheComputationDoes) {
  const std::string base = softmax_like;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = base;
    text.replace(text.find(from), from.size(), to);
    return canonical_text(parse(text));
  };
  const std::string before = canonical_text(parse(base));
  EXPECT_EQ(with("fma(in1, in2, v0)", "fma(in2, in1, v0)"), before);
  EXPECT_NE(with("fma(in1, in2, v0)", "fma(in1, v0, in2)"), before);
  EXPECT_NE(with("maximum", "minimum"), before);
  EXPECT_NE(with("weight: f32[7]", "weight: f32[8]"), before);
  EXPECT_NE(with("x: f32[3, 7]", "x: f32[3, 7] strides=(1, 3)"), before);
  EXPECT_NE(with("load weight[a2]", "load weight[6]"), before);
}

TEST(Canonical, ValuesInIndicesAndCoordinates) {
  const char* const gather = R"(=== loop: gather ===
input table: f32[5, 4]
input which: i32[3]
output y: f32[3, 4]
for a0 in 0..3: # free
  row:i32 = load which[a0]
  for a1 in 0..4: # free
    in0 = load table[min(max(row, 0), 4), a1]
    y[a0, a1] = in0
)";
  EXPECT_THAT(canonical_text(parse(gather)), HasSubstr("v0:i32 = load b0[a0]\n"));
  EXPECT_THAT(canonical_text(parse(gather)), HasSubstr("v1 = load b1[min(max(v0, 0), 4), a1]\n"));

  Program program = parse(softmax_like);
  auto& loop = *program.body[0].as<Loop>();
  loop.body.insert(loop.body.begin(), Index{"place", {DType::i32, 1}, var("a0") * 2});
  EXPECT_THAT(canonical_text(program), HasSubstr("v0:i32 = index (a0 * 2)\n"));
}

// The two kernels of "Autotuning — A Search Loop Over Tile-IR Rewrites" that must share a schedule.
const char* const op_a = R"(=== loop: a ===
input X: f32[64]
input bias: f32[64]
output Y: f32[64, 1]
for i in 0..64: # free
  for j in 0..1: # free
    tmp = load X[i]
    b = load bias[i]
    result = add(tmp, b)
    Y[i, j] = result
)";
const char* const op_b = R"(=== loop: b ===
output output0: f32[64]
input input0: f32[64]
input input1: f32[64]
for i in 0..64: # free
  b = load input1[i]
  a = load input0[i]
  c = subtract(a, b)
  output0[i] = c
)";

TEST(StructuralKeys, TwoOperationsShareASchedule) {
  const StructuralKeys a = structural_keys(parse(op_a)), b = structural_keys(parse(op_b));
  EXPECT_EQ(a.schedule, b.schedule);
  EXPECT_NE(a.exact, b.exact);
  EXPECT_EQ(a.exact.size(), 32u);
}

TEST(StructuralKeys, TheCompareFamilyIsOneClusterOfTheScheduleKey) {
  const auto keys = [](const std::string& op) {
    return structural_keys(
        parse("=== loop: k ===\ninput x: f32[8]\ninput z: f32[8]\noutput y: f32[8]\n"
              "for i in 0..8: # free\n  a = load x[i]\n  b = load z[i]\n  c:bool = " +
              op + "(a, b)\n  d = select(c, a, 0)\n  y[i] = d\n"));
  };
  const StructuralKeys less = keys("less");
  for (const char* op : {"less_equal", "equal", "not_equal"}) {
    EXPECT_EQ(keys(op).schedule, less.schedule) << op;
    EXPECT_NE(keys(op).exact, less.exact) << op;
  }
}

TEST(Canonical, SaysWhichBufferStandsWhere) {
  const Canonical a = canonical(parse(op_a));
  Program swapped = parse(op_a);
  std::swap(swapped.buffers[0], swapped.buffers[2]);
  const Canonical b = canonical(swapped);
  EXPECT_EQ(a.program, b.program);
  EXPECT_THAT(corresponding_buffers(a, b), ElementsAre(2, 1, 0));
}

// x, z and w differ only in how they are used: two are factors of a product, and the third is subtracted from it.
TEST(Canonical, TellsSymmetricReadsFromOthers) {
  const auto text = [](const std::string& a, const std::string& b, const std::string& c) {
    return canonical_text(
        parse("=== loop: k ===\ninput x: f32[8]\ninput z: f32[8]\ninput w: f32[8]\noutput y: f32[8]\n"
              "for i in 0..8: # free\n  a = load " +
              a + "[i]\n  b = load " + b + "[i]\n  c = load " + c +
              "[i]\n  d = multiply(a, b)\n  e = subtract(d, c)\n  y[i] = e\n"));
  };
  EXPECT_EQ(text("x", "z", "w"), text("w", "x", "z"));
  EXPECT_EQ(text("x", "x", "w"), text("z", "z", "x"));
  EXPECT_NE(text("x", "z", "x"), text("x", "x", "z"));
  EXPECT_NE(text("x", "z", "w"), text("x", "z", "x"));
}

}  // namespace
}  // namespace deplo::ir
