// Writes that bypass the caches: their text, when they are legal, their meaning, their source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/emit/emit.h"
#include "ir/interpret/interpret_case.h"
#include "ir/verify/verify_fixture.h"

namespace deplo::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string twice =
    "=== kernel: k ===\ninput x: f32[64]\noutput y: f32[64]\nTile(axes=(a0:2=BLOCK, a1:4=THREAD)):\n"
    "  in0:f32x8 = load x[((a0 * 32) + (a1 * 8))]\n  v0:f32x8 = add(in0, in0)\n"
    "  y[((a0 * 32) + (a1 * 8))]:x8 = v0 streamed\n";

TEST(Streamed, TextThereAndBack) {
  EXPECT_EQ(print(parse(twice)), twice);
  EXPECT_EQ(parse(twice).body.back().as<Tile>()->body.back().as<Write>()->mode, WriteMode::stream);
  EXPECT_NE(parse(twice), parse(with(twice, " streamed", "")));
  EXPECT_THROW(parse(with(twice, ":x8 = v0", ":x8 += v0")), Error);
}

TEST(Streamed, IsLegalForFloatsOfGlobalMemory) {
  using testing::kernel;
  EXPECT_EQ(verify(parse(twice)), "");
  EXPECT_EQ(testing::tile("c[a0, a1] = 1 streamed\n"), "");
  EXPECT_THAT(kernel("Smem s[4] (f32)\nv0:f32x4 = copy(1)\ns[0]:x4 = v0 streamed\n"),
              HasSubstr("only global memory of f32 can be streamed to, not `s`"));
  EXPECT_THAT(verify(parse("=== loop: f ===\noutput y: f32[4]\nfor a0 in 0..4: # free\n  y[a0] = 1 streamed\n")),
              HasSubstr("writes can be streamed only in Tile and Kernel IR"));
}

TEST(Streamed, ChangesNoValue) { EXPECT_EQ(run(twice), run(with(twice, " streamed", ""))); }

TEST(Streamed, SourceHasTheFunctionAndNoPlainStore) {
  const std::string text = emit(parse(twice), load_target("opencl-cpu")).text;
  EXPECT_THAT(text, HasSubstr("  simd_stream8(&y[a0 * 32 + a1 * 8], v0);\n"));
  EXPECT_THAT(text, HasSubstr("__builtin_nontemporal_store(value, (__global float8*)to);"));
  EXPECT_THAT(text, Not(HasSubstr("simd_lanes8*)&y")));
}

}  // namespace
}  // namespace deplo::ir
