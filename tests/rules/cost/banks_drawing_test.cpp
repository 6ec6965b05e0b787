// Tests the drawing of shared memory banks that `deplo compile --smem` shows.
#include "rules/cost/banks_drawing.h"

#include <gtest/gtest.h>

#include <sstream>

namespace deplo::rules {
namespace {

// Returns a program in which 16 threads read a staged slab of 16 x 16. Each thread walks along a row of its own.
std::string program_text(const std::string& layout) {
  return "=== tile: t ===\ninput b: f32[16, 16]\noutput c: f32[16]\nTile(axes=(a0:1=BLOCK, a1:16=THREAD)):\n"
         "  b_smem = Stage(b, origin=(0, 0), slab=(s0:16@0, s1:16@1))" +
         layout +
         "\n  for a2 in 0..16: # reduce\n    in0 = load b_smem[a1, a2]\n    acc0 <- add(acc0, in0)\n  c[a1] = acc0\n";
}

std::string drawn(const std::string& layout, const char* target = "sm_80") {
  return draw_banks(ir::parse(program_text(layout)), load_target(target));
}

TEST(DrawBanks, ThreadsThatMeetInABank) {
  const std::string text = drawn("");
  EXPECT_NE(text.find("b_smem = b: [16][16] f32, 1024 bytes, by copies\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    0   0 1 2 3 4 5 6 7 8 9 a b c d e f . . . . . . . . . . . . . . . .\n"
                      "    1   . . . . . . . . . . . . . . . . 0 1 2 3 4 5 6 7 8 9 a b c d e f\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  load b_smem[a1, a2]: 8 wavefronts, least 1\n"
                      "    threads 0 to 15 by bank, one line per wavefront:\n"
                      "        0 . . . . . . . . . . . . . . . 1 . . . . . . . . . . . . . . .\n"
                      "        2 . . . . . . . . . . . . . . . 3 . . . . . . . . . . . . . . .\n"),
            std::string::npos)
      << text;
}

TEST(DrawBanks, APadIsALadderOfSingleSteps) {
  std::string source = program_text(" pad=1 lanes=1 buffers=2@0");
  source.replace(source.find("b_smem[a1"), 9, "b_smem[0, a1");
  const std::string text = draw_banks(ir::parse(source), load_target("sm_80"));
  EXPECT_NE(text.find("b_smem = b: 2 slots of [16][16 + 1] f32, 2176 bytes, by copies of 1\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("    1   f . . . . . . . . . . . . . . . . 0 1 2 3 4 5 6 7 8 9 a b c d e\n"), std::string::npos)
      << text;
}

TEST(DrawBanks, NoLineIsTooWideForATerminal) {
  for (const char* layout : {"", " pad=1", " panel=8 swizzle=32 tma", " pad=4 lanes=4 async"}) {
    std::istringstream lines(drawn(layout, "sm_90"));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(DrawBanks, WithoutWarpsTheLayoutAlone) {
  const std::string text = drawn(" panel=8 lanes=8", "opencl-cpu");
  EXPECT_NE(text.find("no warps: banks are not counted\n"), std::string::npos);
  EXPECT_NE(text.find("b_smem = b: 2 panels of [16][8] f32, 1024 bytes, by copies of 8\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("wavefront"), std::string::npos);
}

TEST(DrawBanks, NothingStaged) {
  const ir::Program program = ir::parse(
      "=== tile: t ===\ninput b: f32[16]\noutput c: f32[16]\nTile(axes=(a0:16=THREAD)):\n  in0 = load b[a0]\n"
      "  c[a0] = in0\n");
  EXPECT_EQ(draw_banks(program, load_target("sm_80")), "t on sm_80: nothing is staged in shared memory\n");
}

}  // namespace
}  // namespace deplo::rules
