// Tile programs lowered block by block, on PoCL against the interpreter, and compiled for NVIDIA's GPUs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/tile_program/both.h"

namespace deplo::measure {
namespace {

namespace tp = ir::tile_program;
using tp::Element;

Both listing(const std::string& name) { return Both(both_program("experiments/tile/" + name + ".tile")); }
Both exported(const std::string& name) { return Both(both_program("tests/data/tile_programs/" + name + ".tileirbc")); }

TEST(Blocks, VectorAdd) {
  Both both = listing("vector_add");
  for (const char* name : {"a", "b", "c"}) both.launcher.add_pointer(name, Element::f32, 128);
  both.expect_equal({1, 1, 1});
}

TEST(Blocks, Hello) { listing("hello").expect_equal({1, 1, 1}); }

TEST(Blocks, HelloOfEachBlock) { listing("hello_grid").expect_equal({3, 2, 2}); }

TEST(Blocks, Mutex) { listing("mutex").expect_equal({7, 1, 1}); }

TEST(Blocks, GemmOfOneBlock) {
  Both both = listing("gemm_block");
  both.launcher.add_pointer("a", Element::f32, 64 * 64);
  both.launcher.add_pointer("b", Element::f32, 64 * 64);
  both.launcher.add_pointer("c", Element::f32, 64 * 64);
  both.expect_equal({1, 1, 1}, 1e-6);
}

TEST(Blocks, Softmax) {
  Both both = exported("softmax");
  both.launcher.add("x", Element::f32, {3, 50}, 56);
  both.launcher.add("y", Element::f32, {3, 50}, 56);
  both.expect_equal({3, 1, 1}, 1e-6);
}

TEST(Blocks, RunningSum) {
  Both both = exported("running_sum");
  both.launcher.add("x", Element::f32, {2, 30}, 32);
  both.launcher.add("y", Element::f32, {2, 30}, 32);
  both.expect_equal({2, 1, 1});
}

TEST(Blocks, Transpose) {
  Both both = exported("transpose");
  both.launcher.add("x", Element::f32, {20, 40});
  both.launcher.add("y", Element::f32, {40, 20}, 24);
  both.expect_equal({2, 3, 1});
}

TEST(Blocks, Histogram) {
  Both both = exported("histogram");
  both.launcher.add("x", Element::i32, {200});
  both.launcher.add("counts", Element::i32, {100});
  both.expect_equal({4, 1, 1});
}

TEST(Blocks, LockedSum) {
  Both both = exported("locked_sum");
  both.launcher.add("x", Element::f32, {200});
  const auto total = both.launcher.add("total", Element::f32, {1}), lock = both.launcher.add("lock", Element::i32, {1});
  both.launcher.set(total, {0}, 0);
  both.launcher.set(lock, {0}, 0);
  both.expect_equal({7, 1, 1}, 1e-5);
}

TEST(Blocks, Matmul) {
  Both both = exported("matmul");
  both.launcher.add("a", Element::bf16, {20, 24});
  both.launcher.add("b", Element::bf16, {24, 40});
  both.launcher.add("c", Element::f32, {20, 40});
  both.expect_equal({2, 2, 1}, 1e-6);
}

TEST(Blocks, Saxpy) {
  Both both = listing("saxpy");
  both.launcher.add_pointer("x", Element::f32, 200 * 300);
  both.launcher.add_pointer("y", Element::f32, 200 * 300);
  both.launcher.scalar(0.75);
  both.launcher.scalar(std::int64_t{200});
  both.launcher.scalar(std::int64_t{300});
  both.expect_equal({2, 2, 1});
}

TEST(Blocks, LayerNormBackward) {
  Both both = exported("layer_norm_backward_locked");
  for (const char* name : {"dy", "x"}) both.launcher.add(name, Element::f16, {5, 50}, 56);
  both.launcher.add("w", Element::f16, {50});
  for (const char* name : {"mean", "rstd"}) both.launcher.add(name, Element::f32, {5});
  both.launcher.add("dx", Element::f16, {5, 50}, 56);
  for (const char* name : {"dw", "db"}) both.launcher.add(name, Element::f32, {50});
  both.launcher.set(both.launcher.add("lock", Element::i32, {1}), {0}, 0);
  both.expect_equal({5, 1, 1}, 1e-6, 1);
}

TEST(Blocks, Fourier) {
  Both both = exported("fourier");
  for (const char* name : {"x_re", "x_im", "y_re", "y_im"}) both.launcher.add(name, Element::f32, {3, 8, 8});
  for (const char* name : {"f_re", "f_im", "t_re", "t_im"}) both.launcher.add(name, Element::f32, {8, 8});
  both.expect_equal({3, 1, 1}, 1e-6);
}

TEST(Blocks, CumulativeSoftmax) {
  Both both = exported("cumulative_softmax");
  for (const char* name : {"x", "y"}) both.launcher.add(name, Element::f32, {3, 37}, 40);
  both.expect_equal({3, 1, 1}, 1e-6);
}

TEST(Blocks, LastBlockSum) {
  Both both = exported("last_block_sum");
  both.launcher.add("x", Element::f32, {300});
  both.launcher.add("parts", Element::f32, {10});
  both.launcher.set(both.launcher.add("count", Element::i32, {1}), {0}, 0);
  both.launcher.add("total", Element::f32, {1});
  both.expect_equal({10, 1, 1});
}

TEST(Blocks, ScatterAdd) {
  Both both = exported("scatter_add");
  both.launcher.add("x", Element::f32, {150});
  both.launcher.add("index", Element::i32, {150});
  both.launcher.add("y", Element::f32, {100});
  both.expect_equal({3, 1, 1}, 1e-6);
}

// --- Control, memory and printing, by programs of their own --------------------------------------------------------------

Both written(const std::string& body) { return Both(tp::read_program(body, "test.tile")); }

/// Carried tiles that change places, tiles that a branch chooses, and a loop that data end.
TEST(Blocks, Control) {
  Both both = written(R"(entry @f(%p: tile<ptr<i32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %five = constant <i32: 5> : tile<i32>
  %a = iota : tile<64xi32>
  %b = constant <i32: 7> : tile<64xi32>
  %q, %r = for %i in (%zero to %five, step %one) : tile<i32> iter_values(%x = %a, %y = %b) -> (tile<64xi32>, tile<64xi32>) {
    %m = reshape %x : tile<64xi32> -> tile<8x8xi32>
    %n = permute %m [1, 0] : tile<8x8xi32> -> tile<8x8xi32>
    %o = reshape %n : tile<8x8xi32> -> tile<64xi32>
    %two = constant <i32: 2> : tile<i32>
    %is = cmpi equal %i, %two, signed : tile<i32> -> tile<i1>
    if %is {
      continue %o, %y : tile<64xi32>, tile<64xi32>
    }
    %u = addi %o, %y : tile<64xi32>
    continue %y, %u : tile<64xi32>, tile<64xi32>
  }
  %s, %k = loop iter_values(%t = %q, %n = %zero) : tile<64xi32>, tile<i32> -> tile<64xi32>, tile<i32> {
    %c = cmpi greater_than %n, %five, signed : tile<i32> -> tile<i1>
    %v = if %c -> (tile<64xi32>) {
      %w = muli %t, %r : tile<64xi32>
      yield %w : tile<64xi32>
    } else {
      yield %t : tile<64xi32>
    }
    if %c {
      break %v, %n : tile<64xi32>, tile<i32>
    }
    %m = addi %n, %one : tile<i32>
    %h = reshape %v : tile<64xi32> -> tile<8x8xi32>
    %g = permute %h [1, 0] : tile<8x8xi32> -> tile<8x8xi32>
    %e = reshape %g : tile<8x8xi32> -> tile<64xi32>
    continue %e, %m : tile<64xi32>, tile<i32>
  }
  %p1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
  %pn = broadcast %p1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %at = offset %pn, %a : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %done = store_ptr_tko weak %at, %s : tile<64xptr<i32>>, tile<64xi32> -> token
  %stop = cmpi equal %k, %one, signed : tile<i32> -> tile<i1>
  if %stop {
    return
  }
  %more = store_ptr_tko weak %at, %r token=%done : tile<64xptr<i32>>, tile<64xi32> -> token
})");
  both.launcher.add_pointer("p", Element::i32, 64);
  both.expect_equal({1, 1, 1});
}

TEST(Blocks, WhatIsPrinted) {
  Both both = written(R"(entry @f() {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %b = constant <i64: -9000000000> : tile<i64>
  %c = constant <f32: 1.5> : tile<f32>
  print "\22%d%%\22 %5i|%-4u|%x\n", %x, %x, %x, %x : tile<i32>, tile<i32>, tile<i32>, tile<i32>
  print "%; %: %8.3f %e\n", %b, %c, %c, %c : tile<i64>, tile<f32>, tile<f32>, tile<f32>
  print "%lld\n", %b : tile<i64>
})");
  both.expect_equal({3, 1, 1});
  Both tiles = written(R"(entry @f() {
  %a = constant <i32: [[-1, 2], [3, 4]]> : tile<2x2xi32>
  %b = permute %a [1, 0] : tile<2x2xi32> -> tile<2x2xi32>
  %h = constant <f16: [0.25, -4.0]> : tile<2xf16>
  print "%i; %: %\n", %a, %b, %h : tile<2x2xi32>, tile<2x2xi32>, tile<2xf16>
})");
  tiles.expect_equal({1, 1, 1});
}

TEST(Blocks, AnAssertionThatFailsIsNamed) {
  Both both = written(R"(entry @f(%n: tile<i32>) {
  %i = iota : tile<64xi32>
  %m = reshape %n : tile<i32> -> tile<1xi32>
  %all = broadcast %m : tile<1xi32> -> tile<64xi32>
  %c = cmpi less_than %i, %all, signed : tile<64xi32> -> tile<64xi1>
  assert %c, "fewer than all" : tile<64xi1>
})");
  both.launcher.scalar(std::int64_t{64});
  EXPECT_EQ(both.refusal({2, 1, 1}), "");
  both.launcher.launch.arguments = {std::int64_t{63}};
  EXPECT_EQ(both.refusal({2, 1, 1}), "test.tile:6:3: assert: expected its condition, found it false: fewer than all");
}

TEST(Blocks, WhatALanguageLacksIsNamed) {
  const std::string body = R"(entry @f() {{
  %a = constant <{0}: 1.5> : tile<{0}>
  %b = {1} %a, %a rounding<zero> : tile<{0}>
  print "%", %b : tile<{0}>
}})";
  const std::array<std::int64_t, 3> one = {1, 1, 1};
  EXPECT_EQ(written(fmt::format(fmt::runtime(body), "f32", "addf")).refusal(one),
            "test.tile:3:3: addf: expected rounding nearest_even of f32 in OpenCL C, found zero");
  EXPECT_EQ(written(fmt::format(fmt::runtime(body), "f32", "addf")).refusal(one, "sm_90"), "");
  EXPECT_EQ(written(fmt::format(fmt::runtime(body), "f16", "divf")).refusal(one, "sm_90"),
            "test.tile:3:3: divf: expected rounding nearest_even of f16 in CUDA C++, found zero");
}

TEST(Blocks, ArgumentsAreChecked) {
  EXPECT_THAT(listing("vector_add").refusal({1, 1, 1}), testing::HasSubstr("expected 3 arguments"));
  EXPECT_THAT(listing("hello").refusal({0, 1, 1}), testing::HasSubstr("expected a grid of 1 to"));
}

}  // namespace
}  // namespace deplo::measure
