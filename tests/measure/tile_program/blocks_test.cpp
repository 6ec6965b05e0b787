// Tile programs lowered block by block, on PoCL against the interpreter, and compiled for NVIDIA's GPUs.
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

}  // namespace
}  // namespace deplo::measure
