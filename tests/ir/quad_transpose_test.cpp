// QuadTranspose: its text, its well-formedness, which element goes where, and that all threads must reach it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/target.h"
#include "ir/emit/emit.h"
#include "ir/interpret/interpret.h"
#include "ir/program.h"
#include "ir/types/float16.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t threads = 32, width = 8;

// Returns a kernel in which each group of four threads transposes: thread t reads pair t of four rows of eight, and
// stores row t.
std::string transposing(std::string_view type, std::string_view of = "f32") {
  return fmt::format(
      "=== kernel: k ===\ninput x: {1}[32, 8]\noutput y: {0}[32, 8]\nTile(axes=(a0:1=BLOCK, a1:8=THREAD, "
      "a2:4=THREAD)):\n"
      "  in0:{1}x2 = load x[(a1 * 4), (a2 * 2)]\n  in1:{1}x2 = load x[((a1 * 4) + 1), (a2 * 2)]\n"
      "  in2:{1}x2 = load x[((a1 * 4) + 2), (a2 * 2)]\n  in3:{1}x2 = load x[((a1 * 4) + 3), (a2 * 2)]\n"
      "  QuadTranspose(v0:{0}x8 <- in0, in1, in2, in3)\n  y[((a1 * 4) + a2), 0]:x8 = v0\n",
      type, of);
}

std::string with(std::string text, std::string_view place, std::string_view other) {
  return text.replace(text.find(place), place.size(), other);
}

TEST(QuadTranspose, GivesEachThreadARow) {
  for (const char* type : {"f16", "bf16"})
    for (const char* of : {"f32", type}) {
      const Program kernel = parse(transposing(type, of));
      EXPECT_EQ(parse(print(kernel)), kernel);
      EXPECT_EQ(verify(kernel), "");
      Memory memory = {{"x", std::vector<double>(threads * width)}, {"y", std::vector<double>(threads * width)}};
      const DType dtype = kernel.find("y")->dtype;
      for (std::size_t i = 0; i < memory["x"].size(); ++i)
        memory["x"][i] = *of == 'f' && of[1] == '3' ? static_cast<double>(i) + 0x1p-9 : static_cast<double>(i);
      interpret(kernel, memory);
      for (std::size_t i = 0; i < memory["x"].size(); ++i)
        EXPECT_EQ(memory["y"][i], rounded(memory["x"][i], dtype)) << type << " of " << of << ", element " << i;
    }
}

TEST(QuadTranspose, TheVerifierRefuses) {
  const auto fault = [](std::string_view place, std::string_view other) {
    return verify(parse(with(transposing("bf16"), place, other)));
  };
  EXPECT_THAT(fault("v0:bf16x8 <- in0, in1, in2, in3", "v0:bf16x8 <- in0, in1, in2"),
              HasSubstr("it takes 4 values, found 3"));
  EXPECT_THAT(fault("v0:bf16x8", "v0:bf16x4"), HasSubstr("it makes 8 lanes of f16 or bf16, found 4 of bf16"));
  EXPECT_THAT(fault("v0:bf16x8", "v0:f32x8"), HasSubstr("it makes 8 lanes of f16 or bf16, found 8 of f32"));
  EXPECT_THAT(fault("in3:f32x2 = load x[((a1 * 4) + 3), (a2 * 2)]", "in3 = load x[0, 0]"),
              HasSubstr("`in3` has 1 lanes of f32, expected two of f32 or bf16"));
  EXPECT_THAT(fault("a1:8=THREAD", "a1:6=THREAD"), HasSubstr("24 threads are not a multiple of the warp size"));
  EXPECT_THAT(fault("  QuadTranspose", "  if (a2 < 2):\n    QuadTranspose"), HasSubstr("may not reach this"));
}

TEST(QuadTranspose, IsFourExchangesOfWords) {
  const std::string text = emit(parse(transposing("bf16")), load_target("sm_90")).text;
  EXPECT_THAT(text, HasSubstr("const uint4 v0 = quad_transpose(bf16_pair(in0_0, in0_1), bf16_pair(in1_0, in1_1), "));
  EXPECT_THAT(text, HasSubstr("*reinterpret_cast<uint4*>(&y["));
}

}  // namespace
}  // namespace deplo::ir
