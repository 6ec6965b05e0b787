// Races in global memory: accesses of several blocks, or of the warps of one block, that no release and acquire orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drawn_seeds.h"
#include "measure/cuda/fixture.h"
#include "measure/host_arrays.h"
#include "measure/ptx/by_hand.h"
#include "measure/ptx/cuda_file.h"

namespace deplo::measure::ptx {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using cuda::Nvrtc;  // for DEPLO_NEED_NVRTC

constexpr std::uint64_t orders = 12;

/// Runs the kernel with several seeds. Returns the first finding, or "" if there is none.
std::string finding_of(const std::string& body, std::int64_t blocks, std::int64_t threads = 32) {
  const std::string text = by_hand("mov.u32 %r1, %ctaid.x;\n" + body, ".shared .align 16 .b8 s[256];");
  for (const std::uint64_t seed : drawn_seeds(orders)) {
    const std::string found = finding(text, {.blocks = blocks, .threads = threads, .seed = seed});
    if (!found.empty()) return found;
  }
  return "";
}

TEST(GlobalRaces, WritesOfTwoBlocks) {
  EXPECT_THAT(finding_of("st.global.u32 [%rd0+8], %r1;", 2),
              AllOf(HasSubstr("race: writes 4 bytes at byte 8 of 'x'"), HasSubstr("which block "),
                    HasSubstr("warp 0 wrote at PTX line"), HasSubstr("and nothing orders the two")));
  EXPECT_EQ(finding_of("st.global.u32 [%rd0+8], %r1;", 1), "");
  EXPECT_EQ(finding_of("mul.wide.u32 %rd1, %r1, 4; add.s64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r1;", 4), "");
  // Tiles that overlap at the end of an array write the same numbers twice. This is allowed.
  EXPECT_EQ(finding_of("st.global.u32 [%rd0+8], 7;", 4), "");
  EXPECT_EQ(finding_of("red.global.add.u32 [%rd0+8], %r1;", 4), "");
  EXPECT_EQ(finding_of("st.relaxed.gpu.global.u32 [%rd0+8], %r1;", 4), "");
  EXPECT_EQ(finding_of("st.volatile.global.u32 [%rd0+8], %r1;", 4), "");
  EXPECT_EQ(finding_of("atom.add.u32 %r2, [%rd0+8], %r1; st.u32 [%rd0+100], 5;", 4), "");
  // These race: plain and atomic accesses, and atomic accesses with the scope of one block.
  EXPECT_THAT(finding_of("st.global.u32 [%rd0], 9; red.global.add.u32 [%rd0], 1;", 2), StartsWith("PTX line"));
  EXPECT_THAT(finding_of("red.relaxed.cta.global.add.u32 [%rd0], 1;", 2),
              HasSubstr("both atomically, but in a scope that does not include the other's block"));
  EXPECT_THAT(finding_of("red.relaxed.cta.global.add.u32 [%rd0], 1; red.global.add.u32 [%rd0+4], 1;", 2),
              HasSubstr("scope"));
}

TEST(GlobalRaces, PartsOfAWord) {
  const std::string own = "mul.wide.u32 %rd1, %r1, 2; add.s64 %rd1, %rd0, %rd1; mov.u16 %h0, 7;";
  EXPECT_EQ(finding_of(own + "st.global.u16 [%rd1], %h0;", 8), "");
  EXPECT_THAT(finding_of(own + "st.global.u16 [%rd1], %h0; ld.global.u32 %r2, [%rd0];", 4), HasSubstr("race: "));
}

// Each block writes an element of an array and reads the next block's element.
TEST(GlobalRaces, ReadsOfWhatAnotherWrites) {
  const std::string place = "mul.wide.u32 %rd1, %r1, 4; add.s64 %rd1, %rd0, %rd1;";
  EXPECT_THAT(finding_of(place + "ld.global.u32 %r2, [%rd1+4]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;", 2),
              HasSubstr("race: "));
  EXPECT_EQ(finding_of(place + "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;", 4), "");
  EXPECT_EQ(finding_of(place + "ld.global.u32 %r2, [%rd0+256]; st.global.u32 [%rd1], %r2;", 4), "");
}

// Returns a kernel in which block 0 writes x[16] and x[17] and then a flag, x[0]. Block 1 waits for the flag and reads
// x[16].
std::string message(const std::string& sends, const std::string& waits, const std::string& reads = "ld.global.u32") {
  return R"(
  setp.ne.u32 %p1, %r1, 0;
  setp.ne.u32 %p2, %r0, 0;
  @%p1 bra receive;
  @%p2 ret;
  st.global.u32 [%rd0+64], 5;
  st.global.u32 [%rd0+68], 6;
  )" + sends +
         R"(
  ret;
receive:
  )" + waits +
         R"(
  setp.eq.u32 %p3, %r5, 0;
  @%p3 bra receive;
  )" + reads +
         R"( %r6, [%rd0+64];
  )";
}

TEST(GlobalRaces, ReleaseAndAcquire) {
  const std::string release = "st.release.gpu.global.u32 [%rd0], 1;",
                    acquire = "ld.acquire.gpu.global.u32 %r5, [%rd0];";
  for (const char* sends :
       {"st.release.gpu.global.u32 [%rd0], 1;", "st.release.sys.global.u32 [%rd0], 1;",
        "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd0], 1;", "membar.gl; st.volatile.global.u32 [%rd0], 1;",
        "membar.gl; atom.global.exch.b32 %r7, [%rd0], 1;", "atom.release.gpu.global.add.u32 %r7, [%rd0], 1;",
        "fence.sc.sys; red.global.add.u32 [%rd0], 1;"}) {
    for (const char* waits :
         {"ld.acquire.gpu.global.u32 %r5, [%rd0];", "ld.relaxed.gpu.global.u32 %r5, [%rd0]; fence.acq_rel.gpu;",
          "ld.volatile.global.u32 %r5, [%rd0]; membar.gl;", "atom.acquire.gpu.global.add.u32 %r5, [%rd0], 0;",
          "atom.global.cas.b32 %r5, [%rd0], 1, 1; fence.acq_rel.sys;"})
      EXPECT_EQ(finding_of(message(sends, waits), 2), "") << sends << "\n" << waits;
  }
  const auto expect_race = [](const std::string& sends, const std::string& waits) {
    EXPECT_THAT(finding_of(message(sends, waits), 2),
                AllOf(HasSubstr("race: reads 4 bytes at byte 64 of 'x', which block 0, warp 0 wrote"),
                      HasSubstr("nothing orders the two")))
        << sends << "\n"
        << waits;
  };
  expect_race("st.relaxed.gpu.global.u32 [%rd0], 1;", acquire);
  expect_race("st.relaxed.gpu.global.u32 [%rd0], 1; fence.acq_rel.gpu;", acquire);
  expect_race("fence.acq_rel.cta; st.relaxed.gpu.global.u32 [%rd0], 1;", acquire);
  expect_race(release, "ld.relaxed.gpu.global.u32 %r5, [%rd0];");
  expect_race(release, "fence.acq_rel.gpu; ld.volatile.global.u32 %r5, [%rd0];");
  expect_race(release, "ld.relaxed.gpu.global.u32 %r5, [%rd0]; fence.acq_rel.cta;");
  EXPECT_THAT(finding_of(message("st.release.cta.global.u32 [%rd0], 1;", acquire), 2), HasSubstr("in a scope"));
  EXPECT_THAT(finding_of(message("membar.gl; st.global.u32 [%rd0], 1;", acquire), 2), HasSubstr("at byte 0 of 'x'"));
}

// Block 0 releases and block 2 acquires. Between them is an atomic operation of block 1, which orders nothing itself.
TEST(GlobalRaces, AtomicOperationsContinueARelease) {
  const auto relay = [](const char* first, const char* next) {
    return fmt::format(R"(
  setp.ne.u32 %p2, %r0, 0;
  @%p2 ret;
  setp.eq.u32 %p1, %r1, 2;
  @%p1 bra receive;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra relay;
  st.global.u32 [%rd0+64], 5;
  {}
  ret;
relay:
  ld.relaxed.gpu.global.u32 %r5, [%rd0];
  setp.eq.u32 %p3, %r5, 0;
  @%p3 bra relay;
  {}
  ret;
receive:
  ld.acquire.gpu.global.u32 %r5, [%rd0];
  setp.ne.u32 %p3, %r5, 2;
  @%p3 bra receive;
  ld.global.u32 %r6, [%rd0+64];
)",
                       first, next);
  };
  EXPECT_EQ(finding_of(relay("st.release.gpu.global.u32 [%rd0], 1;", "red.global.add.u32 [%rd0], 1;"), 3), "");
  EXPECT_THAT(finding_of(relay("st.release.gpu.global.u32 [%rd0], 1;", "st.relaxed.gpu.global.u32 [%rd0], 2;"), 3),
              HasSubstr("race: reads 4 bytes at byte 64"));
  EXPECT_THAT(finding_of(relay("red.global.add.u32 [%rd0], 1;", "red.global.add.u32 [%rd0], 1;"), 3),
              HasSubstr("race: reads 4 bytes at byte 64"));
}

// One thread acquires, and a barrier passes this on to the other threads of its block. The fence of the thread must
// come before the barrier.
TEST(GlobalRaces, BarriersPassOnWhatAThreadAcquired) {
  const auto waits = [](const char* order) {
    return fmt::format(R"(
  setp.ne.u32 %p1, %r1, 0;
  setp.ne.u32 %p2, %r0, 0;
  @%p1 bra receive;
  st.global.u32 [%rd0+64], 5;
  bar.sync 0;
  @%p2 ret;
  fence.acq_rel.gpu;
  st.relaxed.gpu.global.u32 [%rd0], 1;
  ret;
receive:
  @%p2 bra behind;
again:
  ld.relaxed.gpu.global.u32 %r5, [%rd0];
  setp.eq.u32 %p3, %r5, 0;
  @%p3 bra again;
behind:
  {}
  ld.global.u32 %r6, [%rd0+64];
)",
                       order);
  };
  EXPECT_EQ(finding_of(waits("fence.acq_rel.gpu; bar.sync 0;"), 2, 64), "");
  EXPECT_THAT(finding_of(waits("bar.sync 0; fence.acq_rel.gpu;"), 2, 64),
              AllOf(HasSubstr("race: reads 4 bytes at byte 64"), HasSubstr("block 1, warp 1")));
}

TEST(GlobalRaces, WarpsOfABlock) {
  const std::string to_own = "mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1; st.global.u32 [%rd1], %r0;",
                    from_other =
                        "xor.b32 %r2, %r0, 32; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd0, %rd2; "
                        "ld.global.u32 %r3, [%rd2];";
  EXPECT_THAT(finding_of(to_own + from_other, 1, 64), HasSubstr("race: "));
  EXPECT_EQ(finding_of(to_own + "bar.sync 0;" + from_other, 1, 64), "");
  EXPECT_EQ(finding_of(from_other + "bar.sync 0;" + to_own, 1, 64), "");
  EXPECT_THAT(finding_of(from_other + to_own, 1, 64), HasSubstr("race: "));
}

// An asynchronous copy may read its source until it is waited for.
TEST(GlobalRaces, CopiesThatAreUnderWay) {
  const std::string copy = "mov.u32 %r2, s; cp.async.ca.shared.global [%r2], [%rd0], 4; cp.async.commit_group;",
                    wait = "cp.async.wait_group 0;", write = "st.global.u32 [%rd0], 9;";
  EXPECT_EQ(finding_of(copy + wait + write, 1, 1), "");
  EXPECT_THAT(finding_of(copy + write + wait, 1, 1), AllOf(HasSubstr("race: "), HasSubstr("4 bytes at byte 0 of 'x'")));
}

TEST(GlobalRaces, LoadsOfReadOnlyMemory) {
  EXPECT_THAT(finding_of("st.global.u32 [%rd0], 5; ld.global.nc.u32 %r2, [%rd0];", 1, 1),
              HasSubstr("ld.global.nc is for memory that nothing writes"));
  EXPECT_EQ(finding_of("st.global.u32 [%rd0], 5; ld.global.nc.u32 %r2, [%rd0+4];", 1, 1), "");
}

// ---- kernels in CUDA

std::string finding_in(const std::string& text, const std::vector<std::string>& arguments, std::int64_t blocks,
                       std::int64_t threads = 64) {
  const Arguments parsed = parse_arguments(arguments);
  const CudaFile kernel({.text = text,
                         .entry = "k",
                         .architecture = "sm_90a",
                         .grid = {blocks, 1, 1},
                         .block = {threads, 1, 1},
                         .arguments = parsed});
  for (const std::uint64_t seed : drawn_seeds(orders)) {
    HostArrays arrays(parsed.arrays);
    try {
      kernel.launch(arrays, seed);
    } catch (const Finding& finding) {
      return finding.what();
    }
  }
  return "";
}

std::string without(std::string text, const std::string& part) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.erase(at, part.size());
}

// Each block adds to a sum under a lock.
TEST(GlobalRaces, Locks) {
  DEPLO_NEED_NVRTC("sm_90a");
  const std::string text = R"(extern "C" __global__ void k(float* sum, int* lock) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    sum[0] += blockIdx.x;
    __threadfence();
    atomicExch(lock, 0);
  }
})";
  const std::vector<std::string> arguments = {"sum=f32[1]", "lock=i32[1]"};
  EXPECT_EQ(finding_in(text, arguments, 6), "");
  const std::string second = "    __threadfence();\n    atomicExch";
  EXPECT_THAT(finding_in(without(text, "    __threadfence();\n"), arguments, 6),
              AllOf(HasSubstr("CUDA line"), HasSubstr("of 'sum'"), HasSubstr("nothing orders the two")));
  std::string no_release = text;
  no_release.replace(no_release.find(second), second.size(), "    atomicExch");
  EXPECT_THAT(finding_in(no_release, arguments, 6), HasSubstr("race: "));
  std::string in_block = text;
  in_block.replace(in_block.find("__threadfence()"), 15, "__threadfence_block()");
  EXPECT_THAT(finding_in(in_block, arguments, 6), HasSubstr("race: "));
  std::string weak = text;
  weak.replace(weak.find("atomicExch(lock, 0)"), 19, "*lock = 0");
  EXPECT_THAT(finding_in(weak, arguments, 6), HasSubstr("of 'lock'"));
}

// The last block adds the partial sums of all blocks (CUDA Programming Guide, "Memory Fence Functions").
TEST(GlobalRaces, LastBlock) {
  DEPLO_NEED_NVRTC("sm_90a");
  const std::string text = R"(extern "C" __global__ void k(float* parts, float* sum, unsigned* count) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;
    __threadfence();
    is_last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    __threadfence();  // acquires
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 40) return;
  for (int i = 0; i < gridDim.x; ++i) sum[0] += parts[i];
})";
  const std::vector<std::string> arguments = {"parts=f32[6]", "sum=f32[1]", "count=i32[1]"};
  EXPECT_EQ(finding_in(text, arguments, 6), "");
  EXPECT_THAT(finding_in(without(text, "    __threadfence();\n"), arguments, 6), HasSubstr("race: reads"));
  EXPECT_THAT(finding_in(without(text, "    __threadfence();  // acquires\n"), arguments, 6), HasSubstr("race: reads"));
}

// A tensor copy reads what its own block has written.
TEST(GlobalRaces, CopiesNeedAProxyFence) {
  DEPLO_NEED_NVRTC("sm_90a");
  const std::string text = R"(struct __align__(64) Map { char opaque[128]; };
extern "C" __global__ void k(float* x, const __grid_constant__ Map map, float* y) {
  __shared__ __align__(128) float box[8 * 32];
  __shared__ __align__(8) unsigned long long full;
  const unsigned to = (unsigned)__cvta_generic_to_shared(box), barrier = (unsigned)__cvta_generic_to_shared(&full);
  x[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async;" ::: "memory");
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n fence.mbarrier_init.release.cluster;" :: "r"(barrier) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" :: "r"(barrier) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(to), "l"(&map), "r"(0), "r"(0), "r"(barrier) : "memory");
  }
  asm volatile("{\n.reg .pred done;\nwait:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra wait;\n}" :: "r"(barrier) : "memory");
  y[threadIdx.x] = box[threadIdx.x];
})";
  const std::vector<std::string> arguments = {"x=f32[8,64]", "m=map(x, 8x32)", "y=f32[64]"};
  const auto fenced_by = [&](const std::string& fence) {
    std::string changed = text;
    return changed.replace(text.find("fence.proxy.async;"), std::string_view("fence.proxy.async;").size(), fence);
  };
  const std::string says = "through the generic proxy, without fence.proxy.async";
  EXPECT_EQ(finding_in(text, arguments, 1), "");
  EXPECT_EQ(finding_in(fenced_by("fence.proxy.async.global;"), arguments, 1), "");
  EXPECT_THAT(finding_in(fenced_by("fence.proxy.async.shared::cta;"), arguments, 1), HasSubstr(says));
  EXPECT_THAT(finding_in(fenced_by(""), arguments, 1), HasSubstr(says));
}

}  // namespace
}  // namespace deplo::measure::ptx
