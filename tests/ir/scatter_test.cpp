// Writes to elements that loaded numbers select, and slabs that begin where loaded numbers say: text, well-formedness,
// meaning, and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/target.h"
#include "ir/canonical/canonical.h"
#include "ir/emit/emit.h"
#include "ir/interpret/interpret.h"
#include "ir/program.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view buffers = "input rows: i32[4]\ninput x: f32[4, 3]\noutput y: f32[5, 3]\n";

/// Returns a loop that copies rows of x to rows of y. `write` is the statement in the loops over rows and columns.
Program scatter(std::string_view write, std::string_view of = buffers) {
  return parse("=== loop: scatter ===\n" + std::string(of) +
               "for a0 in 0..4: # free\n  for a1 in 0..3: # free\n    in0:i32 = load rows[a0]\n"
               "    in1 = load x[a0, a1]\n" +
               std::string(write));
}
Program masked() { return scatter("    if ((-1 < in0) && (in0 < 5)):\n      y[in0, a1] = in1\n"); }

Memory memory(std::vector<double> rows) {
  Memory values = {{"rows", std::move(rows)}, {"x", {}}, {"y", std::vector<double>(15, NAN)}};
  for (int i = 0; i < 12; ++i) values["x"].push_back(i + 1);
  return values;
}

std::string message(const Program& program, std::vector<double> rows) {
  Memory values = memory(std::move(rows));
  try {
    interpret(program, values);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Scatter, IsReadAsItIsPrinted) {
  EXPECT_EQ(parse(print(masked())), masked());
  EXPECT_EQ(verify(masked()), "");
}

TEST(Scatter, WritesWhatTheConditionLets) {
  Memory values = memory({4, -1, 0, 5});
  interpret(masked(), values);
  EXPECT_EQ(values["y"], (std::vector<double>{7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3}));
}

TEST(Scatter, ClampsMayStandForAMask) {
  const Program clamped = scatter("    y[min(max(in0, 0), 4), a1] = in1\n");
  EXPECT_EQ(verify(clamped), "");
  EXPECT_EQ(zeroed_buffers(clamped), std::vector<std::size_t>{2});
  EXPECT_EQ(message(clamped, {4, 1, 0, 3}), "");
}

TEST(Scatter, StartsAtZero) {
  EXPECT_EQ(zeroed_buffers(masked()), std::vector<std::size_t>{2});
  EXPECT_EQ(zeroed_buffers(scatter("    if (in0 < 5):\n      y[a0, a1] = in1\n")), std::vector<std::size_t>{2});
  EXPECT_TRUE(zeroed_buffers(scatter("    if (a0 < 5):\n      y[a0, a1] = in1\n")).empty());
}

TEST(Scatter, TwoTurnsDoNotWriteOneElement) {
  EXPECT_THAT(message(masked(), {4, 2, 0, 2}),
              HasSubstr("scatter: block 0, thread 0 writes element 6 of y, which another turn has written, at `y[in0, "
                        "a1] = in1`"));
  EXPECT_EQ(message(masked(), {-1, 7, -1, 7}), "");  // indices may repeat if nothing is written
  // The error is found even if one thread writes both times. Only Loop IR also refuses to write the same bits twice.
  Program tile = parse("=== tile: scatter ===\n" + std::string(buffers) +
                       "Tile(axes=(a1:3=THREAD, a0:4=REG)):\n  in0:i32 = load rows[a0]\n  in1 = load x[a0, a1]\n"
                       "  if ((-1 < in0) && (in0 < 5)):\n    y[in0, a1] = in1\n");
  EXPECT_EQ(verify(tile), "");
  EXPECT_THAT(message(tile, {4, 2, 0, 2}), HasSubstr("writes element 6 of y, which another turn has written"));
}

TEST(Scatter, AddsUpWhatComesTogether) {
  const Program sum = scatter("    if ((-1 < in0) && (in0 < 5)):\n      y[in0, a1] += in1\n");
  EXPECT_EQ(verify(sum), "");
  Memory values = memory({4, 2, 4, 4});
  interpret(sum, values);
  EXPECT_EQ(values["y"], (std::vector<double>{0, 0, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0, 18, 21, 24}));
}

TEST(Scatter, AnIndexOutOfRangeIsFound) {
  const Program open = scatter("    y[in0, a1] = in1\n");
  EXPECT_THAT(verify(open), HasSubstr("index 0 `in0` is in -2147483648..2147483647, not proven in 0..4"));
  EXPECT_THAT(message(open, {4, 1, 0, 5}), HasSubstr("out of range"));
  EXPECT_THAT(verify(scatter("    if ((-1 < in0) && (in0 < 6)):\n      y[in0, a1] = in1\n")),
              HasSubstr("`in0` is in 0..5, not proven in 0..4"));
}

TEST(Scatter, IllFormed) {
  EXPECT_THAT(verify(scatter("    if ((-1 < in0) && (in0 < 5)):\n      y[in0, 1] = in1\n")),
              HasSubstr("every value of axis `a1` writes the same element"));
  EXPECT_THAT(verify(scatter("    if (in0 < 5):\n      for a2 in 0..3: # reduce\n        acc0 <- add(acc0, in1)\n"
                             "    y[a0, a1] = in1\n")),
              HasSubstr("a condition that names a value may contain only Writes"));
  EXPECT_THAT(verify(scatter("    if ((-1 < in0) && (in1 < 5)):\n      y[in0, a1] = in1\n")),
              HasSubstr("`in1` is not an i32"));
  EXPECT_THAT(verify(scatter("    if ((-1 < in0) && (in0 < 5)):\n      y[in0, a1] = in1\n",
                             "input rows: i32[4]\ninput x: f32[4, 3]\noutput y: f32[5, 3] strides=(4, 1)\n")),
              HasSubstr("`y` starts at 0, so the gaps between its rows would be cleared, too"));
  EXPECT_THAT(verify(scatter("    y[a0, a1] = in1\n    y[in0, a1] = in1\n")), HasSubstr("not proven in 0..4"));
}

TEST(Scatter, KeysKnowTheCondition) {
  const auto key = [](const Program& program) { return structural_keys(program).exact; };
  const Program renamed = parse(R"(=== loop: other ===
input at: i32[4]
input x: f32[4, 3]
output z: f32[5, 3]
for a0 in 0..4: # free
  for a1 in 0..3: # free
    in5 = load x[a0, a1]
    in0:i32 = load at[a0]
    if ((-1 < in0) && (in0 < 5)):
      z[in0, a1] = in5
)");
  EXPECT_EQ(key(renamed), key(masked()));
  EXPECT_NE(key(scatter("    if ((0 < in0) && (in0 < 5)):\n      y[in0, a1] = in1\n")), key(masked()));
}

// The origin of a slab may be a loaded number if all threads of the block load the same number.
std::string staging(std::string_view axes, std::string_view number) {
  return "=== tile: k ===\ninput at: i32[4, 2]\ninput x: f32[8, 2]\noutput y: f32[4, 2]\nTile(axes=(" +
         std::string(axes) + ")):\n  in0:i32 = load at[" + std::string(number) +
         "]\n  x_smem = Stage(x, origin=(min(max(in0, 0), 7), 0), slab=(s0:2@1))\n  in1 = load x_smem[a1]\n"
         "  y[a0, a1] = in1\n";
}

TEST(Gather, OfAWholeSlab) {
  const Program tile = parse(staging("a0:4=BLOCK, a1:2=THREAD", "a0, 1"));
  EXPECT_EQ(parse(print(tile)), tile);
  EXPECT_EQ(verify(tile), "");
  Memory values = {{"at", {9, 3, 9, 0, 9, 8, 9, -1}}, {"x", {}}, {"y", std::vector<double>(8, NAN)}};
  for (int i = 0; i < 16; ++i) values["x"].push_back(i);
  interpret(tile, values);
  EXPECT_EQ(values["y"], (std::vector<double>{6, 7, 0, 1, 14, 15, 0, 1}));
}

TEST(Gather, OfASlabThatEachThreadHasElsewhere) {
  for (const auto& [axes, number] :
       {std::pair("a0:4=BLOCK, a1:2=THREAD", "a0, a1"), std::pair("a0:4=BLOCK, a1:2=REG", "a0, a1"),
        std::pair("a0:4=THREAD, a1:2=REG", "a0, 1")}) {
    const Program tile = parse(staging(axes, number));
    EXPECT_THAT(verify(tile), HasSubstr("the origin `min(max(in0, 0), 7)` differs between the threads of a block"));
    Memory values = {{"at", {0, 1, 2, 3, 4, 5, 6, 7}}, {"x", std::vector<double>(16)}, {"y", std::vector<double>(8)}};
    try {
      interpret(tile, values);
      FAIL() << axes;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("an origin of another thread"));
    }
  }
}

TEST(Scatter, Sources) {
  const Program kernel = parse("=== kernel: scatter ===\n" + std::string(buffers) +
                               "Tile(axes=(a0:4=BLOCK, a1:3=THREAD)):\n  in0:i32 = load rows[a0]\n"
                               "  in1 = load x[a0, a1]\n  if ((-1 < in0) && (in0 < 5)):\n    y[in0, a1] = in1\n");
  EXPECT_EQ(verify(kernel), "");
  for (const char* target : {"opencl-cpu", "opencl-gpu", "sm_90"}) {
    const KernelSource source = emit(kernel, load_target(target));
    EXPECT_EQ(source.zeroed, std::vector<std::size_t>{2});
    EXPECT_THAT(source.text, HasSubstr("in0 < 5")) << target;
    EXPECT_THAT(source.text, HasSubstr("y[")) << target;
  }
}

}  // namespace
}  // namespace deplo::ir
