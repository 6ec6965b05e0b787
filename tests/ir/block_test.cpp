// The statements of programs that are lowered block by block: their text, what the verifier refuses, and what the
// interpreter finds. tests/measure/tile_program tests their meaning on devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ir/interpret/interpret.h"

namespace deplo::ir::block_test {
namespace {

using ::testing::HasSubstr;

/// Returns a kernel of two threads that work on one array of 4 i32.
std::string kernel_of(const std::string& body) {
  return "=== kernel: k ===\noutput a: i32[4]\noutput scratch_memory: bool[1, 64]\nTile(axes=(b:1=BLOCK, "
         "t:2=THREAD)):\n" +
         body;
}

TEST(BlockStatements, ReadAsTheyArePrinted) {
  const std::string text = kernel_of(
      "  Table table_1 (i32) = 1, -2, 3\n"
      "  Constant(e0:i32 <- bits 5)\n"
      "  Constant(e1:f16 <- bits 15360)\n"
      "  Compute(e2:i32 <- addi(e0, e0), overflow=1)\n"
      "  Compute(e3 <- ftof(e1))\n"
      "  Compute(e4:bool <- cmpi(e0, e2), comparison_predicate=2, signedness=1)\n"
      "  Local v0[4] (f16)\n"
      "  Local v1[8] (i32) shared=16\n"
      "  Local v2[8] (i64) scratch=0\n"
      "  Get(e5:i32 <- table_1[(t + 1)])\n"
      "  Put(v1[t] <- e5)\n"
      "  Address(e6 <- a)\n"
      "  LoadAt(e7:i32 <- e6)\n"
      "  LoadAt(e8:i32 <- e6, strong)\n"
      "  StoreAt(e6:i32 <- e8, strong)\n"
      "  Atomic(e9:i32 <- e6, e0, umax, sys)\n"
      "  Atomic(e10:i32 <- e6, e0, e2, swap_if, device)\n"
      "  Fence(tl_blk)\n"
      "  Forever:\n"
      "    Branch(e4):\n"
      "      Break\n"
      "    Unless(e4):\n"
      "      Continue\n"
      "  Print(\"50%\\n\\\\\\\"\\07\", \"%5.2f\" e3)\n"
      "  Return\n");
  const Program program = parse(text);
  EXPECT_EQ(print(program), text);
  EXPECT_EQ(verify(program), "");
}

TEST(BlockStatements, BadTextIsOneLine) {
  const auto message = [](const std::string& statement) {
    try {
      parse(kernel_of("  " + statement + "\n"));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("Compute(e0:i32 <- plus(e1))"), HasSubstr("expected an operation of Tile IR, found `plus`"));
  EXPECT_THAT(message("Compute(e0:i32 <- addi(e1, e1), speed=1)"), HasSubstr("expected an attribute of addi"));
  EXPECT_THAT(message("Constant(e0:i3 <- bits 1)"), HasSubstr("expected a type, found `i3`"));
  EXPECT_THAT(message("Print(x)"), HasSubstr("expected a text in quotes, found `x`"));
  EXPECT_THAT(message("Print(\"x)"), HasSubstr("expected a text in quotes"));
  EXPECT_THAT(message("Print(\"x\\\")"), HasSubstr("expected a text in quotes"));
  EXPECT_THAT(message("Fence(world)"), HasSubstr("expected tl_blk, device or sys, found `world`"));
}

TEST(BlockStatements, TheVerifierRefuses) {
  const std::string values =
      "  Constant(e0:i32 <- bits 5)\n  Constant(e1 <- bits 0)\n  Constant(e2:i64 <- bits 0)\n"
      "  Constant(e3:bool <- bits 1)\n  Local v0[4] (i32)\n";
  const auto fault = [&](const std::string& body) { return verify(parse(kernel_of(values + body))); };
  EXPECT_EQ(fault("  Put(v0[3] <- e0)\n"), "");
  EXPECT_THAT(fault("  Put(v0[4] <- e0)\n"), HasSubstr("not proven in 0..3"));
  EXPECT_THAT(fault("  Put(v0[0] <- e1)\n"), HasSubstr("`e1` is f32, expected i32"));
  EXPECT_THAT(fault("  Get(e9:f16 <- v0[0])\n"), HasSubstr("`v0` holds i32"));
  EXPECT_THAT(fault("  Get(e9:i32 <- v9[0])\n"), HasSubstr("`v9` is not a Local or a Table in scope"));
  EXPECT_THAT(fault("  Table w (i32) = 1\n  Put(w[0] <- e0)\n"), HasSubstr("`w` is a Table"));
  EXPECT_THAT(fault("  Compute(e9:i32 <- addi(e0, e2))\n"), HasSubstr("`e2` is i64, expected i32"));
  EXPECT_THAT(fault("  Compute(e9:i32 <- addi(e0))\n"), HasSubstr("addi takes 2 arguments, found 1"));
  EXPECT_THAT(fault("  Compute(e9 <- addf(e0, e0))\n"), HasSubstr("addf takes no i32"));
  EXPECT_THAT(fault("  Compute(e9:i32 <- reshape(e0))\n"), HasSubstr("it can compute only an operation on elements"));
  EXPECT_THAT(fault("  LoadAt(e9:i32 <- e0)\n"), HasSubstr("`e0` is i32, expected i64"));
  EXPECT_THAT(fault("  StoreAt(e2:i32 <- e1)\n"), HasSubstr("`e1` is f32, expected i32"));
  EXPECT_THAT(fault("  Address(e9 <- z)\n"), HasSubstr("`z` is not a buffer of the program"));
  EXPECT_THAT(fault("  Branch(e0):\n    Return\n"), HasSubstr("`e0` is i32, expected bool"));
  EXPECT_THAT(fault("  Break\n"), HasSubstr("it must be in a Forever"));
  EXPECT_THAT(fault("  Return\n  Sync\n"), HasSubstr("nothing follows it in its body"));
  EXPECT_THAT(fault("  Forever:\n    Sync\n"), HasSubstr("no statement leaves it, so it never ends"));
  EXPECT_THAT(fault("  for n in 0..2: # free\n    Return\n"), HasSubstr("it must not be in a loop"));
  EXPECT_THAT(fault("  Local w[9] (i64) scratch=0\n"), HasSubstr("beyond the block's 64 bytes"));
  EXPECT_THAT(fault("  Local w[2] (i64) shared=4\n"), HasSubstr("an offset of 4 bytes"));
}

/// Returns what the interpreter finds; "" if the kernel ends without an error. The array has zeros.
std::string found(const std::string& body) {
  const Program program = parse(kernel_of(body));
  EXPECT_EQ(verify(program), "");
  std::vector<tile_program::Array> buffers = {tile_program::make_array("a", DType::i32, 4),
                                              tile_program::make_array("scratch_memory", DType::boolean, 64)};
  try {
    interpret_blocks(program, buffers);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BlockStatements, TheInterpreterFinds) {
  const std::string values = "  Constant(e0:i32 <- bits 5)\n  Constant(e1:i32 <- bits 0)\n  Address(e2 <- a)\n";
  EXPECT_EQ(found(values + "  Local v[2] (i32) shared=0\n  Put(v[t] <- e0)\n  Get(e3:i32 <- v[t])\n"), "");
  EXPECT_THAT(found(values + "  Local v[2] (i32) shared=0\n  Put(v[t] <- e0)\n  Get(e3:i32 <- v[(1 - t)])\n"),
              HasSubstr("with no Sync between"));
  EXPECT_EQ(found(values + "  Local v[2] (i32) shared=0\n  Put(v[t] <- e0)\n  Sync\n  Get(e3:i32 <- v[(1 - t)])\n"),
            "");
  EXPECT_THAT(found(values + "  Local v[2] (i32) shared=0\n  Put(v[t] <- e0)\n  Local w[2] (i32) shared=4\n"),
              HasSubstr("the memory of v is used again without a barrier"));
  EXPECT_THAT(found("  Local v[2] (i32)\n  Get(e3:i32 <- v[1])\n"), HasSubstr("that nothing wrote"));
  EXPECT_THAT(found(values + "  StoreAt(e2:i32 <- e0)\n"), HasSubstr("race with another thread at a[0]"));
  EXPECT_THAT(found(values + "  Compute(e3:i32 <- divi(e0, e1))\n"), HasSubstr("divi"));
  EXPECT_THAT(
      found(values + "  Constant(e3:i64 <- bits 16)\n  Compute(e4:i64 <- addi(e2, e3))\n  LoadAt(e5:i32 <- e4)\n"),
      HasSubstr("access outside of an array"));
}

TEST(BlockStatements, AtomicsOfAllThreadsCount) {
  const Program program =
      parse(kernel_of("  Constant(e0:i32 <- bits 5)\n  Address(e1 <- a)\n  Atomic(e2:i32 <- e1, e0, add, device)\n"));
  std::vector<tile_program::Array> buffers = {tile_program::make_array("a", DType::i32, 4),
                                              tile_program::make_array("scratch_memory", DType::boolean, 64)};
  interpret_blocks(program, buffers);
  EXPECT_EQ(buffers[0].number(0), 10);
}

TEST(BlockStatements, ThreadsThatPartAreFound) {
  EXPECT_THAT(found("  Local v[2] (bool) shared=0\n  Constant(e0:bool <- bits 0)\n  Constant(e1:bool <- bits 1)\n"
                    "  if (t == 0):\n    Put(v[0] <- e0)\n  if (t == 1):\n    Put(v[1] <- e1)\n  Sync\n"
                    "  Get(e2:bool <- v[t])\n  Branch(e2):\n    Sync\n"),
              HasSubstr("barrier in divergent control flow"));
}

}  // namespace
}  // namespace deplo::ir::block_test
