// Reads the text of nvdisasm, intact and damaged.
#include "measure/cuda/sass/listing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "measure/cuda/sass/fixture.h"
#include "measure/cuda/sass/instruction_mix.h"

namespace deplo::measure::cuda::sass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Listing, FunctionsInstructionsAndLabels) {
  const Listing listing = parse_listing(captured("softmax_sm_80"));
  EXPECT_EQ(listing.architecture, "sm_80");
  ASSERT_EQ(listing.functions.size(), 2u);
  const Function& kernel = listing.functions[0];
  EXPECT_EQ(kernel.name, "k_softmax");
  EXPECT_EQ(listing.functions[1].name, "$__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath");
  EXPECT_EQ(listing.functions[1].instructions.back().mnemonic(), "RET") << "padding is left out";
  // The file has 856 lines with an address. The last 11 of them are a branch to itself and NOPs.
  EXPECT_EQ(kernel.instructions.size() + listing.functions[1].instructions.size(), 845u);
  const Instruction& first = kernel.instructions[0];
  EXPECT_EQ(first.guard + "|" + first.opcode + "|" + first.operands, "|MOV|R1, c[0x0][0x28]");
  const auto loop = std::ranges::find(kernel.labels, ".L_x_4", &std::pair<std::string, std::size_t>::first);
  ASSERT_NE(loop, kernel.labels.end());
  const Instruction& load = kernel.instructions[loop->second + 2];
  EXPECT_EQ(load.opcode + "|" + load.operands, "LDG.E.128.CONSTANT|R4, [R4.64]");
  EXPECT_TRUE(load.has_modifier("128"));
  EXPECT_FALSE(load.has_modifier("12"));
  const Instruction& back = kernel.instructions[loop->second + 12];
  EXPECT_EQ(back.guard + "|" + back.opcode, "@P2|BRA");
  EXPECT_THAT(mentioned(back), ElementsAre(".L_x_4"));
}

TEST(Listing, PrintsLabelsAndInstructionsAlone) {
  const std::string text = print(parse_listing(captured("softmax_sm_80")));
  EXPECT_THAT(text, StartsWith("k_softmax:\n        MOV R1, c[0x0][0x28]\n"));
  EXPECT_THAT(text, HasSubstr("\n.L_x_4:\n        IMAD.MOV.U32 R4, RZ, RZ, R10\n        MOV R5, R11\n"));
  EXPECT_THAT(text, HasSubstr("\n    @P2 BRA .L_x_4\n"));
  for (const char* noise : {"/*", ";", "`", ".section", "NOP"}) EXPECT_THAT(text, Not(HasSubstr(noise)));
}

std::string error_of(const std::string& text) {
  try {
    kernel_mix(parse_listing(text));
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Listing, BadTextIsSaidWithItsLine) {
  const std::string start = "\t.target\tsm_90\n.type k,@function\nk:\n";
  EXPECT_EQ(error_of(""), "nvdisasm, line 0: expected machine code, as `nvdisasm --print-code` prints it, found none");
  EXPECT_THAT(error_of("nvdisasm fatal: no cubin"),
              HasSubstr("line 1: expected a label, a directive or an instruction"));
  EXPECT_THAT(error_of("/*0000*/ EXIT ;"),
              HasSubstr("line 1: expected a function's name before its first instruction"));
  EXPECT_THAT(error_of(start + "  /*0000*/ EXIT\n"), HasSubstr("line 4: expected ; at the end of an instruction"));
  EXPECT_THAT(error_of(start + "  /*0000 EXIT ;\n"), HasSubstr("line 4: expected */ after the address"));
  EXPECT_THAT(error_of(start + "  /*0000*/ @P0 ;\n"), HasSubstr("line 4: expected an opcode, found"));
  EXPECT_EQ(error_of(start + "  /*0000*/ BRA `(.L_x_9) ;\n"), "nvdisasm, line 4: expected a label of k, found .L_x_9");
  EXPECT_EQ(error_of(start + "  /*0000*/ BRA 0x50 ;\n"), "nvdisasm, line 4: expected a label after BRA, found '0x50'");
  EXPECT_THAT(error_of(start + ".L:\n /*0000*/ EXIT ;\n.L:\n /*0010*/ EXIT ;\n"),
              HasSubstr("expected each label once"));
}

// Any text is either read or refused with an error.
TEST(Listing, DamagedTextIsReadOrRefused) {
  Rng rng(11);
  int read = 0, refused = 0;
  for (const char* name : {"matmul_sm_90", "softmax_sm_80"}) {
    // Only up to a fifth of the text, so that there is time for many tries.
    const std::string whole = captured(name).substr(0, 12'000);
    for (int i = 0; i < 600; ++i) {
      std::string text = whole;
      if (i % 3 == 0) text.resize(rng.below(text.size()));
      for (std::uint64_t n = rng.below(6); n > 0 && !text.empty(); --n)
        text[rng.below(text.size())] = "0123456789 .,;:@`()[]*/LRPU_x\n\t\xff\0"[rng.below(34)];
      if (i % 5 == 0 && !text.empty()) text.erase(rng.below(text.size()), rng.below(200));
      const std::string error = error_of(text);
      EXPECT_TRUE(error == "no error" || error.starts_with("nvdisasm, line ")) << error;
      EXPECT_THAT(error, Not(HasSubstr("\n")));
      (error == "no error" ? read : refused) += 1;
    }
  }
  EXPECT_GT(refused, 100);
  RecordProperty("read", read);
}

}  // namespace
}  // namespace deplo::measure::cuda::sass
