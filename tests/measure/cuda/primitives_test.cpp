// NVRTC and ptxas compile every statement of Kernel IR. The tests need no GPU. They are skipped if NVRTC is missing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/emit/emit.h"
#include "measure/cuda/fixture.h"
#include "measure/cuda/library.h"
#include "measure/cuda/sass/disassemble.h"

namespace deplo::measure::cuda {
namespace {

using ::testing::HasSubstr;

class Primitives : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { DEPLO_NEED_NVRTC(GetParam()); }

  ir::KernelSource compile(const std::string& text) {
    const ir::Program kernel = ir::parse("=== kernel: k ===\n" + text);
    EXPECT_EQ(verify(kernel), "") << text;
    const ir::KernelSource source = ir::emit(kernel, target_);
    const Result<Cubin> result = compile_cubin(source, GetParam());
    if (!result.ok()) ADD_FAILURE() << result.failure().message << "\n" << source.text;
    if (!result.ok()) return source;
    EXPECT_EQ(result.value().warnings, "") << source.text;
    EXPECT_EQ(result.value().resources.static_shared_bytes, source.dynamic_shared ? 0 : source.shared_bytes)
        << source.text;
    return source;
  }

  Target target_ = load_target(GetParam());
};

// Blocks of a single warp, of a part of a warp, of several warps, and a block whose last warp is incomplete.
TEST_P(Primitives, Shuffles) {
  for (const int threads : {1, 2, 8, 32, 48, 256})
    for (const char* op : {"add", "multiply", "maximum", "minimum"})
      for (const char* type : {"", ":i32"}) {
        const int length = threads == 48 ? 16 : std::min(threads, 32);
        compile(
            fmt::format("input x: {0}[{1}]\noutput y: {0}[{1}]\nTile(axes=(a0:2=BLOCK, a1:{1}=THREAD)):\n"
                        "  in0{2} = load x[a1]\n  WarpShuffle(v0{2} <- in0, op={3}, length={4})\n  y[a1] = v0\n",
                        *type == 0 ? "f32" : "i32", threads, type, op, length));
      }
}

// max.f32 and min.f32 drop NaN, so they must not be used.
TEST_P(Primitives, MaximaKeepNan) {
  const ir::KernelSource source = compile(
      "input x: f32[2048]\noutput y: f32[32]\nTile(axes=(a0:1=BLOCK, a1:32=THREAD)):\n  Init(acc0, op=maximum)\n"
      "  for a2 in 0..16: # reduce\n    in0:f32x4 = load x[((a2 * 128) + (a1 * 4))]\n"
      "    v0:f32x4 = minimum(in0, 9)\n    v1 = lanes_minimum(v0)\n    acc0 <- maximum(acc0, v1)\n"
      "  v2 = relu(acc0)\n  WarpShuffle(v3 <- v2, op=maximum, length=32)\n  y[a1] = v3\n");
  const auto ptx = compile_ptx(source, GetParam());
  ASSERT_TRUE(ptx.ok());
  EXPECT_THAT(ptx.value(), HasSubstr("max.NaN.f32"));
  EXPECT_THAT(ptx.value(), HasSubstr("min.NaN.f32"));
  EXPECT_THAT(ptx.value(), ::testing::Not(HasSubstr("max.f32")));
  EXPECT_THAT(ptx.value(), ::testing::Not(HasSubstr("min.f32")));
}

// The sum of a row: each warp adds by a shuffle and writes a partial sum to shared memory; a second shuffle adds these.
TEST_P(Primitives, BlockSumByTwoShuffles) {
  compile(
      "input x: f32[64, 2048]\noutput y: f32[64]\nTile(axes=(a0:64=BLOCK, a1:256=THREAD)):\n"
      "  Smem acc0_smem[8] (f32)\n  Init(acc0, op=add)\n"
      "  StridedLoop(a2 = a1; < 2048; += 256): # reduce\n    in0 = load x[a0, a2]\n    acc0 <- add(acc0, in0)\n"
      "  WarpShuffle(v0 <- acc0, op=add, length=32)\n"
      "  if ((a1 % 32) == 0):\n    acc0_smem[(a1 / 32)] = v0\n  Sync\n"
      "  in1 = load acc0_smem[(a1 % 8)]\n  WarpShuffle(v1 <- in1, op=add, length=8)\n"
      "  if (a1 == 0):\n    y[a0] = v1\n");
}

// Loads, stores and copies of each width, conversions, and elements that are moved without a conversion.
TEST_P(Primitives, SixteenBits) {
  for (const char* type : {"f16", "bf16"})
    for (const int lanes : {1, 2, 4, 8}) {
      const std::string x = lanes == 1 ? "" : fmt::format(":f32x{}", lanes),
                        to = lanes == 1 ? "" : fmt::format(":x{}", lanes),
                        bits = lanes == 1 ? std::string(":") + type : fmt::format(":{}x{}", type, lanes);
      compile(fmt::format(
          "input x: {0}[2048]\noutput y: {0}[2048]\noutput z: f32[2048]\nTile(axes=(a0:8=BLOCK, a1:32=THREAD)):\n"
          "  Smem s[256] ({0})\n  in0{2} = load x[((a0 * 256) + (a1 * {1}))]\n  in1{4} = load x[(a1 * {1})]\n"
          "  s[(a1 * {1})]{3} = in1\n  Sync\n  in2{2} = load s[(a1 * {1})]\n  v0{2} = add(in0, in2)\n"
          "  v1{2} = round_{0}(v0)\n  y[((a0 * 256) + (a1 * {1}))]{3} = v1\n  z[((a0 * 256) + (a1 * {1}))]{3} = v0\n",
          type, lanes, x, to, bits));
    }
}

TEST_P(Primitives, AdditionsToMemory) {
  compile(
      "input x: f32[64, 4]\ninput i: i32[64]\noutput y: f32[4]\noutput n: i32[1]\n"
      "Tile(axes=(a0:2=BLOCK, a1:32=THREAD)):\n"
      "  in0:f32x4 = load x[((a0 * 32) + a1), 0]\n  in1:i32 = load i[((a0 * 32) + a1)]\n"
      "  y[0]:x4 += in0\n  y[1] += 0.5\n  n[0] += in1\n");
}

TEST_P(Primitives, AsynchronousCopies) {
  for (const char* dtype : {"f32", "i32"})
    for (const int lanes : {1, 2, 4}) {
      const std::string element = fmt::format("a1 * {}", lanes);
      compile(
          fmt::format("input x: {0}[8, 128]\noutput y: {0}[128]\nTile(axes=(a0:1=BLOCK, a1:{1}=THREAD)):\n"
                      "  Smem x_smem[2, 128] ({0})\n"
                      "  CpAsyncCopy(x_smem[0, ({2})], x[0, ({2})], lanes={3})\n  CpAsyncCommit\n"
                      "  for a2 in 0..7: # reduce\n"
                      "    CpAsyncWait(keep=0)\n    Sync\n"
                      "    CpAsyncCopy(x_smem[((a2 + 1) % 2), ({2})], x[(a2 + 1), ({2})], lanes={3})\n"
                      "    CpAsyncCommit\n"
                      "    in0{4} = load x_smem[(a2 % 2), a1]\n    y[a1] = in0\n"
                      "  CpAsyncWait(keep=0)\n  Sync\n",
                      dtype, 128 / lanes, element, lanes, std::string(dtype) == "f32" ? "" : ":i32"));
    }
}

std::string repeat(int n, const std::string& text) {
  std::string result;
  for (int i = 0; i < n; ++i) result += (i == 0 ? "" : ", ") + text;
  return result;
}

// Returns a kernel that fills two slots in turn with TMA copies. The box has one to five dimensions.
std::string tensor_copies(int rank, int swizzle) {
  const int row = swizzle == 0 ? 16 : swizzle / 4, rows = rank == 1 ? 1 : 4;
  const std::string outer = rank < 2 ? "" : rank == 2 ? "4, " : repeat(rank - 2, "1") + ", 4, ";
  const std::string zeros = rank < 2 ? "" : repeat(rank - 1, "0") + ", ";
  const int bytes = row * rows * 4;
  return fmt::format(
      "input x: f32[{0}128]\noutput y: f32[{1}]\nTmaDescriptor x_desc(x, box=({2}{1})){3}\n"
      "Tile(axes=(a0:1=BLOCK, a1:{1}=THREAD)):\n"
      "  Smem x_smem[2, {2}{1}] (f32) align={4}\n  MbarrierInit mbar[2] (count=1)\n  Sync\n"
      "  if (a1 == 0):\n    MbarrierArriveExpectTx(mbar[0], bytes={5})\n"
      "    TmaLoad(x_smem[0, {6}0], x_desc[{6}0], mbar[0])\n"
      "  for a2 in 0..2: # reduce\n    MbarrierWait(mbar[(a2 % 2)], phase=((a2 / 2) % 2))\n    Sync\n"
      "    if ((a1 == 0) && (a2 < 1)):\n      MbarrierArriveExpectTx(mbar[((a2 + 1) % 2)], bytes={5})\n"
      "      TmaLoad(x_smem[((a2 + 1) % 2), {6}0], x_desc[{6}((a2 + 1) * {1})], mbar[((a2 + 1) % 2)])\n"
      "    in0 = load x_smem[(a2 % 2), {6}(a1 ^ a2)]\n    y[a1] = in0\n",
      rank < 2 ? "" : repeat(rank - 1, "8") + ", ", row, outer, swizzle == 0 ? "" : fmt::format(" swizzle={}", swizzle),
      swizzle == 0 ? 128 : 8 * swizzle, bytes, zeros);
}

TEST_P(Primitives, TensorCopiesOfEveryRankAndSwizzle) {
  if (!target_.tma) GTEST_SKIP() << GetParam() << " has no TMA";
  for (int rank = 1; rank <= 5; ++rank)
    for (const int swizzle : {0, 32, 64, 128}) {
      const ir::KernelSource source = compile(tensor_copies(rank, swizzle));
      EXPECT_THAT(source.text, HasSubstr(fmt::format("cp.async.bulk.tensor.{}d", rank)));
      ASSERT_EQ(source.tensor_maps.size(), 1U);
      EXPECT_EQ(source.tensor_maps[0].box.size(), static_cast<std::size_t>(rank));
      EXPECT_EQ(source.tensor_maps[0].swizzle, swizzle);
    }
}

// Returns a kernel in which two blocks fill each other's slots. Each loads half of a slot's rows, or half of its only
// row if the rank is 1.
std::string multicast(int rank, int swizzle) {
  const int row = swizzle == 0 ? 32 : swizzle / 4, rows = rank == 1 ? 1 : 8;
  const std::string ones = rank < 3 ? "" : repeat(rank - 2, "1") + ", ",
                    zeros = rank < 3 ? "" : repeat(rank - 2, "0") + ", ";
  const std::string to = rank == 1 ? "(a0 * 32)" : zeros + "(a0 * 8), 0",
                    from = rank == 1 ? "((a2 * 64) + (a0 * 32))" : zeros + "((a2 * 16) + (a0 * 8)), 0";
  return fmt::format(
      "input x: f32[{0}]\noutput y: f32[2, 32]\nTmaDescriptor x_desc(x, box=({1}{2})){3}\n"
      "Tile(axes=(a0:2=CLUSTER, a1:32=THREAD)):\n"
      "  Smem x_smem[2, {4}] (f32) align={5}\n  MbarrierInit full[2] (count=1)\n  MbarrierInit empty[2] (count=2)\n"
      "  ClusterSync\n  Produce(threads=32):\n    for a2 in 0..4: # free\n"
      "      MbarrierWait(empty[(a2 % 2)], phase=(1 - (a2 / 2)))\n"
      "      MbarrierArriveExpectTx(full[(a2 % 2)], bytes={6})\n"
      "      TmaLoad(x_smem[(a2 % 2), {7}], x_desc[{8}], full[(a2 % 2)], multicast)\n"
      "  Init(acc0, op=add)\n  for a3 in 0..4: # free\n"
      "    MbarrierWait(full[(a3 % 2)], phase=((a3 / 2) % 2))\n"
      "    in0 = load x_smem[(a3 % 2), {9}(a1 % {10})]\n    acc0 <- add(acc0, in0)\n"
      "    if (a1 < 2):\n      MbarrierArrive(empty[(a3 % 2)], block=a1)\n  ClusterSync\n  y[a0, a1] = acc0\n",
      rank == 1 ? "256" : ones + fmt::format("64, {}", row), rank == 1 ? "" : ones + "8, ", rank == 1 ? 32 : row,
      swizzle == 0 ? "" : fmt::format(" swizzle={}", swizzle), rank == 1 ? "64" : ones + fmt::format("16, {}", row),
      swizzle == 0 ? 128 : 8 * swizzle, 2 * row * rows * 4, to, from, rank == 1 ? "" : zeros + "0, ", row);
}

TEST_P(Primitives, MulticastsOfEveryRankAndSwizzle) {
  if (!target_.tma || target_.cluster == 1) GTEST_SKIP() << GetParam() << " has no clusters with TMA";
  for (int rank = 1; rank <= 5; ++rank)
    for (const int swizzle : {0, 32, 64, 128}) {
      if (rank == 1 && swizzle > 0) continue;  // a swizzle needs several rows
      const ir::KernelSource source = compile(multicast(rank, swizzle));
      EXPECT_THAT(source.text, HasSubstr(fmt::format("cp.async.bulk.tensor.{}d.shared::cluster", rank)));
      EXPECT_TRUE(source.architecture_specific);
      if (rank != 2 || !find_program("nvdisasm")) continue;
      const Result<Cubin> built = compile_cubin(source, GetParam());
      ASSERT_TRUE(built.ok());
      EXPECT_THAT(sass::disassemble(built.value().code), HasSubstr("UTMALDG.2D.MULTICAST"));
    }
}

// Above 48 KiB, shared memory is dynamic, up to what the target has. The layout also has an array aligned for TMA.
TEST_P(Primitives, DynamicSharedMemory) {
  // The number of elements of each array: whole KiB, with 1 KiB left for barriers.
  const std::int64_t half = target_.shared_bytes / 2 / 1024 * 256 - 256;
  const std::string body = fmt::format(
      "  Smem a_smem[{0}] (f32)\n  Smem b_smem[{0}] (f32) align=1024\n"
      "  CpAsyncCopy(a_smem[(a1 * 4)], x[(a1 * 4)], lanes=4)\n  CpAsyncCommit\n  CpAsyncWait(keep=0)\n"
      "  b_smem[a1] = 1\n  Sync\n  in0 = load a_smem[a1]\n  in1 = load b_smem[a1]\n"
      "  v0 = add(in0, in1)\n  y[a1] = v0\n",
      half);
  const ir::KernelSource source =
      compile("input x: f32[512]\noutput y: f32[128]\nTile(axes=(a0:1=BLOCK, a1:128=THREAD)):\n" + body);
  EXPECT_TRUE(source.dynamic_shared);
  EXPECT_EQ(source.shared_bytes, 8 * half);
}

INSTANTIATE_TEST_SUITE_P(Cuda, Primitives, ::testing::Values("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"));

}  // namespace
}  // namespace deplo::measure::cuda
