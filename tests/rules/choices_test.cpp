// Tests the untuned compiler's choices: the first option of each fork, for each rule and target.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/rng.h"
#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/lower.h"
#include "rules/programs.h"
#include "rules/tile/helpers/options.h"

namespace deplo::rules {
namespace {

// Returns the knob's value in the heuristic's schedule; nullopt if the schedule does not have this knob.
std::optional<std::int64_t> first(const ir::Program& loop, const char* target, std::string_view knob) {
  const Lowering lowering = heuristic(loop, load_target(target));
  for (const Choice& choice : lowering.trail())
    if (choice.knob == knob) return std::get<std::int64_t>(choice.value);
  return std::nullopt;
}

std::vector<Value> options(const ir::Program& loop, const char* target, std::string_view knob) {
  Lowering lowering(loop, load_target(target));
  while (lowering.fork() && lowering.fork()->knob != knob) lowering.choose(0);
  return lowering.fork() ? lowering.fork()->options : std::vector<Value>{};
}

// On a CPU, a thread computes two lines of windows. Its loop over a window is unrolled, and nothing is prefetched.
TEST(Choices, WindowsOfACpuShareLines) {
  const auto loop = [](std::int64_t side) {
    return ir::parse(
        fmt::format("=== loop: pool ===\ninput x: f32[8, {0}, {0}]\noutput y: f32[8, 64, 64]\n"
                    "for a0 in 0..8: # free\n  for a1 in 0..64: # free\n    for a2 in 0..64: # free\n"
                    "      for a3 in 0..{1}: # reduce\n"
                    "        in0 = load x[a0, (a1 + (a3 / {2})), (a2 + (a3 % {2}))]\n"
                    "        acc0 <- add(acc0, in0)\n      y[a0, a1, a2] = acc0\n",
                    63 + side, side * side, side));
  };
  EXPECT_EQ(first(loop(7), "opencl-cpu", "blockify_launch.rows"), 2);
  EXPECT_EQ(first(loop(7), "opencl-cpu", "vectorize.width"), 16);
  EXPECT_EQ(first(loop(7), "opencl-cpu", "prefetch.x"), 0);
  EXPECT_EQ(first(loop(3), "opencl-cpu", "mark_unroll.a7"), 0);  // unrolled whole
  EXPECT_EQ(first(loop(7), "opencl-cpu", "mark_unroll.a7"), 7);  // a line at a time
  EXPECT_EQ(first(loop(9), "opencl-cpu", "mark_unroll.a7"), 9);
  EXPECT_EQ(first(loop(20), "opencl-cpu", "mark_unroll.a7"), 1);  // lines are too long, too
}

// In a depthwise convolution with few channels, vectors lie along the channels, and threads take rows of positions. It
// is not scheduled as a matmul, although no thread axis with several elements walks the channels in that schedule.
TEST(Choices, DepthwiseConvolutionsOfACpuAreNoMatmuls) {
  const ir::Program loop = ir::parse(
      "=== loop: depthwise ===\ninput x: f32[18, 18, 96]\ninput w: f32[3, 3, 96]\noutput y: f32[16, 16, 96]\n"
      "for a0 in 0..16: # free\n  for a1 in 0..16: # free\n    for a2 in 0..96: # free\n"
      "      for a3 in 0..9: # reduce\n        in0 = load x[(a0 + (a3 / 3)), (a1 + (a3 % 3)), a2]\n"
      "        in1 = load w[(a3 / 3), (a3 % 3), a2]\n        v0 = multiply(in0, in1)\n"
      "        acc0 <- add(acc0, v0)\n      y[a0, a1, a2] = acc0\n");
  EXPECT_EQ(first(loop, "opencl-cpu", "blockify_launch.threads"), 1);
  EXPECT_GT(first(loop, "opencl-cpu", "blockify_launch.rows"), 1);
  EXPECT_EQ(first(loop, "opencl-cpu", "vectorize.width"), 16);
  EXPECT_EQ(first(loop, "opencl-cpu", "register_tile.fm"), std::nullopt);
}

// On a GPU, a thread computes one window. A block has up to 256 windows, from several lines or images.
TEST(Choices, ShortSumsAreAThreadsOwn) {
  const auto pool = [](std::int64_t side, std::int64_t window) {
    return ir::parse(
        fmt::format("=== loop: pool ===\ninput x: f32[512, {0}, {0}]\noutput y: f32[512, {1}, {1}]\n"
                    "for a0 in 0..512: # free\n  for a1 in 0..{1}: # free\n    for a2 in 0..{1}: # free\n"
                    "      for a3 in 0..{3}: # reduce\n"
                    "        in0 = load x[a0, ((a1 * {2}) + (a3 / {2})), ((a2 * {2}) + (a3 % {2}))]\n"
                    "        acc0 <- maximum(acc0, in0)\n      y[a0, a1, a2] = acc0\n",
                    side, side / window, window, window * window));
  };
  EXPECT_EQ(first(pool(56, 2), "sm_90", "join_axes.count"), 2);  // images of 28 x 28 windows
  EXPECT_EQ(first(pool(8, 2), "sm_90", "join_axes.count"), 3);   // images of 4 x 4 windows
  EXPECT_EQ(first(pool(256, 2), "sm_90", "join_axes.count"), std::nullopt);
  EXPECT_EQ(first(pool(56, 2), "opencl-cpu", "join_axes.count"), std::nullopt);
  EXPECT_EQ(first(pool(56, 2), "sm_90", "cooperative_reduce.threads"), 1);
  EXPECT_EQ(first(pool(56, 2), "sm_90", "cooperative_reduce.rows"), 256);
  EXPECT_EQ(first(pool(8, 2), "sm_90", "cooperative_reduce.rows"), 32);      // 8192 windows for 132 units
  EXPECT_EQ(first(pool(48, 6), "sm_90", "cooperative_reduce.threads"), 32);  // 36 elements in a window
  const auto rows = [](std::int64_t columns) {
    return ir::parse(
        fmt::format("=== loop: sum ===\ninput x: f32[99999, {0}]\noutput y: f32[99999]\n"
                    "for a0 in 0..99999: # free\n  for a1 in 0..{0}: # reduce\n    in0 = load x[a0, a1]\n"
                    "    acc0 <- add(acc0, in0)\n  y[a0] = acc0\n",
                    columns));
  };
  EXPECT_EQ(first(rows(16), "sm_90", "cooperative_reduce.threads"), 4);
  EXPECT_EQ(first(rows(16), "sm_90", "cooperative_reduce.rows"), 64);
  EXPECT_EQ(first(rows(31), "sm_90", "cooperative_reduce.threads"), 8);
  EXPECT_EQ(first(rows(32), "sm_90", "cooperative_reduce.threads"), 32);
}

// Returns a loop program for one row of a matmul with `n` columns. Neighbouring columns are adjacent in memory.
ir::Program vector_times_matrix(std::int64_t n) {
  return ir::parse(
      fmt::format("=== loop: linear ===\ninput x: f32[4096]\ninput w: f32[4096, {0}]\noutput y: f32[{0}]\n"
                  "for a0 in 0..{0}: # free\n  for a1 in 0..4096: # reduce\n    in0 = load x[a1]\n"
                  "    in1 = load w[a1, a0]\n    v0 = multiply(in0, in1)\n    acc0 <- add(acc0, v0)\n"
                  "  y[a0] = acc0\n",
                  n));
}

// All columns read the same vector, so the threads of a warp take neighbouring columns and read adjacent elements of
// the matrix.
TEST(Choices, AGpuSumsNeighbouringColumnsInAWarp) {
  for (const char* target : {"sm_80", "sm_90"}) {
    EXPECT_EQ(first(vector_times_matrix(4096), target, "cooperative_reduce.rows"), 32);
    EXPECT_EQ(first(vector_times_matrix(4096), target, "chunk_reduce.chunk"), 0);  // nothing to stage
    EXPECT_EQ(first(vector_times_matrix(4096), target, "mark_unroll.a3"), 16);     // keeps loads in flight
  }
  EXPECT_EQ(first(vector_times_matrix(4096), "sm_90", "cooperative_reduce.threads"), 32);  // 128 blocks for 132 units
  EXPECT_EQ(first(vector_times_matrix(4096), "sm_80", "cooperative_reduce.threads"), 16);  // 108 units
  EXPECT_EQ(first(vector_times_matrix(32768), "sm_90", "cooperative_reduce.threads"), 8);
}

TEST(Choices, KIsSplitWhereBlocksOf64X128DoNotFillTheDevice) {
  EXPECT_EQ(first(matmul(32, 512, 3584), "sm_120", "split_matmul_k.splits"), 56);   // 4 blocks, 170 units, 224 chunks
  EXPECT_EQ(first(matmul(512, 3584, 3584), "sm_120", "split_matmul_k.splits"), 1);  // 224 blocks
  EXPECT_EQ(first(matmul(256, 3584, 3584), "sm_120", "split_matmul_k.splits"), 2);
  EXPECT_EQ(first(matmul(32, 512, 3584), "opencl-cpu", "split_matmul_k.splits"), std::nullopt);
}

// opencl-cpu has two cores: three blocks take as long as four.
TEST(Choices, AllCoresHaveAsManyBlocks) {
  const auto columns = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return first(matmul(m, n, k), "opencl-cpu", "blockify_launch.bn");
  };
  EXPECT_EQ(columns(128, 384, 256), 96);   // four blocks rather than three of 128
  EXPECT_EQ(columns(128, 512, 256), 128);  // four blocks
  EXPECT_EQ(columns(128, 896, 256), 128);  // seven blocks: other widths lose more than the idle eighth
  const std::vector<Value> widths = options(matmul(128, 384, 256), "opencl-cpu", "blockify_launch.bn");
  EXPECT_NE(std::ranges::find(widths, Value(128)), widths.end());
}

// opencl-cpu has caches of 32 MiB.
TEST(Choices, OutputsThatLeaveTheCachesAreStreamedUnlessArithmeticIsMuch) {
  const auto streamed = [](const char* target, std::int64_t rows, const char* statements) {
    const auto loop =
        ir::parse(fmt::format("=== loop: f ===\ninput x: f32[{0}, 1024]\noutput y: f32[{0}, 1024]\n"
                              "for a0 in 0..{0}: # free\n  for a1 in 0..1024: # free\n"
                              "    in0 = load x[a0, a1]\n{1}    y[a0, a1] = v0\n",
                              rows, statements));
    return first(loop, target, "stream_writes.outputs");
  };
  const char* const plain = "    v0 = relu(in0)\n";
  for (const char* target : {"opencl-cpu", "opencl-cpu-avx2"}) {
    EXPECT_EQ(streamed(target, 4096, plain), 1);
    EXPECT_EQ(streamed(target, 4095, plain), std::nullopt);
    EXPECT_EQ(streamed(target, 4096, "    v1 = exp(in0)\n    v0 = divide(1, v1)\n"), 1);
    EXPECT_EQ(streamed(target, 4096, "    v1 = exp(in0)\n    v0 = log(v1)\n"), 0);
    EXPECT_EQ(streamed(target, 4096, "    v0 = erf(in0)\n"), 0);
  }
}

// Each of the two cores gets two blocks. The columns that a row has besides its sum are not rows.
TEST(Choices, FewRowsOfACpuAreBlocksForAllCores) {
  const auto rows = [](std::int64_t m) {
    return first(ir::parse(kernel("rmsnorm").text, {{"M", m}, {"D", 4096}}), "opencl-cpu", "cooperative_reduce.rows");
  };
  EXPECT_EQ(rows(4), 1);
  EXPECT_EQ(rows(32), 8);
  EXPECT_EQ(rows(64), 16);
  EXPECT_EQ(rows(512), 16);
}

TEST(Choices, AShortSumOfFewRowsIsOneChunk) {
  const auto chunk = [](std::int64_t m, std::int64_t k) {
    return first(matmul(m, 2048, k), "opencl-cpu", "chunk_matmul_k.bk");
  };
  EXPECT_EQ(chunk(64, 96), 96);
  EXPECT_EQ(chunk(64, 128), 128);
  EXPECT_EQ(chunk(40, 256), 128);
  EXPECT_EQ(chunk(64, 1024), 1024);  // 41 to 64 rows
  EXPECT_EQ(chunk(64, 2048), 128);
  EXPECT_EQ(chunk(128, 192), 192);
  // Stored trails have such chunks, from when these rows read the columns in place.
  EXPECT_EQ(std::ranges::count(options(matmul(48, 512, 2048), "opencl-cpu", "chunk_matmul_k.bk"), Value{1024L}), 1);
}

// Copies of panels that few rows share take a large part of the time. With 128 rows nothing is gained.
TEST(Choices, ACpuPrefetchesChunksThatFewRowsShare) {
  const auto ahead = [](std::int64_t m, std::int64_t k, const char* target = "opencl-cpu") {
    return first(matmul(m, 2048, k), target, "prefetch_chunks.b");
  };
  EXPECT_EQ(ahead(17, 2048), 1);
  EXPECT_EQ(ahead(61, 2048), 1);  // the last thread is shifted and repeats rows
  EXPECT_EQ(ahead(64, 2048), 1);
  EXPECT_EQ(ahead(64, 512), std::nullopt);   // one chunk
  EXPECT_EQ(ahead(16, 2048), std::nullopt);  // read in place
  EXPECT_EQ(ahead(32, 2048, "opencl-cpu-avx2"), 0) << "not measured";
  EXPECT_EQ(ahead(32, 2048, "sm_90"), std::nullopt);
  Lowering many(matmul(128, 2048, 2048), load_target("opencl-cpu"));
  while (many.fork() && many.fork()->knob != "prefetch_chunks.b") {
    const std::vector<Value>& options = many.fork()->options;
    const auto short_chunk = std::ranges::find(options, Value{std::int64_t{128}});
    const bool chunk = many.fork()->knob == "chunk_matmul_k.bk" && short_chunk != options.end();
    many.choose(chunk ? static_cast<std::size_t>(short_chunk - options.begin()) : 0);
  }
  ASSERT_TRUE(many.fork());
  EXPECT_EQ(many.fork()->options.front(), Value{std::int64_t{0}});
}

// AVX2 has 16 registers, so a thread has 4 x 24 accumulators. A panel of columns takes about 96 KiB, or more if it is
// only 24 columns wide.
// One thread for each of 31 rows, with 128 columns each, took 1.5 times as long (docs/performance.md, "Prime numbers of
// rows").
TEST(Choices, APrimeNumberOfRowsIsOneBlockOfShiftedThreads) {
  for (const std::int64_t rows : {13, 17, 29, 31, 61, 197, 257}) {
    EXPECT_EQ(first(matmul(rows, 768, 768), "opencl-cpu", "blockify_launch.bm"), rows);
    const std::int64_t fm = first(matmul(rows, 768, 768), "opencl-cpu", "register_tile.fm").value();
    EXPECT_GE(fm, 4) << rows;
    EXPECT_LE(static_cast<double>(ceil_div(rows, fm) * fm), 1.2 * static_cast<double>(rows));
  }
}

TEST(Choices, WithFewRegistersAThreadHasThreeVectorsOfColumns) {
  struct Tile {
    std::int64_t bk, bn, fm, fn;
    bool operator==(const Tile&) const = default;
  };
  const auto tile = [](const ir::Program& loop) {
    const auto knob = [&](const char* name) { return first(loop, "opencl-cpu-avx2", name).value_or(0); };
    return Tile{knob("chunk_matmul_k.bk"), knob("blockify_launch.bn"), knob("register_tile.fm"),
                knob("register_tile.fn")};
  };
  EXPECT_EQ(tile(matmul(32, 2048, 2048)), (Tile{256, 96, 4, 24}));
  EXPECT_EQ(tile(matmul(128, 2048, 2048)), (Tile{512, 48, 4, 24}));
  EXPECT_EQ(tile(matmul(512, 2048, 2048)), (Tile{2048, 24, 4, 24}));
  EXPECT_EQ(tile(matmul(512, 3584, 18944)), (Tile{1184, 24, 4, 24}));
  EXPECT_EQ(tile(matmul(256, 256, 256)), (Tile{256, 48, 4, 24}));   // K is one chunk
  EXPECT_EQ(tile(matmul(3136, 64, 576)), (Tile{576, 16, 4, 16}));   // tiles of 24 columns would waste an eighth
  EXPECT_EQ(tile(matmul(31, 2048, 2048)), (Tile{256, 96, 4, 24}));  // the last thread is shifted
  EXPECT_EQ(first(matmul(32, 2048, 2048), "opencl-cpu-avx2", "pack_smem.b"), 24);
  EXPECT_EQ(first(matmul(32, 512, 2048), "opencl-cpu-avx2", "stage_inputs.b"), 1);
  EXPECT_EQ(first(matmul(8, 512, 2048), "opencl-cpu-avx2", "stage_inputs.b"), 0);  // read in place
  EXPECT_EQ(first(matmul(8, 512, 2048), "opencl-cpu-avx2", "register_tile.fn"), 16);
  const auto prefetched = [](const ir::Program& loop) { return first(loop, "opencl-cpu-avx2", "prefetch.b"); };
  EXPECT_EQ(prefetched(matmul(128, 2048, 2048)), 8);  // rows of 192 bytes
  EXPECT_EQ(prefetched(matmul(256, 256, 64)), 8);
  EXPECT_EQ(first(matmul(32, 2048, 2048), "opencl-cpu", "prefetch.b"), 4);  // rows of 1024 bytes
  ir::Program transposed = ir::parse(R"(=== loop: linear ===
input x: f32[32, 3584]
input w: f32[2048, 3584]
output y: f32[32, 2048]
for a0 in 0..32: # free
  for a1 in 0..2048: # free
    for a2 in 0..3584: # reduce
      in0 = load x[a0, a2]
      in1 = load w[a1, a2]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    y[a0, a1] = acc0)");
  EXPECT_EQ(tile(transposed), (Tile{3584, 16, 4, 16}));
  EXPECT_EQ(first(transposed, "opencl-cpu-avx2", "vectorize.copy_w"), 8);  // blocks of 8 x 8
  for (ir::Buffer& buffer : transposed.buffers) buffer.dtype = ir::DType::f16;
  EXPECT_EQ(tile(transposed), (Tile{3584, 24, 4, 24}));
  EXPECT_EQ(first(transposed, "opencl-cpu-avx2", "vectorize.copy_w"), std::nullopt);
}

// Each loaded key or value is used for as many rows as a matmul's column. A causal mask hides a part of the last chunk,
// so a block visits shorter chunks unless it has many.
TEST(Choices, AnAttentionOnACpuHasAsManyRowsAsAMatmul) {
  const std::string text = kernel("attention").text;
  std::string causal = text;
  const auto replace = [&](const std::string& line, const std::string& by) {
    const std::size_t at = causal.find(line);
    ASSERT_NE(at, std::string::npos) << line;
    causal.replace(at, line.size(), by);
  };
  replace("        in2 = load",
          "        v3:bool = index (a3 < (a1 + 1))\n        v4 = select(v3, v1, -inf)\n        in2 = load");
  replace("softmax_sum(v1", "softmax_sum(v4");
  const auto knob = [](const std::string& loop, std::int64_t keys, const char* target, const char* name) {
    const ir::Program program = ir::parse(loop, {{"H", 8}, {"Q", keys}, {"K", keys}, {"D", 64}});
    return first(program, target, std::string("online_softmax.") + name);
  };
  EXPECT_EQ(knob(text, 512, "opencl-cpu-avx2", "fm"), 4);
  EXPECT_EQ(knob(text, 512, "opencl-cpu", "fm"), 8);
  for (const char* target : {"opencl-cpu", "opencl-cpu-avx2"}) {
    EXPECT_EQ(knob(text, 512, target, "keys"), 256) << target;
    EXPECT_EQ(knob(causal, 512, target, "keys"), 128) << target;
    EXPECT_EQ(knob(causal, 1024, target, "keys"), 128) << target;
    EXPECT_EQ(knob(causal, 2048, target, "keys"), 256) << target;
    EXPECT_EQ(knob(causal, 64, target, "keys"), 64) << target;
  }
}

TEST(Choices, AClusterSplitsKWhereItFillsTheDevice) {
  const ir::Program few_rows = matmul(32, 3584, 3584), few_columns = matmul(32, 512, 3584);
  EXPECT_EQ(first(few_rows, "sm_90", "split_matmul_k.splits"), 1);
  EXPECT_EQ(first(few_rows, "sm_90", "cluster_matmul_k.blocks"), 8);  // 28 blocks, 132 units
  EXPECT_EQ(first(matmul(256, 3584, 3584), "sm_90", "cluster_matmul_k.blocks"), 2);
  EXPECT_EQ(first(matmul(128, 5632, 2048), "sm_90", "cluster_matmul_k.blocks"), 4);  // 88 x 4 = 352 blocks: 3 on a unit
  EXPECT_EQ(first(matmul(2048, 2048, 2048), "sm_90", "cluster_matmul_k.blocks"), 1);
  EXPECT_EQ(first(few_columns, "sm_90", "split_matmul_k.splits"), 7);  // 4 blocks: 8 times as many are still too few
  EXPECT_EQ(first(few_columns, "sm_90", "cluster_matmul_k.blocks"), 8);
  EXPECT_EQ(first(few_rows, "sm_80", "cluster_matmul_k.blocks"), std::nullopt);
  const auto narrow = [](ir::Program program) {
    for (ir::Buffer& buffer : program.buffers) buffer.dtype = ir::DType::bf16;
    return program;
  };
  EXPECT_EQ(first(narrow(matmul(32, 2048, 5632)), "sm_90", "cluster_matmul_k.blocks"), 8);  // 32 blocks, 88 chunks
  EXPECT_EQ(first(narrow(matmul(32, 2048, 1024)), "sm_90", "cluster_matmul_k.blocks"), 2);  // 16 chunks, 8 per block
  EXPECT_EQ(first(narrow(matmul(32, 5632, 2048)), "sm_90", "cluster_matmul_k.blocks"), 4);  // 88 blocks
  // With instructions of warpgroups, the first matmul has 64 blocks of 64 x 64, the second 128 blocks of 128 x 256.
  EXPECT_EQ(first(narrow(matmul(128, 2048, 2048)), "sm_90", "cluster_matmul_k.blocks"), 2);
  EXPECT_EQ(first(narrow(matmul(2048, 2048, 2048)), "sm_90", "cluster_matmul_k.blocks"), 1);
  // Two blocks cannot share 9 chunks of 128 evenly, although they could share 18 chunks of 64.
  const Lowering odd = heuristic_with(narrow(matmul(128, 2048, 1152)), load_target("sm_90"), "chunk_matmul_k.bk",
                                      Value(std::int64_t{128}));
  EXPECT_NE(print(odd.trail()).find("chunk_matmul_k.bk=128"), std::string::npos);
  EXPECT_EQ(print(odd.trail()).find("cluster_matmul_k.blocks=2"), std::string::npos);
}

TEST(Choices, ABlockOfFewRowsHasSlicesOfK) {
  for (const char* target : {"sm_80", "sm_90"}) {
    const ir::Program few_rows = matmul(32, 3584, 3584), many_rows = matmul(2048, 2048, 2048);
    EXPECT_EQ(first(few_rows, target, "chunk_matmul_k.bk"), 32);
    EXPECT_EQ(first(few_rows, target, "register_tile.fm"), 8);
    EXPECT_EQ(first(few_rows, target, "slice_matmul_k.slices"), 2);
    EXPECT_EQ(first(many_rows, target, "chunk_matmul_k.bk"), 16);
    EXPECT_EQ(first(many_rows, target, "slice_matmul_k.slices"), 1);
  }
  EXPECT_EQ(first(matmul(32, 512, 3584), "opencl-cpu", "slice_matmul_k.slices"), std::nullopt);
}

// A block has a warp for each of a multiprocessor's four schedulers, even if it has the four rows that share keys.
TEST(Choices, ADecodeHasThreadsForItsColumns) {
  const auto decode = ir::parse(kernel("attention_decode").text, {{"H", 8}, {"K", 4096}, {"D", 128}});
  for (const char* target : {"sm_80", "sm_90", "opencl-gpu"}) {
    EXPECT_EQ(first(decode, target, "online_softmax.columns"), 32) << target;
    EXPECT_EQ(first(decode, target, "online_softmax.rows"), 4) << target;
    EXPECT_EQ(first(decode, target, "online_softmax.fm"), 1) << target;
  }
  const auto prefill = ir::parse(kernel("attention").text, {{"H", 8}, {"Q", 512}, {"K", 512}, {"D", 64}});
  EXPECT_EQ(first(prefill, "sm_80", "online_softmax.columns"), 16);
  EXPECT_EQ(first(prefill, "sm_80", "online_softmax.fm"), 8);
}

TEST(Choices, BlocksRunRowByRowFirst) {
  EXPECT_EQ(first(matmul(512, 3584, 3584), "sm_90", "raster.group"), 1);
  EXPECT_EQ(options(matmul(512, 3584, 3584), "sm_90", "raster.group").size(), 4U);
  EXPECT_TRUE(options(matmul(512, 3584, 3584), "opencl-cpu", "raster.group").empty());
}

// The first block that reads a panel brings it to the cache, and the other blocks read it there. So the panel is
// neither copied nor prefetched.
TEST(Choices, ABatchReadsThePanelsItSharesWhereTheyLie) {
  const auto batch = [](const char* columns) {
    return ir::parse(fmt::format(R"(=== loop: batch ===
input ids: i32[24]
input x: f32[24, 16, 2048]
input w: f32[24, 2048, 2816]
output y: f32[24, 16, 2816]
for a0 in 0..24: # free
  for a1 in 0..16: # free
    for a2 in 0..2816: # free
      in0:i32 = load ids[a0]
      for a3 in 0..2048: # reduce
        in1 = load x[a0, a1, a3]
        in2 = load w[{}, a3, a2]
        v0 = multiply(in1, in2)
        acc0 <- add(acc0, v0)
      y[a0, a1, a2] = acc0)",
                                 columns));
  };
  for (const char* columns : {"min(max(in0, 0), 23)", "0"}) {
    const ir::Program shared = batch(columns);
    EXPECT_EQ(first(shared, "opencl-cpu", "chunk_matmul_k.bk"), 2048) << columns;
    EXPECT_EQ(first(shared, "opencl-cpu", "blockify_launch.bn"), 48) << columns;
    EXPECT_EQ(first(shared, "opencl-cpu", "raster.group"), 24) << columns;
    EXPECT_NE(first(shared, "opencl-cpu", "stage_inputs.x"), 1) << columns;
    EXPECT_NE(first(shared, "opencl-cpu", "stage_inputs.w"), 1) << columns;
    EXPECT_EQ(first(shared, "opencl-cpu", "prefetch.w").value_or(0), 0) << columns;
    EXPECT_EQ(first(shared, "sm_90", "raster.group"), 1) << columns;
  }
  const ir::Program apart = batch("a0");
  EXPECT_EQ(first(apart, "opencl-cpu", "raster.group"), std::nullopt);
  EXPECT_EQ(first(apart, "opencl-cpu", "chunk_matmul_k.bk"), 64);
  EXPECT_EQ(first(apart, "opencl-cpu", "stage_inputs.w"), 0);  // as 16 distant rows of one matmul
}

TEST(Choices, ChunksOfKAreDivisorsThatHoldWholeAccessesFirst) {
  const std::vector<Value> wanted = {Value{16L},  Value{32L}, Value{8L},  Value{64L},
                                     Value{128L}, Value{28L}, Value{56L}, Value{112L}};
  EXPECT_EQ(options(matmul(512, 3584, 3584), "sm_90", "chunk_matmul_k.bk"), wanted);
  const std::vector<Value> guarded = {Value{16L}, Value{32L}, Value{8L}, Value{64L}, Value{128L}};
  EXPECT_EQ(options(matmul(64, 64, 509), "sm_90", "chunk_matmul_k.bk"), guarded);
  EXPECT_LE(options(matmul(64, 64, 5040), "sm_90", "chunk_matmul_k.bk").size(), 12U);
}

// Returns whether an expert would try this schedule for a matmul of moderate size, according to a review of machine
// code for the H100.
bool is_expert(const std::map<std::string, Value, std::less<>>& trail) {
  const auto value = [&](const std::string& knob) {
    const auto found = trail.find(knob);
    return found == trail.end() ? -1 : std::get<std::int64_t>(found->second);
  };
  const auto within = [&](const char* knob, std::int64_t low, std::int64_t high) {
    return value(knob) >= low && value(knob) <= high;
  };
  const auto tile = [&](const char* knob) { return value(knob) == 4 || value(knob) == 8 || value(knob) == 16; };
  const auto copied = [&](const std::string& source) {
    return value("stage_inputs." + source) == 1 &&
           (value("tma_copy." + source) == 1 || value("async_copy." + source) == 16 ||
            value("vectorize.copy_" + source) == 4);
  };
  return within("blockify_launch.bm", 32, 256) && within("blockify_launch.bn", 64, 256) && tile("register_tile.fm") &&
         tile("register_tile.fn") && within("chunk_matmul_k.bk", 8, 32) && within("double_buffer.depth", 2, 4) &&
         copied("a") && copied("b");
}

TEST(Choices, RandomMatmulsOnAGpuHaveWholeWarpsAndOneInTwentyIsAnExperts) {
  const Lowering start(matmul(512, 3584, 3584), load_target("sm_90"));
  Rng rng(0);
  constexpr int drawn = 2000;
  int experts = 0;
  for (int i = 0; i < drawn; ++i) {
    Lowering lowering = start;
    while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
    const std::int64_t threads = ir::count_of(tile_of(lowering.program()), ir::Bind::thread);
    EXPECT_TRUE(threads % 32 == 0 && threads >= 64) << print(lowering.trail());
    std::map<std::string, Value, std::less<>> trail;
    for (const Choice& choice : lowering.trail()) trail[choice.knob] = choice.value;
    experts += is_expert(trail) ? 1 : 0;
  }
  EXPECT_GE(experts, drawn / 20);
}

// Some tiles have fewer threads than two warps, and some sizes are prime numbers.
TEST(Choices, SmallAndOddMatmulsHaveASchedule) {
  for (const char* target : {"sm_80", "sm_90", "opencl-gpu"})
    for (const auto& [m, n, k] :
         {std::array{1L, 1L, 1L}, {1L, 10L, 7L}, {3L, 5L, 7L}, {10L, 10L, 10L}, {33L, 7L, 509L}, {7L, 129L, 61L}}) {
      Lowering lowering(matmul(m, n, k), load_target(target));
      while (lowering.fork()) lowering.choose(lowering.fork()->options.size() - 1);
      EXPECT_GT(ir::count_of(tile_of(lowering.program()), ir::Bind::thread), 0) << target << m << "x" << n;
    }
}

// 512 columns share each element of a. With M = 4, only four rows share each element of b.
TEST(Choices, AGpuStagesTheOperandsOfAMatmul) {
  EXPECT_EQ(options(matmul(512, 512, 512), "sm_90", "stage_inputs.a"), std::vector{Value{1L}});
  EXPECT_EQ(options(matmul(4, 512, 512), "sm_90", "stage_inputs.b").size(), 2U);
  EXPECT_EQ(options(matmul(512, 512, 512), "opencl-cpu", "stage_inputs.a").size(), 2U);
}

TEST(Choices, CopiesAreNarrowOnlyWhereThreadsWalkDownRows) {
  Lowering lowering(matmul(512, 512, 512), load_target("sm_80"));
  std::map<std::string, std::size_t> options;
  for (; lowering.fork(); lowering.choose(0)) options[lowering.fork()->knob] = lowering.fork()->options.size();
  EXPECT_EQ(options.at("async_copy.a"), 3U);  // 16 bytes, 4 bytes, or through registers
  EXPECT_EQ(options.at("async_copy.b"), 2U);
}

TEST(Choices, TheCompilerChoosesRegistersFirst) {
  const std::vector<Value> wanted = {Value{0L}, Value{3L}, Value{4L}};
  EXPECT_EQ(options(matmul(4096, 4096, 4096), "sm_90", "limit_registers.blocks"), wanted);
  EXPECT_TRUE(options(matmul(4096, 4096, 4096), "opencl-gpu", "limit_registers.blocks").empty());
}

// Returns whether the kernel adds neighbouring partial sums to memory in one operation (`together`), if K is split over
// blocks where possible, and not over a cluster.
bool adds_together(const ir::Program& loop, const char* target) {
  Lowering lowering(loop, load_target(target));
  while (const auto& fork = lowering.fork()) {
    const bool splits = fork->knob == "split_matmul_k.splits", cluster = fork->knob == "cluster_matmul_k.blocks";
    const auto& options = fork->options;
    const auto one = std::find(options.begin(), options.end(), Value{1L});
    lowering.choose(splits ? options.size() - 1 : cluster ? static_cast<std::size_t>(one - options.begin()) : 0);
  }
  return ir::print(materialize(lowering.program(), load_target(target))).find(" together\n") != std::string::npos;
}

TEST(Choices, PartialSumsAreAddedTogetherWhereTheyAreAligned) {
  EXPECT_TRUE(adds_together(matmul(32, 512, 3584), "sm_90"));
  EXPECT_FALSE(adds_together(matmul(32, 512, 3584), "sm_80")) << "the target adds one by one";
  EXPECT_FALSE(adds_together(matmul(32, 509, 3584), "sm_90")) << "rows begin anywhere";
}

// The columns' panel (b) is copied if its rows are pages apart, unless 16 rows or fewer share the copy, or if more than
// 40 rows share it. Chunks are short if the rows in place are pages apart or share cache lines.
TEST(Choices, ACpuReadsDistantRowsInPlaceForUpTo16Rows) {
  const auto copies = [](std::int64_t m, std::int64_t n, const char* target = "opencl-cpu") {
    return first(matmul(m, n, 1024), target, "stage_inputs.b");
  };
  const auto chunk = [](std::int64_t m, std::int64_t n, ir::DType type = ir::DType::f32) {
    return first(matmul(m, n, 1024, type), "opencl-cpu", "chunk_matmul_k.bk");
  };
  EXPECT_EQ(copies(16, 2048), 0);
  EXPECT_EQ(copies(16, 8192), 0);
  EXPECT_EQ(copies(16, 11008), 1);  // more than eight pages apart
  EXPECT_EQ(copies(17, 2048), 1);
  EXPECT_EQ(copies(40, 960), 0);  // less than a page apart
  EXPECT_EQ(copies(41, 960), 1);
  EXPECT_EQ(copies(8, 2048, "opencl-cpu-avx2"), 1);
  EXPECT_EQ(chunk(16, 2048), 64);
  EXPECT_EQ(chunk(16, 1000), 64);  // rows of 4000 bytes share lines
  EXPECT_EQ(chunk(16, 960), 256);
  EXPECT_EQ(chunk(16, 2048, ir::DType::bf16), 256);
  EXPECT_EQ(chunk(64, 2048, ir::DType::bf16), 256);
}

TEST(Choices, ACpuCopiesThePanelUnlessFewRowsShareIt) {
  const ir::Program in_place = matmul(32, 256, 2048), far_rows = matmul(32, 2048, 2048), many = matmul(128, 256, 2048);
  EXPECT_EQ(first(in_place, "opencl-cpu", "stage_inputs.b"), 0);
  EXPECT_EQ(first(in_place, "opencl-cpu", "stage_inputs.a"), 1);
  EXPECT_EQ(first(in_place, "opencl-cpu", "chunk_matmul_k.bk"), 256);
  for (const ir::Program& copied : {far_rows, many}) {
    EXPECT_EQ(first(copied, "opencl-cpu", "stage_inputs.b"), 1);
    EXPECT_EQ(first(copied, "opencl-cpu", "stage_inputs.a"), 0);
  }
}

// Returns a 3 x 3 convolution of 64 x 64 positions, with the channels last.
ir::Program convolution(std::int64_t channels) {
  return ir::parse(fmt::format(
      "=== loop: convolution ===\ninput x: f32[66, 66, {0}]\ninput w: f32[3, 3, {0}, 64]\noutput y: f32[4096, 64]\n"
      "for a0 in 0..4096: # free\n  for a1 in 0..64: # free\n    for a2 in 0..{1}: # reduce\n"
      "      in0 = load x[((a0 / 64) + (a2 / {2})), ((a0 % 64) + ((a2 / {0}) % 3)), (a2 % {0})]\n"
      "      in1 = load w[(a2 / {2}), ((a2 / {0}) % 3), (a2 % {0}), a1]\n      v0 = multiply(in0, in1)\n"
      "      acc0 <- add(acc0, v0)\n    y[a0, a1] = acc0\n",
      channels, 9 * channels, 3 * channels));
}

TEST(Choices, AConvolutionOfFewChannelsReadsItsWeightsInPlaceOnACpu) {
  EXPECT_EQ(first(convolution(32), "opencl-cpu", "stage_inputs.w"), 0);
  EXPECT_EQ(first(convolution(64), "opencl-cpu", "stage_inputs.w"), 0);
  EXPECT_EQ(first(convolution(128), "opencl-cpu", "stage_inputs.w"), 1);
  EXPECT_EQ(first(convolution(32), "sm_90", "stage_inputs.w"), 1);
  // In a one-dimensional convolution, the positions are the columns, and neighbouring columns read overlapping windows.
  const auto lines = [](std::int64_t stride) {
    return ir::parse(fmt::format(
        "=== loop: convolution ===\ninput x: f32[128, 4098]\ninput w: f32[128, 3, 128]\noutput y: f32[128, {0}]\n"
        "for a0 in 0..128: # free\n  for a1 in 0..{0}: # free\n    for a2 in 0..384: # reduce\n"
        "      in0 = load x[(a2 % 128), ((a1 * {1}) + (a2 / 128))]\n      in1 = load w[a0, (a2 / 128), (a2 % 128)]\n"
        "      v0 = multiply(in0, in1)\n      acc0 <- add(acc0, v0)\n    y[a0, a1] = acc0\n",
        4096 / stride, stride));
  };
  EXPECT_EQ(first(lines(1), "opencl-cpu", "stage_inputs.x"), 0);
  // With a stride of 2, the even and the odd elements of two vectors are read in place.
  EXPECT_EQ(first(lines(2), "opencl-cpu", "stage_inputs.x"), 0);
  EXPECT_EQ(first(lines(2), "opencl-cpu", "vectorize.width"), 16);
}

// A convolution whose weights are an input has them as PyTorch stores them: the outputs' channels lie a filter apart, and
// only a copy has them in vectors. Read in place, 64 channels of 28 x 28 took eight times as long.
TEST(Choices, AConvolutionCopiesWeightsThatLieApart) {
  const ir::Program apart = ir::parse(
      "=== loop: convolution ===\ninput x: f32[64, 30, 30]\ninput w: f32[64, 64, 9]\noutput y: f32[64, 784]\n"
      "for a0 in 0..784: # free\n  for a1 in 0..64: # free\n    for a2 in 0..576: # reduce\n"
      "      in0 = load x[(a2 % 64), ((a0 / 28) + (a2 / 192)), ((a0 % 28) + ((a2 / 64) % 3))]\n"
      "      in1 = load w[a1, (a2 % 64), (a2 / 64)]\n      v0 = multiply(in0, in1)\n"
      "      acc0 <- add(acc0, v0)\n    y[a1, a0] = acc0\n");
  EXPECT_EQ(first(apart, "opencl-cpu", "stage_inputs.w"), 1);
  EXPECT_EQ(first(apart, "opencl-cpu-avx2", "vectorize.width"), 8);
  const ir::Program stem = ir::parse(kernel("conv2d_stem").text, {{"R", 64}, {"O", 64}}, "conv2d_stem");
  EXPECT_EQ(first(stem, "opencl-cpu", "stage_inputs.w"), 1);
  EXPECT_EQ(first(stem, "opencl-cpu", "vectorize.width"), 16);
}

// A copy of 16-bit elements would hold f32. Prefetches are 4 KiB ahead of what a thread reads.
TEST(Choices, ACpuReadsSixteenBitsInPlaceForFewRows) {
  for (const ir::DType dtype : {ir::DType::f16, ir::DType::bf16}) {
    const ir::Program few = matmul(32, 2048, 2048, dtype), many = matmul(128, 2048, 2048, dtype);
    EXPECT_EQ(first(few, "opencl-cpu", "stage_inputs.b"), 0);
    EXPECT_EQ(first(few, "opencl-cpu", "stage_inputs.a"), 1) << "its elements would be converted one by one";
    EXPECT_EQ(first(few, "opencl-cpu", "chunk_matmul_k.bk"), 256);
    EXPECT_EQ(first(few, "opencl-cpu", "blockify_launch.bn"), 256);
    EXPECT_EQ(first(few, "opencl-cpu", "prefetch.b"), 64);
    EXPECT_EQ(first(many, "opencl-cpu", "stage_inputs.b"), 1);
  }
  EXPECT_EQ(first(matmul(32, 256, 2048), "opencl-cpu", "prefetch.b"), 32);
}

// One row times a matrix. Only the row is contiguous along k, and all columns share it.
TEST(Choices, ACpuSumsColumnsAsVectors) {
  const auto row_times_matrix = [](const char* dtype, std::int64_t n) {
    return ir::parse(
        fmt::format("=== loop: row ===\ninput x: {0}[2048]\ninput w: {0}[2048, {1}]\noutput y: {0}[{1}]\n"
                    "for a0 in 0..{1}: # free\n  for a1 in 0..2048: # reduce\n    in0 = load x[a1]\n"
                    "    in1 = load w[a1, a0]\n    v0 = multiply(in0, in1)\n    acc0 <- add(acc0, v0)\n"
                    "  y[a0] = acc0\n",
                    dtype, n));
  };
  const ir::Program f32 = row_times_matrix("f32", 2048), bf16 = row_times_matrix("bf16", 2048);
  for (const ir::Program& program : {f32, bf16}) {
    EXPECT_EQ(first(program, "opencl-cpu", "cooperative_reduce.rows"), std::nullopt);
    EXPECT_EQ(first(program, "opencl-cpu", "blockify_launch.threads"), 1);
    EXPECT_EQ(first(program, "opencl-cpu", "vectorize.width"), 16);
    EXPECT_EQ(first(program, "opencl-cpu", "prefetch.w"), 8);
  }
  EXPECT_EQ(first(f32, "opencl-cpu", "blockify_launch.elements"), 128);
  EXPECT_EQ(first(bf16, "opencl-cpu", "blockify_launch.elements"), 256);
  EXPECT_EQ(first(row_times_matrix("bf16", 64), "opencl-cpu", "blockify_launch.elements"), 32) << "two cores";
  const ir::Program search = ir::parse(R"(=== loop: chosen ===
input start: i32[4096]
input x: f32[4096]
output y: f32[4096]
for a0 in 0..4096: # free
  in0:i32 = load start[a0]
  for a1 in 0..2: # reduce
    in1 = load x[min(max((in0 + a1), 0), 4095)]
    acc0 <- add(acc0, in1)
  y[a0] = acc0
)");
  EXPECT_EQ(first(search, "opencl-cpu", "blockify_launch.elements"), 16) << "each element is a copy of the text";
}

// All sweeps of a row use the same vector width, which divides the length of each sweep.
TEST(Choices, SweepsWithoutACommonDivisorHaveNoVectors) {
  const auto sweeps = [](int first, int second, int third) {
    return ir::parse(
        fmt::format("=== loop: sweeps ===\ninput x: f32[8, 12]\noutput y: f32[8, 12]\nfor a0 in 0..8: # free\n"
                    "  for a1 in 0..{}: # reduce\n    in0 = load x[a0, a1]\n    acc0 <- add(acc0, in0)\n"
                    "  for a2 in 0..{}: # reduce\n    in1 = load x[a0, a2]\n    acc1 <- maximum(acc1, in1)\n"
                    "  for a3 in 0..{}: # free\n    in2 = load x[a0, a3]\n    v0 = multiply(in2, acc0)\n"
                    "    v1 = add(v0, acc1)\n    y[a0, a3] = v1\n",
                    first, second, third));
  };
  for (const auto& [a, b, width] :
       {std::tuple(3, 2, 1), std::tuple(4, 3, 1), std::tuple(8, 4, 4), std::tuple(4, 12, 4)})
    EXPECT_EQ(first(sweeps(a, b, 12), "opencl-cpu", "vectorize.width").value_or(1), width) << a << ", " << b;
}

// A loop of 32 steps of 8 x 8 multiply-adds fits the budget of an unrolled loop once, a loop of 16 steps also twice. A
// predicated tail would guard the last elements of k in every iteration.
TEST(Choices, TheTailOfAPipelineIsPredicatedWhereOneCopyOfTheArithmeticCanBeUnrolled) {
  struct Picked {
    std::string tail;
    Value unroll;
    bool operator==(const Picked&) const = default;
  };
  const auto picked = [](std::int64_t k, std::int64_t bk, const std::string& tail) {
    Lowering lowering(matmul(512, 3584, k), load_target("sm_90"));
    while (lowering.fork() && lowering.fork()->knob.find("mark_unroll.") != 0) {
      const auto& [knob, options] = *lowering.fork();
      const Value wanted = knob == "chunk_matmul_k.bk" ? Value{bk} : Value{tail};
      const auto at = std::ranges::find(options, wanted);
      lowering.choose(at == options.end() ? 0 : static_cast<std::size_t>(at - options.begin()));
    }
    const Trail& trail = lowering.trail();
    const auto taken = std::ranges::find(trail, "pipeline_k_outer.tail", &Choice::knob);
    return Picked{std::get<std::string>(taken->value), lowering.fork()->options.front()};
  };
  EXPECT_EQ(picked(3584, 16, ""), (Picked{"peeled", Value{0L}}));
  EXPECT_EQ(picked(3584, 32, ""), (Picked{"predicated", Value{0L}}));
  EXPECT_EQ(picked(3584, 32, "peeled"), (Picked{"peeled", Value{1L}}));
  EXPECT_EQ(picked(3583, 32, "").tail, "peeled");
}

ir::Program softmax(std::int64_t rows, std::int64_t columns) {
  return ir::parse(kernel("softmax").text, {{"M", rows}, {"N", columns}});
}

TEST(Choices, AGpuReadsWholeRowsInVectors) {
  for (const std::int64_t columns : {2048, 32768, 128256}) {  // the last row does not fit in shared memory
    EXPECT_EQ(first(softmax(32, columns), "sm_90", "chunk_reduce.chunk"), 0) << columns;
    EXPECT_EQ(first(softmax(32, columns), "sm_90", "vectorize.width"), 4) << columns;
  }
  EXPECT_EQ(first(softmax(32, 2048), "sm_90", "cooperative_reduce.threads"), 256);
  EXPECT_EQ(first(softmax(32, 32768), "sm_90", "cooperative_reduce.threads"), 1024);
}

}  // namespace
}  // namespace deplo::rules
