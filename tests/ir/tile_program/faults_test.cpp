// What the interpreter finds in programs with a fault, and what it accepts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ir/tile_program/launches.h"

namespace deplo::ir::tile_program {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Runs operations on an array `%p` of 8 f32 and a lock `%lock`, an i32 that is 1. Returns the error, or "".
std::string found(const std::string& body, std::array<std::int64_t, 3> grid = {1, 1, 1}, std::uint64_t order = 1) {
  const std::string text = R"(global @lock <i32: 1> : tile<1xi32>
entry @f(%p: tile<ptr<f32>>) {
%x, %y, %z = get_tile_block_id : tile<i32>
%lock = get_global @lock : tile<ptr<i32>>
%0 = constant <i32: 0> : tile<i32>
%1 = constant <i32: 1> : tile<i32>
%f = constant <f32: 2.0> : tile<f32>
)" + body + "\n}";
  Launcher launcher;
  launcher.add_pointer("p", DType::f32, 8);
  launcher.launch.idle = 20'000;
  try {
    launcher.run(read_program(text, "t"), grid, order);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const std::string store = "%t = store_ptr_tko weak %p, %f : tile<ptr<f32>>, tile<f32> -> token\n";
const std::string load_behind = "%v, %t2 = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token\n";
const std::string load = "%v, %t2 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token\n";

TEST(Faults, AStoreAndALoadThatNoTokenOrders) {
  EXPECT_EQ(found(store + load_behind), "");
  EXPECT_EQ(
      found(store + load),
      "t:9:1: load_ptr_tko: expected an order by tokens between accesses to the same address, found none before its "
      "element at p[0], "
      "after store_ptr_tko of block 0, 0, 0 at t:8:1 (block 0, 0, 0)");
  EXPECT_THAT(found(load + "%t3 = store_ptr_tko weak %p, %f : tile<ptr<f32>>, tile<f32> -> token"),
              HasSubstr("expected an order by tokens"));
  EXPECT_EQ(found(load + "%t3 = store_ptr_tko weak %p, %f token=%t2 : tile<ptr<f32>>, tile<f32> -> token"), "");
  // The stored value depends on the loaded value, which is an order, too.
  EXPECT_EQ(found(load +
                  "%w = addf %v, %f : tile<f32>\n%t3 = store_ptr_tko weak %p, %w : tile<ptr<f32>>, tile<f32> -> token"),
            "");
  EXPECT_EQ(found(store + "%u = make_token : token\n%j = join_tokens %u, %t : token\n%v, %t2 = load_ptr_tko weak %p "
                          "token=%j : tile<ptr<f32>> -> tile<f32>, token"),
            "");
  EXPECT_THAT(found(store + "%t3 = store_ptr_tko weak %p, %f : tile<ptr<f32>>, tile<f32> -> token"),
              HasSubstr("expected an order by tokens"));
}

TEST(Faults, TwoBlocksAtOnePlace) {
  EXPECT_THAT(found(store, {2, 1, 1}),
              AllOf(HasSubstr("expected an order by release and acquire"), HasSubstr("after store_ptr_tko of block")));
  EXPECT_EQ(found(load, {2, 1, 1}), "");
  EXPECT_EQ(found("%o, %t = atomic_rmw_tko relaxed device %p, addf, %f : tile<ptr<f32>>, tile<f32> -> tile<f32>, token",
                  {4, 1, 1}),
            "");
  EXPECT_THAT(
      found("%o, %t = atomic_rmw_tko relaxed tl_blk %p, addf, %f : tile<ptr<f32>>, tile<f32> -> tile<f32>, token",
            {2, 1, 1}),
      HasSubstr("expected an order by release and acquire"));
  EXPECT_EQ(found("%t = store_ptr_tko relaxed device %p, %f : tile<ptr<f32>>, tile<f32> -> token", {2, 1, 1}), "");
}

/// Returns a critical section that one block enters at a time. The tests vary `acquire`, `release` and the tokens.
std::string locked(const std::string& acquire, const std::string& release, bool tokens, int releases = 1) {
  const std::string after = tokens ? " token=%a" : "", before = tokens ? " token=%s" : "";
  std::string text = "%a = loop : token {\n%o, %t = atomic_cas_tko " + acquire +
                     " device %lock, %1, %0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token\n%got = trunci %o : "
                     "tile<i32> -> tile<i1>\nif %got {\nbreak %t : token\n}\n}\n"
                     "%v, %l = load_ptr_tko weak %p" +
                     after +
                     " : tile<ptr<f32>> -> tile<f32>, token\n%w = addf %v, %f : tile<f32>\n%s = store_ptr_tko weak %p, "
                     "%w token=%l : tile<ptr<f32>>, tile<f32> -> token\n";
  for (int i = 0; i < releases; ++i)
    text += "%r" + std::to_string(i) + ", %u" + std::to_string(i) + " = atomic_rmw_tko " + release +
            " device %lock, xchg, %1" + before + " : tile<ptr<i32>>, tile<i32> -> tile<i32>, token\n";
  return text;
}

TEST(Faults, Locks) {
  for (std::uint64_t order = 0; order < 8; ++order)
    EXPECT_EQ(found(locked("acquire", "release", true), {6, 1, 1}, order), "");
  EXPECT_THAT(found(locked("relaxed", "relaxed", true), {4, 1, 1}),
              HasSubstr("expected an order by release and acquire"));
  EXPECT_THAT(found(locked("acquire", "relaxed", true), {4, 1, 1}),
              HasSubstr("expected an order by release and acquire"));
  EXPECT_THAT(found(locked("acquire", "release", false), {4, 1, 1}),
              HasSubstr("expected an order by release and acquire"));
}

/// If a lock is released twice, two blocks get in.
TEST(Faults, ALockReleasedTwice) {
  int findings = 0;
  for (std::uint64_t order = 0; order < 32; ++order)
    findings += found(locked("acquire", "release", true, 2), {6, 1, 1}, order)
                            .find("expected an order by release and acquire") != std::string::npos
                    ? 1
                    : 0;
  EXPECT_GT(findings, 8);
}

TEST(Faults, BlocksThatWaitForEver) {
  EXPECT_THAT(
      found("loop {\n%o, %t = atomic_cas_tko relaxed device %lock, %0, %0 : tile<ptr<i32>>, tile<i32> -> "
            "tile<i32>, token\n%c = cmpi equal %o, %0, signed : tile<i32> -> tile<i1>\nif %c {\nbreak\n}\n}"),
      AllOf(HasSubstr(": expected the enclosing loop to end, found 20000 operations"), HasSubstr("a deadlock")));
}

/// Block 0 waits for the last block, which begins only because no other block can continue.
TEST(Faults, ABlockThatWaitsForALaterOne) {
  EXPECT_EQ(found("%n, %ny, %nz = get_num_tile_blocks : tile<i32>\n%last = subi %n, %1 : tile<i32>\n%is = cmpi equal "
                  "%x, %last, signed : tile<i32> -> tile<i1>\nif %is {\n%r, %u = atomic_rmw_tko release device %lock, "
                  "xchg, %0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token\n}\nloop {\n%o, %t = atomic_cas_tko "
                  "relaxed device %lock, %0, %0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token\n%c = cmpi equal %o, "
                  "%0, signed : tile<i32> -> tile<i1>\nif %c {\nbreak\n}\n}",
                  {20, 1, 1}, 0),
            "");
}

TEST(Faults, OutsideOfMemory) {
  const std::string beyond =
      "%8 = constant <i32: 8> : tile<i32>\n%q = offset %p, %8 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n";
  EXPECT_EQ(found(beyond + "%t = store_ptr_tko weak %q, %f : tile<ptr<f32>>, tile<f32> -> token"),
            "t:10:1: store_ptr_tko: expected memory of an array, found its element that writes element 8 of p, which "
            "has 8 (block 0, 0, 0)");
  EXPECT_THAT(found("%m = constant <i32: -1> : tile<i32>\n%q = offset %p, %m : tile<ptr<f32>>, tile<i32> -> "
                    "tile<ptr<f32>>\n%v, %t = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token"),
              HasSubstr("found its element that reads element -1 of p, which has 8"));
  EXPECT_THAT(found("%n = constant <i64: 0> : tile<i64>\n%q = int_to_ptr %n : tile<i64> -> tile<ptr<f32>>\n%v, %t = "
                    "load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token"),
              HasSubstr("that reads at the null pointer"));
  const std::string view =
      "%v = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>\n%w = "
      "make_partition_view %v : partition_view<tile=(4), tensor_view<8xf32, strides=[1]>>\n";
  EXPECT_THAT(
      found(view + "%2 = constant <i32: 2> : tile<i32>\n%l, %t = load_view_tko weak %w[%2] : partition_view<tile=(4), "
                   "tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token"),
      HasSubstr("load_view_tko: expected index 0 below 2, the tiles of 4 in 8 elements, found 2"));
}

TEST(Faults, WhatIsUndefined) {
  EXPECT_THAT(found("%r = divi %1, %x signed : tile<i32>"),
              HasSubstr("divi: expected a divisor other than 0, found 0"));
  EXPECT_THAT(found("%a = constant <i8: 127> : tile<i8>\n%b = constant <i8: 1> : tile<i8>\n%r = addi %a, %b "
                    "overflow<no_signed_wrap> : tile<i8>"),
              HasSubstr("expected no wrap, as its no_signed_wrap promises"));
  EXPECT_EQ(found("%a = constant <i8: 127> : tile<i8>\n%b = constant <i8: 1> : tile<i8>\n%r = addi %a, %b "
                  "overflow<no_unsigned_wrap> : tile<i8>"),
            "");
  EXPECT_THAT(found("%a = constant <f32: 1e10> : tile<f32>\n%r = ftoi %a signed : tile<f32> -> tile<i32>"),
              HasSubstr("expected a number that i32 holds, found 10000000000"));
  EXPECT_THAT(found("%r = assume div_by<2>, %1 : tile<i32>"),
              HasSubstr("assume: expected a number divisible by 2, found 1"));
  EXPECT_THAT(found("%r = assume bounded<2, ?>, %1 : tile<i32>"), HasSubstr("expected a number of 2 to any, found 1"));
  EXPECT_THAT(found("%i = iota : tile<4xi32>\n%r = assume same_elements<[2]>, %i : tile<4xi32>"),
              HasSubstr("expected equal numbers in groups of 2, found others at (1)"));
  EXPECT_EQ(found("%i = iota : tile<4xi32>\n%r = assume div_by<4, every 4 along 0>, %i : tile<4xi32>"), "");
  EXPECT_THAT(found("%c = constant <i1: [true, false]> : tile<2xi1>\nassert %c, \"not so\" : tile<2xi1>"),
              HasSubstr("assert: expected a true condition, found a false one at (1): not so"));
  EXPECT_THAT(found("for %i in (%0 to %1, step %x) : tile<i32> {\n}"),
              HasSubstr("for: expected a step above 0, found 0"));
}

TEST(Faults, PoisonShowsWhatIsNotSpecified) {
  const std::string text =
      "entry @f(%p: tile<ptr<f32>>) {\n%m = constant <i1: false> : tile<i1>\n%v, %t = load_ptr_tko weak %p, %m : "
      "tile<ptr<f32>>, tile<i1> -> tile<f32>, token\nprint \"%f\", %v : tile<f32>\n}";
  for (const bool poison : {false, true}) {
    Launcher launcher;
    launcher.add_pointer("p", DType::f32, 1);
    launcher.launch.poison = poison;
    EXPECT_EQ(launcher.run(read_program(text, "t"), {1, 1, 1}).printed, poison ? "nan" : "0.000000");
  }
}

// --- Launches --------------------------------------------------------------------------------------------------------

TEST(Faults, Launches) {
  const Program program = read_program(
      "entry @first(%p: tile<ptr<f16>>, %n: tile<i8>, %s: tile<f32>) {\n}\nentry @second() {\n}", "two.tile");
  std::vector<Array> arrays = {make_array("a", DType::f16, 4), make_array("b", DType::f32, 4)};
  const auto message = [&](Launch launch) {
    try {
      run(program, launch, arrays);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Launch launch{.entry = "first", .arguments = {ArrayArgument{0}, std::int64_t{200}, 0.5}, .grid = {1, 1, 1}};
  EXPECT_EQ(message(launch), "");
  launch.grid = {1, 0, 1};
  EXPECT_EQ(message(launch), "two.tile: expected a grid of 1 to 16777215 blocks in each dimension, found 1 x 0 x 1");
  launch.grid = {1, 1, 1};
  launch.arguments[1] = std::int64_t{256};
  EXPECT_EQ(message(launch), "two.tile: entry first: argument 2 (%n): expected a number of i8, found 256");
  launch.arguments[1] = 0.5;
  EXPECT_EQ(message(launch), "two.tile: entry first: argument 2 (%n): expected a number of i8, found 0.5");
  launch.arguments[1] = std::int64_t{1};
  launch.arguments[0] = ArrayArgument{1};
  EXPECT_EQ(message(launch), "two.tile: entry first: argument 1 (%p): expected an array of f16, found an array of f32");
  launch.arguments.pop_back();
  EXPECT_EQ(message(launch),
            "two.tile: entry first: expected 3 arguments (tile<ptr<f16>>, tile<i8>, tile<f32>), found 2");
  launch.entry = "secnd";
  EXPECT_EQ(message(launch), "two.tile: expected an entry (first, second), found 'secnd'; did you mean 'second'?");
  launch.entry = "";
  EXPECT_EQ(message(launch), "two.tile: expected the name of an entry (first, second), found none");
}

}  // namespace
}  // namespace deplo::ir::tile_program
