// Tile programs lowered block by block: run on PoCL, compared with the interpreter, and compiled for NVIDIA's GPUs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/cuda/compiler/compile.h"
#include "measure/opencl/opencl.h"
#include "measure/tile_program/both.h"

namespace deplo::measure {
namespace {

namespace tp = ir::tile_program;
using ir::DType;

Both listing(const std::string& name) { return Both(both_program("experiments/tile/" + name + ".tile")); }
Both exported(const std::string& name) { return Both(both_program("experiments/tile/exported/" + name + ".tileirbc")); }

TEST(Blocks, VectorAdd) {
  Both both = listing("vector_add");
  for (const char* name : {"a", "b", "c"}) both.launcher.add_pointer(name, ir::DType::f32, 128);
  both.expect_equal({1, 1, 1});
}

TEST(Blocks, Hello) { listing("hello").expect_equal({1, 1, 1}); }

TEST(Blocks, HelloOfEachBlock) { listing("hello_grid").expect_equal({3, 2, 2}); }

TEST(Blocks, Mutex) { listing("mutex").expect_equal({7, 1, 1}); }

TEST(Blocks, GemmOfOneBlock) {
  Both both = listing("gemm_block");
  both.launcher.add_pointer("a", ir::DType::f32, 64 * 64);
  both.launcher.add_pointer("b", ir::DType::f32, 64 * 64);
  both.launcher.add_pointer("c", ir::DType::f32, 64 * 64);
  both.expect_equal({1, 1, 1}, 1e-6);
}

/// A matmul of the specification's chapter 2: a loop over tiles of f16, with dynamic extents that no tile divides.
TEST(Blocks, GemmOfViews) {
  Both both = listing("gemm_views");
  both.launcher.add_pointer("A", ir::DType::f16, 104 * 136);
  both.launcher.add_pointer("B", ir::DType::f16, 72 * 104);
  both.launcher.add_pointer("C", ir::DType::f32, 136 * 72);
  for (const std::int64_t extent : {136, 72, 104, 136, 104, 72}) both.launcher.scalar(extent);
  both.expect_equal({2, 1, 1}, 1e-6);
}

TEST(Blocks, Softmax) {
  Both both = exported("softmax");
  both.launcher.add("x", ir::DType::f32, {3, 50}, 56);
  both.launcher.add("y", ir::DType::f32, {3, 50}, 56);
  both.expect_equal({3, 1, 1}, 1e-6);
}

TEST(Blocks, RunningSum) {
  Both both = exported("running_sum");
  both.launcher.add("x", ir::DType::f32, {2, 30}, 32);
  both.launcher.add("y", ir::DType::f32, {2, 30}, 32);
  both.expect_equal({2, 1, 1});
}

TEST(Blocks, Transpose) {
  Both both = exported("transpose");
  both.launcher.add("x", ir::DType::f32, {20, 40});
  both.launcher.add("y", ir::DType::f32, {40, 20}, 24);
  both.expect_equal({2, 3, 1});
}

TEST(Blocks, Histogram) {
  Both both = exported("histogram");
  both.launcher.add("x", ir::DType::i32, {200});
  both.launcher.add("counts", ir::DType::i32, {100});
  both.expect_equal({4, 1, 1});
}

TEST(Blocks, LockedSum) {
  Both both = exported("locked_sum");
  both.launcher.add("x", ir::DType::f32, {200});
  const auto total = both.launcher.add("total", ir::DType::f32, {1}),
             lock = both.launcher.add("lock", ir::DType::i32, {1});
  both.launcher.set(total, {0}, 0);
  both.launcher.set(lock, {0}, 0);
  both.expect_equal({7, 1, 1}, 1e-5);
}

// Without the fence or the barrier, nothing orders the blocks' turns.
TEST(Blocks, LocksNeedTheirFences) {
  if (!cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  Both both = exported("locked_sum");
  both.launcher.add("x", ir::DType::f32, {200});
  for (const char* name : {"total", "lock"})
    both.launcher.set(both.launcher.add(name, *name == 't' ? ir::DType::f32 : ir::DType::i32, {1}), {0}, 0);
  both.launcher.launch.grid = {7, 1, 1};
  const std::string fence = "    fence_device();\n", barrier = "    __syncthreads();\n";
  EXPECT_EQ(both.finding(fence + barrier, fence + barrier), "");
  const auto race = ::testing::AllOf(::testing::HasSubstr("race: "), ::testing::HasSubstr("nothing orders the two"));
  EXPECT_THAT(both.finding(fence + barrier, barrier), race);
  EXPECT_THAT(both.finding("  }\n  fence_device();\n", "  }\n"), race);
}

TEST(Blocks, Matmul) {
  Both both = exported("matmul");
  both.launcher.add("a", ir::DType::bf16, {20, 24});
  both.launcher.add("b", ir::DType::bf16, {24, 40});
  both.launcher.add("c", ir::DType::f32, {20, 40});
  both.expect_equal({2, 2, 1}, 1e-6);
}

TEST(Blocks, Saxpy) {
  Both both = listing("saxpy");
  both.launcher.add_pointer("x", ir::DType::f32, 200 * 300);
  both.launcher.add_pointer("y", ir::DType::f32, 200 * 300);
  both.launcher.scalar(0.75);
  both.launcher.scalar(std::int64_t{200});
  both.launcher.scalar(std::int64_t{300});
  both.expect_equal({2, 2, 1});
}

TEST(Blocks, LayerNormBackward) {
  Both both = exported("layer_norm_backward_locked");
  for (const char* name : {"dy", "x"}) both.launcher.add(name, ir::DType::f16, {5, 50}, 56);
  both.launcher.add("w", ir::DType::f16, {50});
  for (const char* name : {"mean", "rstd"}) both.launcher.add(name, ir::DType::f32, {5});
  both.launcher.add("dx", ir::DType::f16, {5, 50}, 56);
  for (const char* name : {"dw", "db"}) both.launcher.add(name, ir::DType::f32, {50});
  both.launcher.set(both.launcher.add("lock", ir::DType::i32, {1}), {0}, 0);
  both.expect_equal({5, 1, 1}, 1e-6, 1);
}

TEST(Blocks, Fourier) {
  Both both = exported("fourier");
  for (const char* name : {"x_re", "x_im", "y_re", "y_im"}) both.launcher.add(name, ir::DType::f32, {3, 8, 8});
  for (const char* name : {"f_re", "f_im", "t_re", "t_im"}) both.launcher.add(name, ir::DType::f32, {8, 8});
  both.expect_equal({3, 1, 1}, 1e-6);
}

TEST(Blocks, CumulativeSoftmax) {
  Both both = exported("cumulative_softmax");
  for (const char* name : {"x", "y"}) both.launcher.add(name, ir::DType::f32, {3, 37}, 40);
  both.expect_equal({3, 1, 1}, 1e-6);
}

TEST(Blocks, LastBlockSum) {
  Both both = exported("last_block_sum");
  both.launcher.add("x", ir::DType::f32, {300});
  both.launcher.add("parts", ir::DType::f32, {10});
  both.launcher.set(both.launcher.add("count", ir::DType::i32, {1}), {0}, 0);
  both.launcher.add("total", ir::DType::f32, {1});
  both.expect_equal({10, 1, 1});
}

TEST(Blocks, ScatterAdd) {
  Both both = exported("scatter_add");
  both.launcher.add("x", ir::DType::f32, {150});
  both.launcher.add("index", ir::DType::i32, {150});
  both.launcher.add("y", ir::DType::f32, {100});
  both.expect_equal({3, 1, 1}, 1e-6);
}

/// Products of 16-bit floats and of tf32 become matrix instructions, unless a schedule decides otherwise.
TEST(Blocks, TensorCores) {
  if (!cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  struct Case {
    const char *program, *atom;
    DType type, output;
  };
  for (const Case& c : {Case{"matmul", "mma_m16n8k16_bf16(", DType::bf16, DType::f32},
                        Case{"matmul_128x256x64_f16", "mma_m16n8k16_f16(", DType::f16, DType::f16},
                        Case{"matmul_128x256x64_tf32", "mma_m16n8k8_tf32(", DType::f32, DType::f32}}) {
    const bool small = c.program == std::string("matmul");
    const std::int64_t m = small ? 32 : 128, n = small ? 64 : 256, k = 64;
    Both both = exported(c.program);
    both.launcher.add("a", c.type, {m, k});
    both.launcher.add("b", c.type, {k, n});
    both.launcher.add("c", c.output, {m, n});
    both.launcher.launch.grid = {small ? 2 : 1, small ? 2 : 1, 1};
    EXPECT_THAT(both.source("sm_80"), ::testing::HasSubstr(c.atom)) << c.program;
    EXPECT_THAT(both.source("sm_90"), ::testing::HasSubstr(c.atom)) << c.program;
    if (small) both.expect_equal(both.launcher.launch.grid, 1e-5);
  }
}

/// A kernel that reads what it writes begins each launch with the saved contents.
TEST(Blocks, SavedContentsComeBack) {
  const tp::Program program = tp::read_program(R"(
entry @more(%x: tile<ptr<f32>>) {
  %i = iota : tile<8xi32>
  %x1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %xs = broadcast %x1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %xp = offset %xs, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %v, %t = load_ptr_tko weak %xp : tile<8xptr<f32>> -> tile<8xf32>, token
  %one = constant <f32: 1.0> : tile<8xf32>
  %s = addf %v, %one : tile<8xf32>
  %u = store_ptr_tko weak %xp, %s token=%t : tile<8xptr<f32>>, tile<8xf32> -> token
}
)",
                                               "test.tile");
  const std::vector<tp::Array> arrays = {tp::make_array("x", DType::f32, 8)};
  const tp::Launch launch{.arguments = {tp::ArrayArgument{0}}, .grid = {1, 1, 1}};
  for (const char* name : {"opencl", "ptx:sm_80"}) {
    if (name == std::string("opencl") ? opencl_devices().empty() : !cuda::Nvrtc::available()) continue;
    const auto device = open_device(name);
    const Target target = target_of(device->info());
    rules::BlockKernel kernel = rules::lower_blocks(program, launch, arrays, {.threads = target.cpu ? 1 : 32}, target);
    EXPECT_EQ(kernel.written, std::vector<bool>{true});
    const auto memory = device->allocate(kernel.kernel.buffers);
    for (const bool restored : {false, true}) {
      if (restored) kernel.source.restored = {0};
      const auto executable = device->build({kernel.kernel, kernel.source});
      ASSERT_TRUE(executable.ok()) << executable.failure().message;
      memory->write(0, std::vector<float>(8, 5));
      memory->save(0);
      for (int i = 0; i < 3; ++i) ASSERT_FALSE(executable.value()->execute(*memory, 1));
      EXPECT_EQ(memory->read(0)[7], restored ? 6 : 8) << name;
    }
  }
}

// --- Control, memory and printing, in small programs -----------------------------------------------------------------

Both written(const std::string& body) { return Both(tp::read_program(body, "test.tile")); }

/// All threads read results of a reduction, which fewer threads have written.
TEST(Blocks, FewRowsOfAReductionAreRead) {
  Both both(tp::read_program(R"(
entry @few_rows(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
  %i = iota : tile<256xi32>
  %x1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %xs = broadcast %x1 : tile<1xptr<f32>> -> tile<256xptr<f32>>
  %xp = offset %xs, %i : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
  %v, %t = load_ptr_tko weak %xp : tile<256xptr<f32>> -> tile<256xf32>, token
  %m = reshape %v : tile<256xf32> -> tile<4x64xf32>
  %s = reduce %m dim=1 identities=[0.0 : f32] : tile<4x64xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
    %c = addf %a, %b : tile<f32>
    yield %c : tile<f32>
  }
  %r = reshape %s : tile<4xf32> -> tile<4x1xf32>
  %w = broadcast %r : tile<4x1xf32> -> tile<4x64xf32>
  %d = subf %m, %w : tile<4x64xf32>
  %f = reshape %d : tile<4x64xf32> -> tile<256xf32>
  %y1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
  %ys = broadcast %y1 : tile<1xptr<f32>> -> tile<256xptr<f32>>
  %yp = offset %ys, %i : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
  %u = store_ptr_tko weak %yp, %f : tile<256xptr<f32>>, tile<256xf32> -> token
}
)",
                             "few_rows.tile"));
  for (const char* name : {"x", "y"}) both.launcher.add_pointer(name, ir::DType::f32, 256);
  both.threads = {8, 32, 64};
  both.expect_equal({1, 1, 1});
}

/// Carried tiles that change places, tiles that a branch chooses, and a loop whose end depends on data.
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
  both.launcher.add_pointer("p", ir::DType::i32, 64);
  both.expect_equal({1, 1, 1});
}

/// Every thread holds a one-element tile, also the result of a scan.
TEST(Blocks, AScanOfOneElement) {
  Both both = written(R"(entry @f(%p: tile<ptr<f32>>) {
  %c = constant <f32: 1.5> : tile<1xf32>
  %s = scan %c dim=0 reverse=false identities=[0.5 : f32] : tile<1xf32> -> tile<1xf32>
  (%a: tile<f32>, %b: tile<f32>) {
    %d = addf %a, %b : tile<f32>
    yield %d : tile<f32>
  }
  %i = iota : tile<64xi32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pn = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %at = offset %pn, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %all = broadcast %s : tile<1xf32> -> tile<64xf32>
  %t = store_ptr_tko weak %at, %all : tile<64xptr<f32>>, tile<64xf32> -> token
})");
  both.launcher.add_pointer("p", ir::DType::f32, 64);
  both.expect_equal({1, 1, 1});
}

/// A product with one element along k, one sum per thread, whose result other threads read too.
TEST(Blocks, AnOuterProduct) {
  Both both = written(R"(entry @f(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
  %i = iota : tile<64xi32>
  %e = iota : tile<8xi32>
  %f = itof %e signed : tile<8xi32> -> tile<8xf32>
  %a = reshape %f : tile<8xf32> -> tile<8x1xf32>
  %b = reshape %f : tile<8xf32> -> tile<1x8xf32>
  %c = constant <f32: 1.0> : tile<8x8xf32>
  %m = mmaf %a, %b, %c : tile<8x1xf32>, tile<1x8xf32>, tile<8x8xf32>
  %x = reshape %m : tile<8x8xf32> -> tile<64xf32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pn = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %at = offset %pn, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %t = store_ptr_tko weak %at, %x : tile<64xptr<f32>>, tile<64xf32> -> token
  %n = permute %m [1, 0] : tile<8x8xf32> -> tile<8x8xf32>
  %y = reshape %n : tile<8x8xf32> -> tile<64xf32>
  %q1 = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>
  %qn = broadcast %q1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %to = offset %qn, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %u = store_ptr_tko weak %to, %y : tile<64xptr<f32>>, tile<64xf32> -> token
})");
  for (const char* name : {"p", "q"}) both.launcher.add_pointer(name, ir::DType::f32, 64);
  both.threads = {1, 64};
  both.expect_equal({1, 1, 1});
}

/// Without an iteration, the barriers in a loop are not executed. The reads after the loop need one of their own.
TEST(Blocks, ALoopWithoutIterations) {
  Both both = written(R"(entry @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %half = constant <f32: 0.5> : tile<64xf32>
  %i = iota : tile<64xi32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pn = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %at = offset %pn, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %v, %t = load_ptr_tko weak %at : tile<64xptr<f32>> -> tile<64xf32>, token
  %x = addf %v, %half : tile<64xf32>
  %s = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%a = %half) -> (tile<64xf32>) {
    %h = mulf %a, %half : tile<64xf32>
    %m = reshape %x : tile<64xf32> -> tile<8x8xf32>
    %o = permute %m [1, 0] : tile<8x8xf32> -> tile<8x8xf32>
    %r = reshape %o : tile<8x8xf32> -> tile<64xf32>
    %b = addf %h, %r : tile<64xf32>
    continue %b : tile<64xf32>
  }
  %e = reshape %x : tile<64xf32> -> tile<16x4xf32>
  %f = permute %e [1, 0] : tile<16x4xf32> -> tile<4x16xf32>
  %g = reshape %f : tile<4x16xf32> -> tile<64xf32>
  %y = addf %s, %g : tile<64xf32>
  %u = store_ptr_tko weak %at, %y token = %t : tile<64xptr<f32>>, tile<64xf32> -> token
})");
  both.launcher.add_pointer("p", ir::DType::f32, 64);
  for (const std::int64_t n : {0, 2}) {
    both.launcher.launch.arguments.resize(1);
    both.launcher.scalar(n);
    both.expect_equal({1, 1, 1});
  }
}

/// Threads read a carried tile in another order. Between the iterations, nothing else needs a barrier.
TEST(Blocks, ACarriedTileThatMoves) {
  Both both = written(R"(entry @f(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %three = constant <i32: 3> : tile<i32>
  %half = constant <f32: 0.5> : tile<64xf32>
  %double = constant <f32: 2.0> : tile<128xf32>
  %i = iota : tile<64xi32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pn = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %at = offset %pn, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %j = iota : tile<128xi32>
  %q1 = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>
  %qn = broadcast %q1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %to = offset %qn, %j : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %v, %t = load_ptr_tko weak %at : tile<64xptr<f32>> -> tile<64xf32>, token
  %w, %u = load_ptr_tko weak %to : tile<128xptr<f32>> -> tile<128xf32>, token
  %x = addf %w, %double : tile<128xf32>
  %s, %z = for %k in (%zero to %three, step %one) : tile<i32> iter_values(%a = %v, %b = %x) -> (tile<64xf32>, tile<128xf32>) {
    %m = reshape %a : tile<64xf32> -> tile<8x8xf32>
    %n = permute %m [1, 0] : tile<8x8xf32> -> tile<8x8xf32>
    %o = reshape %n : tile<8x8xf32> -> tile<64xf32>
    %c = addf %o, %half : tile<64xf32>
    %d = mulf %b, %double : tile<128xf32>
    continue %c, %d : tile<64xf32>, tile<128xf32>
  }
  %e = reshape %x : tile<128xf32> -> tile<16x8xf32>
  %f = permute %e [1, 0] : tile<16x8xf32> -> tile<8x16xf32>
  %g = reshape %f : tile<8x16xf32> -> tile<128xf32>
  %y = addf %z, %g : tile<128xf32>
  %done = store_ptr_tko weak %at, %s token = %t : tile<64xptr<f32>>, tile<64xf32> -> token
  %end = store_ptr_tko weak %to, %y token = %u : tile<128xptr<f32>>, tile<128xf32> -> token
})");
  both.launcher.add_pointer("p", ir::DType::f32, 64);
  both.launcher.add_pointer("q", ir::DType::f32, 128);
  both.expect_equal({1, 1, 1});
}

/// Tiles that do not fit in registers are in memory that later tiles use with other types, so at other bytes.
TEST(Blocks, LargeTilesShareMemory) {
  Both both = written(R"(entry @f(%p: tile<ptr<f32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %i = iota : tile<16384xi32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pn = broadcast %p1 : tile<1xptr<f32>> -> tile<16384xptr<f32>>
  %at = offset %pn, %i : tile<16384xptr<f32>>, tile<16384xi32> -> tile<16384xptr<f32>>
  %x, %t = load_ptr_tko weak %at : tile<16384xptr<f32>> -> tile<16384xf32>, token
  %y = for %k in (%zero to %one, step %one) : tile<i32> iter_values(%a = %x) -> (tile<16384xf32>) {
    %e = mulf %a, %a : tile<16384xf32>
    %f = mulf %e, %e : tile<16384xf32>
    %g = addf %e, %f : tile<16384xf32>
    continue %g : tile<16384xf32>
  }
  %z = for %l in (%zero to %one, step %one) : tile<i32> iter_values(%b = %y) -> (tile<16384xf32>) {
    %h = ftof %b : tile<16384xf32> -> tile<16384xf64>
    %u = mulf %h, %h : tile<16384xf64>
    %v = addf %h, %u : tile<16384xf64>
    %w = ftof %v : tile<16384xf64> -> tile<16384xf32>
    continue %w : tile<16384xf32>
  }
  %d = store_ptr_tko weak %at, %z token = %t : tile<16384xptr<f32>>, tile<16384xf32> -> token
})");
  both.launcher.add_pointer("p", ir::DType::f32, 16384);
  both.expect_equal({1, 1, 1});
}

/// Each step reads two elements of the step before. An element of the last one is not computed from the first ones.
TEST(Blocks, StepsOfANetworkAreKept) {
  constexpr int steps = 8;
  std::string text = R"(entry @f(%p: tile<ptr<i32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %x0 = iota : tile<32xi32>
)";
  for (int step = 0; step < steps; ++step) {
    const int apart = 1 << step % 5;
    text += fmt::format(R"(
  %r{0} = reshape %x{0} : tile<32xi32> -> tile<{2}x2x{3}xi32>
  %l{0} = extract %r{0}[%zero, %zero, %zero] : tile<{2}x2x{3}xi32> -> tile<{2}x1x{3}xi32>
  %h{0} = extract %r{0}[%zero, %one, %zero] : tile<{2}x2x{3}xi32> -> tile<{2}x1x{3}xi32>
  %c{0} = cat %h{0}, %l{0} dim = 1 : tile<{2}x1x{3}xi32>, tile<{2}x1x{3}xi32> -> tile<{2}x2x{3}xi32>
  %f{0} = reshape %c{0} : tile<{2}x2x{3}xi32> -> tile<32xi32>
  %x{1} = addi %x{0}, %f{0} : tile<32xi32>
)",
                        step, step + 1, 16 / apart, apart);
  }
  Both both = written(text + fmt::format(R"(
  %p1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
  %pn = broadcast %p1 : tile<1xptr<i32>> -> tile<32xptr<i32>>
  %at = offset %pn, %x0 : tile<32xptr<i32>>, tile<32xi32> -> tile<32xptr<i32>>
  %t = store_ptr_tko weak %at, %x{} : tile<32xptr<i32>>, tile<32xi32> -> token
}})",
                                         steps));
  both.launcher.add_pointer("p", ir::DType::i32, 32);
  both.launcher.launch.grid = {1, 1, 1};
  ASSERT_LT(both.source("sm_80").size(), 100'000U);
  both.expect_equal({1, 1, 1});
}

/// Each step reads the same element of the step before twice, which is computed once.
TEST(Blocks, AHashOfManySteps) {
  constexpr int steps = 40;
  std::string text = R"(entry @f(%p: tile<ptr<i32>>) {
  %three = constant <i32: 3> : tile<64xi32>
  %x0 = iota : tile<64xi32>
)";
  for (int step = 0; step < steps; ++step)
    text += fmt::format(R"(
  %s{0} = shli %x{0}, %three : tile<64xi32>
  %x{1} = xori %x{0}, %s{0} : tile<64xi32>
)",
                        step, step + 1);
  Both both = written(text + fmt::format(R"(
  %p1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
  %pn = broadcast %p1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %at = offset %pn, %x0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %t = store_ptr_tko weak %at, %x{} : tile<64xptr<i32>>, tile<64xi32> -> token
}})",
                                         steps));
  both.launcher.add_pointer("p", ir::DType::i32, 64);
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
  EXPECT_EQ(both.refusal({2, 1, 1}),
            "test.tile:6:3: assert: expected a true condition, found a false one: fewer than all");
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
  EXPECT_THAT(listing("vector_add").refusal({1, 1, 1}), ::testing::HasSubstr("expected 3 arguments"));
  EXPECT_THAT(listing("hello").refusal({0, 1, 1}), ::testing::HasSubstr("expected a grid of 1 to"));
}

/// Loads and stores through all kinds of views, of an alloca, a global and an argument.
TEST(Blocks, Views) {
  Both both = written(R"(global @table <i16: [3, 1, 4, 1, 5, 9, 2, 6]> : tile<8xi16>
entry @f(%a: tile<ptr<f32>>, %n: tile<i32>, %rows: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %p = alloca num_elem = 16, alignment = 16 : tile<ptr<i32>>
  %v = make_tensor_view %p, shape = [6], strides = [2] : tensor_view<6xi32, strides=[2]>
  %w = make_partition_view %v : partition_view<tile=(4), padding_value = zero, tensor_view<6xi32, strides=[2]>>
  %i = iota : tile<4xi32>
  %t = store_view_tko weak %i, %w[%zero] : tile<4xi32>, partition_view<tile=(4), padding_value = zero, tensor_view<6xi32, strides=[2]>>, tile<i32> -> token
  %s = make_strided_view %v : strided_view<tile=(2), traversal_strides=[3], tensor_view<6xi32, strides=[2]>>
  %l, %u = load_view_tko weak %s[%zero] token = %t : strided_view<tile=(2), traversal_strides=[3], tensor_view<6xi32, strides=[2]>>, tile<i32> -> tile<2xi32>, token
  %k = get_index_space_shape %s : strided_view<tile=(2), traversal_strides=[3], tensor_view<6xi32, strides=[2]>> -> tile<i32>
  %g = make_gather_scatter_view %v : gather_scatter_view<tile=(4), padding_value = zero, tensor_view<6xi32, strides=[2]>, sparse_dim=0>
  %x = constant <i32: [2, 3, 1, 7]> : tile<4xi32>
  %h, %t2 = load_view_tko weak %g[%x] token = %t : gather_scatter_view<tile=(4), padding_value = zero, tensor_view<6xi32, strides=[2]>, sparse_dim=0>, tile<4xi32> -> tile<4xi32>, token
  %q = get_global @table : tile<ptr<i16>>
  %qv = make_tensor_view %q, shape = [8], strides = [1] : tensor_view<8xi16, strides=[1]>
  %qw = make_partition_view %qv : partition_view<tile=(8), tensor_view<8xi16, strides=[1]>>
  %m, %t3 = load_view_tko weak %qw[%zero] : partition_view<tile=(8), tensor_view<8xi16, strides=[1]>>, tile<i32> -> tile<8xi16>, token
  print "% % % %:", %l, %k, %h, %m : tile<2xi32>, tile<i32>, tile<4xi32>, tile<8xi16>

  %av = make_tensor_view %a, shape = [%rows, 5], strides = [%n, 1] : tile<i32> -> tensor_view<?x5xf32, strides=[?,1]>
  %as = assume div_by<4>, %av : tensor_view<?x5xf32, strides=[?,1]>
  %aw = make_partition_view %as : partition_view<tile=(4x8), padding_value = neg_inf, tensor_view<?x5xf32, strides=[?,1]>, dim_map=[1, 0]>
  %tile, %ta = load_view_tko weak %aw[%one, %zero] : partition_view<tile=(4x8), padding_value = neg_inf, tensor_view<?x5xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<4x8xf32>, token
  print "%.4f\n", %tile : tile<4x8xf32>
  %sum = addf %tile, %tile : tile<4x8xf32>
  %done = store_view_tko release device %sum, %aw[%one, %zero] token = %ta : tile<4x8xf32>, partition_view<tile=(4x8), padding_value = neg_inf, tensor_view<?x5xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> token
  %ar = make_partition_view %as : partition_view<tile=(2x4), tensor_view<?x5xf32, strides=[?,1]>>
  %one24 = constant <f32: 1.0> : tile<2x4xf32>
  %again = atomic_red_view_tko relaxed device %ar[%zero, %zero], addf, %one24 token = %done : tile<2x4xf32>, partition_view<tile=(2x4), tensor_view<?x5xf32, strides=[?,1]>>, tile<i32> -> token
})");
  both.launcher.add_pointer("a", ir::DType::f32, 60);
  both.launcher.scalar(std::int64_t{8});
  both.launcher.scalar(std::int64_t{7});
  both.expect_equal({1, 1, 1});
}

/// Allocas with several alignments, in several blocks, do not overlap.
TEST(Blocks, AllocasOfSeveralAlignments) {
  Both both = written(R"(entry @f(%a: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %p = alloca num_elem = 4, alignment = 4 : tile<ptr<i32>>
  %q = alloca num_elem = 64, alignment = 256 : tile<ptr<i32>>
  %pv = make_tensor_view %p, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
  %qv = make_tensor_view %q, shape = [64], strides = [1] : tensor_view<64xi32, strides=[1]>
  %pw = make_partition_view %pv : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
  %qw = make_partition_view %qv : partition_view<tile=(64), tensor_view<64xi32, strides=[1]>>
  %i = iota : tile<64xi32>
  %x1 = reshape %x : tile<i32> -> tile<1xi32>
  %xs = broadcast %x1 : tile<1xi32> -> tile<64xi32>
  %n = addi %i, %xs : tile<64xi32>
  %x4 = broadcast %x1 : tile<1xi32> -> tile<4xi32>
  %t = store_view_tko weak %n, %qw[%zero] : tile<64xi32>, partition_view<tile=(64), tensor_view<64xi32, strides=[1]>>, tile<i32> -> token
  %u = store_view_tko weak %x4, %pw[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
  %r, %v = load_view_tko weak %qw[%zero] token = %t : partition_view<tile=(64), tensor_view<64xi32, strides=[1]>>, tile<i32> -> tile<64xi32>, token
  %av = make_tensor_view %a, shape = [192], strides = [1] : tensor_view<192xi32, strides=[1]>
  %aw = make_partition_view %av : partition_view<tile=(64), tensor_view<192xi32, strides=[1]>>
  %w = store_view_tko weak %r, %aw[%x] : tile<64xi32>, partition_view<tile=(64), tensor_view<192xi32, strides=[1]>>, tile<i32> -> token
})");
  both.launcher.add_pointer("a", ir::DType::i32, 192);
  both.expect_equal({3, 1, 1});
}

/// Atomic additions of types that OpenCL 1.2 has no atomics for, and exchanges, for each element or once per block.
TEST(Blocks, AtomicsOfEachWidth) {
  for (const char* type : {"f16", "bf16", "f32", "f64"}) {
    Both both = written(fmt::format(R"(entry @f(%p: tile<ptr<{0}>>, %q: tile<ptr<{0}>>) {{
  %i = iota : tile<64xi32>
  %seven = constant <i32: 7> : tile<64xi32>
  %j = andi %i, %seven : tile<64xi32>
  %p1 = reshape %p : tile<ptr<{0}>> -> tile<1xptr<{0}>>
  %pn = broadcast %p1 : tile<1xptr<{0}>> -> tile<64xptr<{0}>>
  %at = offset %pn, %j : tile<64xptr<{0}>>, tile<64xi32> -> tile<64xptr<{0}>>
  %half = constant <{0}: 0.5> : tile<64x{0}>
  %x, %t = atomic_rmw_tko relaxed sys %at, addf, %half : tile<64xptr<{0}>>, tile<64x{0}> -> tile<64x{0}>, token
  %one = constant <{0}: 1.0> : tile<{0}>
  %y, %u = atomic_rmw_tko acq_rel device %q, addf, %one : tile<ptr<{0}>>, tile<{0}> -> tile<{0}>, token
  print "%.1f\n", %y : tile<{0}>
}})",
                                    type));
    for (const char* name : {"p", "q"}) {
      both.launcher.add_pointer(name, *ir::parse_tile_dtype(type), 8);
      for (std::int64_t i = 0; i < 8; ++i) both.launcher.arrays.back().set(i, 0);
    }
    both.expect_equal({5, 1, 1});
  }
  for (const char* type : {"i32", "i64", "f32", "f64"}) {
    Both both = written(fmt::format(R"(entry @f(%p: tile<ptr<{0}>>, %v: tile<{0}>, %w: tile<{0}>) {{
  %i = iota : tile<8xi32>
  %p1 = reshape %p : tile<ptr<{0}>> -> tile<1xptr<{0}>>
  %pn = broadcast %p1 : tile<1xptr<{0}>> -> tile<8xptr<{0}>>
  %at = offset %pn, %i : tile<8xptr<{0}>>, tile<8xi32> -> tile<8xptr<{0}>>
  %v1 = reshape %v : tile<{0}> -> tile<1x{0}>
  %vn = broadcast %v1 : tile<1x{0}> -> tile<8x{0}>
  %w1 = reshape %w : tile<{0}> -> tile<1x{0}>
  %wn = broadcast %w1 : tile<1x{0}> -> tile<8x{0}>
  %m = constant <i1: [true, true, false, true, true, true, true, false]> : tile<8xi1>
  %x, %t = atomic_cas_tko acquire device %at, %vn, %wn, %m : tile<8xptr<{0}>>, tile<8x{0}>, tile<8xi1> -> tile<8x{0}>, token
  %y, %u = atomic_rmw_tko release device %at, xchg, %vn, %m token = %t : tile<8xptr<{0}>>, tile<8x{0}>, tile<8xi1> -> tile<8x{0}>, token
  %four = constant <i32: 4> : tile<i32>
  %q = offset %p, %four : tile<ptr<{0}>>, tile<i32> -> tile<ptr<{0}>>
  %z, %s = load_ptr_tko acquire device %q token = %u : tile<ptr<{0}>> -> tile<{0}>, token
  %eight = constant <i32: 8> : tile<8xi32>
  %behind = offset %at, %eight : tile<8xptr<{0}>>, tile<8xi32> -> tile<8xptr<{0}>>
  %d = store_ptr_tko weak %behind, %x token = %s : tile<8xptr<{0}>>, tile<8x{0}> -> token
  %five = constant <i32: 16> : tile<i32>
  %r = offset %p, %five : tile<ptr<{0}>>, tile<i32> -> tile<ptr<{0}>>
  %e = store_ptr_tko relaxed device %r, %z token = %s : tile<ptr<{0}>>, tile<{0}> -> token
}})",
                                    type));
    both.launcher.add_pointer("p", *ir::parse_tile_dtype(type), 17);
    for (const std::int64_t i : {1, 2, 6}) both.launcher.arrays.back().set(i, 7);
    both.launcher.scalar(std::int64_t{7});
    both.launcher.scalar(std::int64_t{-3});
    both.expect_equal({1, 1, 1});
  }
}

// --- ../shared/tile_programs, if they exist --------------------------------------------------------------------------

class BlocksShared : public ::testing::Test {
 protected:
  void SetUp() override {
    if (tp::shared_programs().empty()) GTEST_SKIP() << "no ../shared/tile_programs";
  }
  static Both load(const std::string& name) {
    return Both(tp::read_file_program(tp::shared_programs() / (name + ".tileirbc")));
  }
};

TEST_F(BlocksShared, Matmul) {
  Both both = load("05_matmul_kernel");
  both.interprets = false;
  both.launcher.add("A", ir::DType::f16, {70, 90}, 96);
  both.launcher.add("B", ir::DType::f16, {90, 300}, 304);
  both.launcher.add("C", ir::DType::f16, {70, 300}, 304);
  both.expect_equal({2, 1, 1}, 1e-6, 1);
}

TEST_F(BlocksShared, LayerNorm) {
  Both both = load("08_layer_norm_fwd");
  both.launcher.add("X", ir::DType::f16, {3, 1500}, 1504);
  both.launcher.add("W", ir::DType::f16, {1500});
  both.launcher.add("B", ir::DType::f16, {1500});
  both.launcher.add("Y", ir::DType::f16, {3, 1500}, 1504);
  both.launcher.add("Mean", ir::DType::f32, {3});
  both.launcher.add("Rstd", ir::DType::f32, {3});
  both.launcher.scalar(1e-5);
  both.expect_equal({3, 1, 1}, 1e-6, 2);
}

TEST_F(BlocksShared, Attention) {
  Both both = load("11_fmha_kernel");
  both.interprets = false;
  both.threads = {1};  // PoCL takes half a minute to compile the kernel
  for (const char* name : {"Q", "K", "V", "Out"}) both.launcher.add(name, ir::DType::f16, {1, 8, 200, 64});
  both.launcher.scalar(0.125);
  both.launcher.scalar(std::int64_t{0});
  both.expect_equal({2, 8, 1}, 1e-3);
}

TEST_F(BlocksShared, MixtureOfExperts) {
  Both both = load("13_fused_moe_kernel");
  both.interprets = false;
  both.launcher.add("A", ir::DType::f16, {50, 40});
  both.launcher.add("B", ir::DType::f16, {4, 72, 40});
  both.launcher.add("C", ir::DType::f16, {100, 72});
  both.launcher.add("topk_weights", ir::DType::f16, {100});
  const auto ids = both.launcher.add("sorted_token_ids", ir::DType::i32, {512}),
             experts = both.launcher.add("sorted_expert_ids", ir::DType::i32, {4});
  for (std::int64_t i = 0; i < 512; ++i)  // 25 tokens of each expert, padded with ids beyond the last one
    both.launcher.set(ids, {i}, i % 128 < 25 ? static_cast<double>(i % 128 * 4 + i / 128) : 100);
  for (std::int64_t i = 0; i < 4; ++i) both.launcher.set(experts, {i}, static_cast<double>(i));
  both.launcher.scalar(std::int64_t{2});
  both.expect_equal({4, 1, 1}, 1e-6, 2);
}

}  // namespace
}  // namespace deplo::measure
