// Tests that the example rule of CONTRIBUTING.md works, and that its text there is the text of the files here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/file.h"
#include "rules/golden.h"
#include "rules/programs.h"
#include "rules/reverse_blocks_example.h"

namespace deplo::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string file(const char* name) { return fmt::format("{}/tests/rules/{}", DEPLO_SOURCE_DIR, name); }

TEST(RuleExample, DoesWhatItsGoldenSays) {
  const Golden golden = read_golden(file("reverse_blocks_example.ir"));
  const Effect effect = run(reverse_blocks, golden);
  EXPECT_EQ(effect.forks, golden.forks);
  EXPECT_EQ(effect.after, golden.after);
}

TEST(RuleExample, KeepsTheMeaning) {
  const ir::Program before = ir::parse(read_golden(file("reverse_blocks_example.ir")).before, {}, "the example");
  const ir::Program after = reverse_blocks.apply(before, load_target("sm_90"), {});
  EXPECT_EQ(ir::verify(after), "");
  const ir::Memory memory = random_memory(before, 1);
  EXPECT_EQ(difference(before, result(before, memory), result(after, memory)), "");
}

TEST(RuleExample, SaysWhyItSkips) {
  const ir::Program program = ir::parse(read_golden(file("reverse_blocks_example.ir")).before, {}, "the example");
  const Verdict on_cpu = reverse_blocks.decide(program, load_target("opencl-cpu"), {});
  EXPECT_THAT(std::get<Skip>(on_cpu).reason, HasSubstr("CPU"));
  const Trail off{{"on", Value(0)}};
  EXPECT_THAT(std::get<Skip>(reverse_blocks.decide(program, load_target("sm_90"), Pins(off))).reason,
              HasSubstr("on=0"));
}

TEST(RuleExample, StandsInTheGuide) {
  const std::string guide = read_file(DEPLO_SOURCE_DIR "/CONTRIBUTING.md");
  for (const char* name : {"reverse_blocks_example.h", "reverse_blocks_example.ir"})
    EXPECT_THAT(guide, HasSubstr("\n" + read_file(file(name)) + "```\n")) << name;
}

}  // namespace
}  // namespace deplo::rules
