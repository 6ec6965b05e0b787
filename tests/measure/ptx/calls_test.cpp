// Calls of functions that have no body in the PTX: printf, assert, malloc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "measure/ptx/by_hand.h"
#include "measure/ptx/kernel.h"

namespace deplo::measure::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Declares a variable of the module with this text.
std::string text_variable(const std::string& name, const std::string& text) {
  std::string bytes;
  for (const char c : text) bytes += fmt::format("{}, ", static_cast<int>(c));
  return fmt::format(".global .align 1 .b8 {}[{}] = {{{}0}};\n", name, text.size() + 1, bytes);
}

/// Calls printf with a text that is in a variable.
std::string print_call(const std::string& variable) {
  return fmt::format(R"(
  {{
  mov.u64 %rd10, {};
  cvta.global.u64 %rd10, %rd10;
  .param .b64 a;
  .param .b64 b;
  .param .b32 r;
  st.param.b64 [a], %rd10;
  st.param.b64 [b], 0;
  call.uni (r), vprintf, (a, b);
  }})",
                     variable);
}

/// Runs the kernel with one warp, which has a finding.
Finding found_in(const std::string& text, std::size_t words = 64) {
  std::vector<std::uint32_t> x(words);
  try {
    launch(text, x);
  } catch (const Finding& finding) {
    return finding;
  }
  ADD_FAILURE() << "no finding";
  return Finding("");
}

TEST(PtxCalls, AFindingHasTheTextThatWasPrintedBefore) {
  const std::string variables = text_variable("hello", "hello\n") + text_variable("never", "never\n");
  const std::string by_one = "setp.ne.s32 %p1, %r0, 0;\n @%p1 bra L1;" + print_call("hello") + "\nL1:\n bar.sync 0;\n";
  const Finding outside =
      found_in(by_hand(by_one + "st.global.u32 [%rd0+4096], %r0;" + print_call("never"), variables));
  EXPECT_THAT(outside.what(), HasSubstr("out of bounds"));
  EXPECT_EQ(outside.printed(), "hello\n");
  EXPECT_EQ(found_in(by_hand(by_one + "trap;", variables)).printed(), "hello\n");
  EXPECT_EQ(found_in(by_hand("trap;", variables)).printed(), "");
  std::vector<std::uint32_t> x(1);
  EXPECT_EQ(launch(by_hand(by_one, variables), x).printed, "hello\n");
}

// A second launch finds that an output depends on uninitialized shared memory.
TEST(PtxCalls, AFindingOfASecondLaunchHasTheText) {
  const ir::Buffer array{"x", ir::DType::i32, ir::Role::output, {1}, {1}};
  const Kernel kernel(by_hand("setp.ne.s32 %p1, %r0, 0;\n @%p1 bra L1;" + print_call("hello") +
                                  "\n ld.shared.u32 %r1, [s];\n st.global.u32 [%rd0], %r1;\nL1:\n",
                              text_variable("hello", "hello\n") + ".shared .align 4 .b8 s[4];"),
                      ir::KernelSource{.entry = "k", .text = {}, .blocks = 1, .threads = 32}, {array});
  HostArrays arrays({array});
  try {
    kernel.launch(arrays, 1, 0);
    ADD_FAILURE() << "no finding";
  } catch (const Finding& finding) {
    EXPECT_THAT(finding.what(), HasSubstr("uninitialized"));
    EXPECT_EQ(finding.printed(), "hello\n");
  }
}

TEST(PtxCalls, AFindingKeepsTheLastLines) {
  Finding finding("");
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("line {}\n", i);
  finding.set_printed(text);
  EXPECT_LT(finding.printed().size(), 66'000U);
  EXPECT_TRUE(finding.printed().starts_with("…\nline 1"));
  EXPECT_TRUE(finding.printed().ends_with("\nline 19999\n"));
}

}  // namespace
}  // namespace deplo::measure::ptx
