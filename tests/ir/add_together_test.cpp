// += of all lanes at once: its text, when it is legal, its meaning, its source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/emit/emit.h"
#include "ir/interpret/interpret_case.h"
#include "ir/verify/verify_fixture.h"

namespace deplo::ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns a kernel in which two blocks of four threads add to the first row of y. `at` is the index in that row, which
/// has 16 elements.
std::string adding(const std::string& at, const std::string& lanes = "4") {
  return "=== kernel: k ===\ninput x: f32[64]\noutput y: f32[2, 16]\nTile(axes=(a0:2=BLOCK, a1:4=THREAD)):\n"
         "  in0:f32x" +
         lanes + " = load x[((a0 * 16) + (a1 * 4))]\n  y[0, " + at + "]:x" + lanes + " += in0 together\n";
}

TEST(AddTogether, TextThereAndBack) {
  const std::string text = adding("(a1 * 4)");
  EXPECT_EQ(print(parse(text)), text);
  EXPECT_EQ(parse(text).body.back().as<Tile>()->body.back().as<Write>()->mode, WriteMode::add_together);
  EXPECT_NE(parse(text), parse(with(text, " together", "")));
  EXPECT_THROW(parse(with(text, "+=", "=")), Error);
}

TEST(AddTogether, IsLegalWhereAlignmentIsProven) {
  const auto at = [](const std::string& index, const std::string& lanes = "4") {
    return verify(parse(adding(index, lanes)));
  };
  EXPECT_EQ(at("(a1 * 4)"), "");
  EXPECT_EQ(at("(8 - (a1 * 2))", "2"), "");
  EXPECT_THAT(at("a1"), HasSubstr("4 lanes are added together to `y` at an index that is not a known multiple of 4"));
  EXPECT_THAT(at("(8 - (a1 * 2))"), HasSubstr("not a known multiple of 4"));
  EXPECT_THAT(at("((a1 * 2) + 1)", "2"), HasSubstr("not a known multiple of 2"));
  const std::string good = adding("(a1 * 4)");
  EXPECT_THAT(verify(parse(with(good, "y: f32[2, 16]", "y: f32[2, 16] strides=(18, 1)"))), "");
  EXPECT_THAT(verify(parse(with(with(good, "y: f32[2, 16]", "y: f32[2, 16] strides=(18, 1)"), "y[0", "y[a0"))),
              HasSubstr("not a known multiple of 4"))
      << "rows of 72 bytes";
}

TEST(AddTogether, IsLegalForTwoOrFourFloatsOfGlobalMemory) {
  using testing::kernel;
  EXPECT_EQ(kernel("v0:f32x4 = copy(1)\nc[a0, 0]:x4 += v0 together\n"), "");
  EXPECT_THAT(kernel("c[a0, a1] += 1 together\n"), HasSubstr("only 2 or 4 lanes of f32 can be added together"));
  EXPECT_THAT(kernel("v0:f32x8 = copy(1)\nc[a0, 0]:x8 += v0 together\n"), HasSubstr("2 or 4 lanes of f32"));
  EXPECT_THAT(kernel("Smem s[4] (f32)\nv0:f32x4 = copy(1)\ns[0]:x4 += v0 together\n"),
              HasSubstr("+= works on global memory only"));
  EXPECT_THAT(testing::tile("c[a0, a1] += 1 together\n"), HasSubstr("lanes can be added together only in Kernel IR"));
  const std::string integers =
      with(adding("(a1 * 4)"), "input x: f32[64]\noutput y: f32", "input x: i32[64]\noutput y: i32");
  EXPECT_THAT(verify(parse(with(integers, "in0:f32x4", "in0:i32x4"))), HasSubstr("2 or 4 lanes of f32"));
}

TEST(AddTogether, AddsEachLane) {
  const Memory memory = run(adding("(a1 * 4)"));
  const Values& x = memory.at("x");
  Values sums(32);
  for (std::size_t i = 0; i < 16; ++i) sums[i] = x[i] + x[i + 16];
  expect_near(memory.at("y"), sums);
}

// A planted fault: an index that is misaligned for thread 3, run without the verifier.
TEST(AddTogether, TheSanitizerFindsAReductionWithoutAlignment) {
  EXPECT_THAT(error_of(adding("((a1 * 4) - (a1 / 3))")),
              AllOf(HasSubstr("misaligned addition of 4 lanes to element 11 of y"), HasSubstr("thread 3")));
  EXPECT_EQ(error_of(adding("(a1 * 4)")), "no error");
}

TEST(AddTogether, IsOneInstructionOfCuda) {
  const auto text_of = [](const std::string& kernel) { return emit(parse(kernel), load_target("sm_90")).text; };
  const std::string text = adding("(a1 * 4)");
  EXPECT_THAT(text_of(text), HasSubstr("  atomicAdd(reinterpret_cast<float4*>(&y[a1 * 4]), "
                                       "make_float4(in0_0, in0_1, in0_2, in0_3));\n"));
  EXPECT_THAT(text_of(adding("(a1 * 2)", "2")), HasSubstr("reinterpret_cast<float2*>(&y[a1 * 2]), make_float2("));
  const std::string apart = text_of(with(text, " together", ""));
  EXPECT_THAT(apart, AllOf(HasSubstr("atomicAdd(&y[a1 * 4 + 3], in0_3);"), Not(HasSubstr("float4*>(&y"))));
  EXPECT_EQ(emit(parse(text), load_target("sm_90")).zeroed, std::vector<std::size_t>{1});
}

}  // namespace
}  // namespace deplo::ir
