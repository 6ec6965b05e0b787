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

// The calling convention is that of NVRTC 13.0 for assert(n < 0).
TEST(PtxCalls, AssertionsThatFail) {
  const std::string variables =
      text_variable("message", "n < 0") + text_variable("file", "kernel.cu") + text_variable("function", "void k(int)");
  const std::string call = R"(
  setp.ne.s32 %p1, %r0, 5;
  @%p1 bra L1;
  mov.u64 %rd10, message;
  cvta.global.u64 %rd11, %rd10;
  mov.u64 %rd12, file;
  cvta.global.u64 %rd13, %rd12;
  mov.u64 %rd14, function;
  cvta.global.u64 %rd15, %rd14;
  .loc 1 7 3
  {
  .param .b64 param0;
  st.param.b64 [param0+0], %rd11;
  .param .b64 param1;
  st.param.b64 [param1+0], %rd13;
  .param .b32 param2;
  st.param.b32 [param2+0], 42;
  .param .b64 param3;
  st.param.b64 [param3+0], %rd15;
  .param .b64 param4;
  st.param.b64 [param4+0], 1;
  call.uni __assertfail, (param0, param1, param2, param3, param4);
  }
L1:
)";
  const std::string text = found_in(by_hand(call, variables)).what();
  EXPECT_THAT(text, HasSubstr("CUDA line 7: call.uni: assertion failed: n < 0, kernel.cu:42, in void k(int); block 0, "
                              "warp 0, lane 5"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

TEST(PtxCalls, RefusesOtherFunctions) {
  const auto refusal = [](const std::string& call) {
    try {
      decode(parse(by_hand(call, ".param .b64 a; .param .b64 r;")), "k");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* call : {".loc 1 9 1\ncall.uni (r), malloc, (a);", ".loc 1 9 1\ncall.uni free, (a);"})
    EXPECT_THAT(refusal(call),
                HasSubstr("CUDA line 9: call.uni: expected no malloc, free, new or delete: the PTX machine does not "
                          "support memory allocation in kernels"));
  EXPECT_THAT(refusal("call.uni cudaLaunchDevice, (a);"),
              HasSubstr("expected calls of printf, of assert and of functions that the file defines, found "
                        "'cudaLaunchDevice'"));
  EXPECT_THAT(refusal("call.uni vprintf, (a);"), HasSubstr("expected 2 arguments of vprintf, found 1"));
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
