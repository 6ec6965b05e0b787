// Faults planted in the PTX that NVRTC makes of emitted kernels. With one of a few seeds, the machine must report each
// fault, or its outputs must differ from those of the sound PTX.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <regex>

#include "core/rng.h"
#include "ir/emit/emit.h"
#include "measure/check/elements.h"
#include "measure/cuda/fixture.h"
#include "measure/ptx/kernel.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::uint64_t seeds = 6;

struct Subject {
  std::string kernel, target;
  ir::Symbols symbols;
  ir::DType dtype = ir::DType::f32;
  Trail wanted;  // the other choices are the heuristic's
};

KernelCode candidate_of(const Subject& s) {
  ir::Program loop = ir::parse(rules::kernel(s.kernel).text, s.symbols, s.kernel);
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = s.dtype;
  const Target target = load_target(s.target);
  rules::Lowering lowering(loop, target);
  while (const auto& fork = lowering.fork()) {
    const auto wanted = std::ranges::find(s.wanted, fork->knob, &Choice::knob);
    const auto option =
        wanted == s.wanted.end() ? fork->options.begin() : std::ranges::find(fork->options, wanted->value);
    EXPECT_NE(option, fork->options.end()) << fork->knob;
    lowering.choose(option == fork->options.end() ? 0 : static_cast<std::size_t>(option - fork->options.begin()));
  }
  KernelCode candidate{rules::materialize(lowering.program(), target), {}};
  candidate.source = ir::emit(candidate.kernel, target);
  return candidate;
}

/// A kernel whose PTX can be replaced and run.
class Bench {
 public:
  explicit Bench(const Subject& subject) : candidate_(candidate_of(subject)) {
    text = cuda::compile_ptx(candidate_.source, subject.target, {.lines = true}).value();
    expected_ = outputs(text, 0);
  }

  /// Returns "" if this PTX gives the same outputs as the sound PTX with all seeds. Otherwise returns the finding or
  /// "other outputs".
  std::string verdict(const std::string& changed) const {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      try {
        if (outputs(changed, seed) != expected_) return "other outputs";
      } catch (const Error& error) {
        return error.what();
      }
    }
    return "";
  }

  std::string text;

 private:
  std::vector<ir::Numbers> outputs(const std::string& ptx, std::uint64_t seed) const {
    const std::vector<ir::Buffer>& buffers = candidate_.kernel.buffers;
    HostArrays arrays(buffers);
    Rng rng(1);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      arrays.poison(i);
      ir::Numbers values(buffers[i].dtype, static_cast<std::size_t>(ir::span(buffers[i])));
      for (std::size_t k = 0; k < values.size(); ++k) values.set(k, static_cast<double>(rng.below(9)) - 4);
      if (buffers[i].role == ir::Role::input) arrays.write(i, values);
    }
    for (const std::size_t i : candidate_.source.zeroed) std::ranges::fill(arrays.bytes(i), std::byte{0});
    Kernel(ptx, candidate_.source, buffers).launch(arrays, candidate_.source.blocks, seed);
    std::vector<ir::Numbers> found;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].role == ir::Role::output) found.push_back(arrays.read(i));
    return found;
  }

  KernelCode candidate_;
  std::vector<ir::Numbers> expected_;
};

/// Returns emitted kernels that together have each way of moving, waiting and multiplying.
const std::map<std::string, Subject>& subjects() {
  using ir::DType;
  static const ir::Symbols wide = {{"M", 128}, {"N", 128}, {"K", 512}}, small = {{"M", 64}, {"N", 64}, {"K", 256}};
  static const std::map<std::string, Subject> all = {
      {"cp.async", {"matmul", "sm_80", small, DType::bf16, {}}},
      {"tail", {"matmul", "sm_80", {{"M", 64}, {"N", 64}, {"K", 127}}, DType::bf16, {}}},
      {"wgmma", {"matmul", "sm_90", wide, DType::bf16, parse_trail("double_buffer.depth=2")}},
      {"roles",
       {"matmul",
        "sm_90",
        {{"M", 128}, {"N", 256}, {"K", 256}},
        DType::bf16,
        parse_trail("blockify_launch.bm=128 blockify_launch.bn=256 mma.atom=m64n256k16 mma.warps_m=8 mma.a=registers "
                    "double_buffer.depth=2")}},
      {"multicast", {"matmul", "sm_90", wide, DType::bf16, parse_trail("double_buffer.depth=2 multicast.blocks=2")}},
      // Warps that read by ldmatrix arrive at mbarriers of both blocks.
      {"arrivals",
       {"matmul",
        "sm_90",
        {{"M", 192}, {"N", 192}, {"K", 96}},
        DType::f16,
        parse_trail("chunk_matmul_k.bk=32 blockify_launch.bm=96 blockify_launch.bn=192 mma.atom=m16n8k16 mma.warps_m=6 "
                    "mma.warps_n=3 double_buffer.depth=2 specialize_warps.apply=1 multicast.blocks=2 "
                    "multicast.slab=b")}},
      {"atomics", {"matmul", "sm_90", small, DType::f32, parse_trail("cluster_matmul_k.blocks=2")}},
      {"tma", {"matmul", "sm_120", small, DType::bf16, {}}},
      {"exchange",
       {"matmul", "sm_90", {{"M", 32}, {"N", 64}, {"K", 512}}, DType::f32, parse_trail("split_matmul_k.splits=2")}},
      // cp.async copies the rows of a convolution, TMA copies the columns, and wgmma reads both.
      {"lines", {"conv2d_lines", "sm_90", {{"R", 128}, {"O", 64}}, DType::bf16, {}}},
      {"softmax", {"softmax", "sm_90", {{"M", 8}, {"N", 512}}, DType::f32, {}}},
  };
  return all;
}

struct Fault {
  const char *name, *subject;
  const char *pattern, *replacement;  // in the ECMAScript syntax of std::regex
  int which = -1;                     // index of the match to replace; -1: all matches
  const char* says = "";              // a part of the finding; "": any finding, or other outputs
};

const Fault faults[] = {
    // cp.async, ldmatrix, mma.sync
    {"missing wait", "cp.async", "cp\\.async\\.wait_group [0-9]+;", "", -1, "race"},
    {"wait for a group too few", "cp.async", "cp\\.async\\.wait_group 1;", "cp.async.wait_group 2;", -1, "race"},
    {"last wait for a group too few", "cp.async", "cp\\.async\\.wait_group 0;", "cp.async.wait_group 1;", -1, "race"},
    {"missing commit", "cp.async", "cp\\.async\\.commit_group;", "", 0, "race"},
    {"missing barrier in the loop", "cp.async", "bar\\.sync\\s+0;", "", 0, "race"},
    {"missing barrier behind the loop", "cp.async", "bar\\.sync\\s+0;", "", 1, "race"},
    {"barrier of half of the threads", "cp.async", "bar\\.sync\\s+0;", "bar.sync 0, 64;", -1, ""},
    {"ldmatrix without trans", "cp.async", "x4\\.trans\\.shared", "x4.shared"},
    {"ldmatrix with trans", "cp.async", "x4\\.shared", "x4.trans.shared"},
    {"matrices in another order", "cp.async", "(ldmatrix\\S+ \\{%r\\d+, )(%r\\d+), (%r\\d+)", "$1$3, $2"},
    {"a matrix twice", "cp.async", "(ldmatrix\\S+ \\{)(%r\\d+), %r\\d+", "$1$2, $2"},
    {"another type of product", "cp.async", "f32\\.bf16\\.bf16\\.f32", "f32.f16.f16.f32"},
    {"operands of a in another order", "cp.async", "(mma\\.sync\\S+ \\{[^}]*\\}, \\{)(%r\\d+), (%r\\d+)", "$1$3, $2"},
    {"sums in another order", "cp.async", "(mma\\.sync\\S+ \\{)(%f\\d+), (%f\\d+)", "$1$3, $2", 3},
    {"half of each copy", "cp.async", "cp\\.async\\.cg(.*), 16;", "cp.async.ca$1, 8;"},
    {"copy to the next place", "cp.async", "(cp\\.async\\.cg\\S+ \\[%r\\d+)\\]", "$1+16]", 0},
    {"copy to a misaligned place", "cp.async", "(cp\\.async\\.cg\\S+ \\[%r\\d+)\\]", "$1+8]", 0, "misaligned"},
    {"copy from the next place", "cp.async", "(cp\\.async\\.cg\\S+ \\[%r\\d+\\], \\[%rd\\d+)\\]", "$1+16]"},
    {"copy from beyond the array", "cp.async", "(cp\\.async\\.cg\\S+ \\[%r\\d+\\], \\[%rd\\d+)\\]", "$1+1048576]", -1,
     "out of bounds"},
    {"store beyond the array", "cp.async", "(st\\.global\\S+\\s+\\[%rd\\d+)(\\+\\d+)?\\]", "$1+1048576]", 0,
     "out of bounds"},
    {"misaligned store", "cp.async", "(st\\.global\\S+\\s+\\[%rd\\d+)(\\+\\d+)?\\]", "$1+2]", 0, "misaligned"},
    {"missing fill", "tail", "st\\.shared\\S*\\s+\\[[^\\]]*\\], [^;]*;", "", 0, ""},
    {"elements beyond the end not zero", "tail", "st\\.shared\\S*\\s+\\[[^\\]]*\\], [^;]*;", "", 1, ""},
    // wgmma, tensor copies, mbarriers
    {"stride of another swizzle", "wgmma", "4611686293305294848", "4611686155866341376"},
    {"swizzle of 64 bytes", "wgmma", "4611686293305294848", "9223372311732682752"},
    {"no swizzle", "wgmma", "4611686293305294848", "274877906944"},
    {"stride beyond shared memory", "wgmma", "4611686293305294848", "4682054737188442112", -1, ""},
    {"start of the next part", "wgmma", "add\\.s64 \\s*(%rd\\d+), (%rd\\d+), 32;", "add.s64 $1, $2, 64;"},
    {"start not masked", "wgmma", "and\\.b64\\s+(%rd\\d+), (%rd\\d+), 261120;", "and.b64 $1, $2, 253952;"},
    {"b by columns", "wgmma", "1,\\s*1,\\s*1,\\s*0,\\s*1;", "1, 1, 1, 0, 0;"},
    {"a by columns", "wgmma", "1,\\s*1,\\s*1,\\s*0,\\s*1;", "1, 1, 1, 1, 1;"},
    {"sums not added", "wgmma", "1,\\s*1,\\s*1,\\s*0,\\s*1;", "0, 1, 1, 0, 1;"},
    {"minus", "wgmma", "1,\\s*1,\\s*1,\\s*0,\\s*1;", "1, -1, 1, 0, 1;"},
    {"sums of wgmma in another order", "wgmma", "(mma_async\\S+ \\{)(%f\\d+), (%f\\d+)", "$1$3, $2", 2},
    {"missing wgmma.fence", "wgmma", "wgmma\\.fence\\.sync\\.aligned;", "", -1, "no wgmma.fence"},
    {"missing wgmma commit", "wgmma", "wgmma\\.commit_group\\.sync\\.aligned;", "", -1, ""},
    {"missing wgmma wait in the loop", "wgmma", "wgmma\\.wait_group\\.sync\\.aligned 1;", "", -1, "race"},
    {"wgmma wait for a group too few", "wgmma", "wgmma\\.wait_group\\.sync\\.aligned 1;",
     "wgmma.wait_group.sync.aligned 2;", -1, "race"},
    {"missing last wgmma wait", "wgmma", "wgmma\\.wait_group\\.sync\\.aligned 0;", "", -1, "before waiting for it"},
    {"last wgmma wait for a group too few", "wgmma", "wgmma\\.wait_group\\.sync\\.aligned 0;",
     "wgmma.wait_group.sync.aligned 1;", -1, "before waiting for it"},
    {"expect_tx of a box too few", "wgmma", "(mov\\.u32\\s+%r\\d+, )16384;", "$018192;", 0, ""},
    {"expect_tx of 16 bytes more", "wgmma", "(mov\\.u32\\s+%r\\d+, )16384;", "$0116400;", -1, "deadlock"},
    {"expect_tx missing", "wgmma", "mbarrier\\.arrive\\.expect_tx(\\S+) _, (\\[%r\\d+\\]), %r\\d+;",
     "mbarrier.arrive$1 _, $2;", -1, ""},
    {"parity of the producer not turned", "wgmma", "(try_wait\\.parity\\S+ p, \\[%r\\d+\\], )%r\\d+", "$011", 2, ""},
    {"parity of the producer inverted", "wgmma", "(try_wait\\.parity\\S+ p, \\[%r\\d+\\], )%r\\d+", "$010", 0,
     "deadlock"},
    {"parity of the consumer not turned", "wgmma", "(try_wait\\.parity\\S+ p, \\[%r\\d+\\], )%r\\d+", "$010", 8, ""},
    {"parity of the consumer inverted", "wgmma", "(try_wait\\.parity\\S+ p, \\[%r\\d+\\], )%r\\d+", "$011", 8, ""},
    {"missing wait of the consumer", "wgmma", "mbarrier\\.try_wait\\.parity\\S+ p, \\[%r\\d+\\], %r\\d+, 10000000;",
     "setp.eq.u32 p, 0, 0;", 8, ""},
    {"missing wait of the producer", "wgmma", "mbarrier\\.try_wait\\.parity\\S+ p, \\[%r\\d+\\], %r\\d+, 10000000;",
     "setp.eq.u32 p, 0, 0;", 3, ""},
    {"count of arrivals too few", "wgmma", "(mov\\.u32\\s+%r\\d+, )4;", "$013;", 0, ""},
    {"count of arrivals too many", "wgmma", "(mov\\.u32\\s+%r\\d+, )4;", "$015;", 0, "deadlock"},
    {"missing arrival", "wgmma", "mbarrier\\.arrive\\.shared::cta\\.b64 _, \\[%r\\d+\\];", "", 0, "deadlock"},
    {"arrival before the wait for the products", "wgmma", "wgmma\\.wait_group\\.sync\\.aligned 1;",
     "wgmma.wait_group.sync.aligned 3;", -1, "race"},
    {"missing initialization", "wgmma", "mbarrier\\.init\\S+ \\[%r\\d+\\], %r\\d+;", "", 1,
     "none that was initialized"},
    {"missing barrier after the initialization", "wgmma", "bar\\.sync\\s+0;", "", 0, ""},
    {"no fence of the initialization", "wgmma", "fence\\.mbarrier_init\\.release\\.cluster;", "", -1, "to the copy"},
    {"copies by all lanes", "wgmma", "selp\\.s32 (%r\\d+), 1, 0, p;", "selp.s32 $1, 1, 1, p;", 0, ""},
    {"coordinates in another order", "wgmma", "\\{(%r\\d+), (%r\\d+)\\}\\]", "{$2, $1}]"},
    {"copy reported to another mbarrier", "wgmma", "(cp\\.async\\.bulk\\.tensor\\S+ )(\\[%r\\d+\\])(.*), \\[%r\\d+\\];",
     "$1$2$3, $2;", 0, "none that was initialized"},
    {"copy to a misaligned place of a tensor", "wgmma", "(cp\\.async\\.bulk\\.tensor\\S+ \\[%r\\d+)\\]", "$1+64]", 0,
     "misaligned"},
    {"copy to the next slot", "wgmma", "(cp\\.async\\.bulk\\.tensor\\S+ \\[%r\\d+)\\]", "$1+8192]", 0, ""},
    {"setmaxnreg of no multiple of 8", "wgmma", "bar\\.sync\\s+0;", "bar.sync 0; setmaxnreg.inc.sync.aligned.u32 100;",
     0, "multiple of 8"},
    {"setmaxnreg of more registers than there are", "wgmma", "wgmma\\.wait_group\\.sync\\.aligned 0;",
     "setmaxnreg.inc.sync.aligned.u32 256; wgmma.wait_group.sync.aligned 0;", 0, "deadlock"},
    // warps with different numbers of registers
    {"registers not given back", "roles", "setmaxnreg\\.dec\\.sync\\.aligned\\.u32 24;", "", 0, "deadlock"},
    {"registers decreased to more", "roles", "setmaxnreg\\.dec\\.sync\\.aligned\\.u32 24;",
     "setmaxnreg.dec.sync.aligned.u32 248;", 0, "decreases the registers"},
    // multicast
    {"mask of one block", "multicast", "(mov\\.u16\\s+%rs\\d+, )3;", "$011;", -1, ""},
    {"mask of a block that is not there", "multicast", "(mov\\.u16\\s+%rs\\d+, )3;", "$017;", 0,
     "blocks outside the cluster"},
    {"missing cluster barrier at the beginning", "multicast", "barrier\\.cluster\\.\\S+;", "", -1, ""},
    // Without this wait, an H200 stopped the kernel (docs/cuda.md, "Clusters").
    {"no wait for the last arrivals of the other block", "multicast",
     "mbarrier\\.try_wait\\.parity\\S+ p, \\[%r\\d+\\], %r\\d+, 10000000;", "setp.eq.u32 p, 0, 0;", 9, "end"},
    {"a transposition with another neighbour", "wgmma",
     "shfl\\.sync\\.bfly\\.b32\\s+(%r\\d+\\|%p\\d+, %r\\d+), %r\\d+,", "shfl.sync.bfly.b32 $1, 3,", 0, ""},
    {"cluster barrier without wait", "multicast", "barrier\\.cluster\\.wait\\.acquire\\.aligned;", "", -1,
     "nothing orders this with its"},  // start, or the initialization of its mbarrier
    {"arrival at the own block only", "multicast", "(mapa\\.shared::cluster\\.u32 %r\\d+, %r\\d+, )%r\\d+", "$010", -1,
     ""},
    {"arrival at no block", "multicast", "(mapa\\.shared::cluster\\.u32 %r\\d+, %r\\d+, )%r\\d+", "$015", 0,
     "expected a rank below 2"},
    {"copies without multicast", "multicast", "\\.multicast::cluster (.*), %rs\\d+;", " $1;", -1, ""},
    // Without this fence, an H200 gave other outputs.
    {"reads that a copy overtakes", "arrivals", "fence\\.proxy\\.async\\.shared::cta;", "", -1,
     "without fence.proxy.async"},
    {"reads of the pipeline that a copy overtakes", "tma", "fence\\.proxy\\.async\\.shared::cta;", "", -1,
     "without fence.proxy.async"},
    {"copies that a product reads too early", "lines", "fence\\.proxy\\.async\\.shared::cta;", "", -1,
     "without fence.proxy.async"},
    {"missing wait for copies of lines", "lines", "cp\\.async\\.wait_group [0-9]+;", "", -1, "race"},
    // sums that blocks of a cluster exchange
    {"exchange without release", "exchange", "barrier\\.cluster\\.arrive\\.release", "barrier.cluster.arrive.relaxed",
     0, "race"},
    {"exchange without a barrier", "exchange",
     "barrier\\.cluster\\.arrive\\.release\\.aligned;\\s*barrier\\.cluster\\.wait\\.acquire\\.aligned;", "", 0, "race"},
    {"exit without a barrier", "exchange",
     "barrier\\.cluster\\.arrive\\.release\\.aligned;\\s*barrier\\.cluster\\.wait\\.acquire\\.aligned;", "", 1,
     "has ended"},
    {"exchange with another block", "exchange", "(mapa\\.shared::cluster\\.u32 %r\\d+, %r\\d+, )%r\\d+", "$012", 0, ""},
    {"exchange within a block without a barrier", "exchange", "bar\\.sync\\s+0;", "", 2, "race"},
    {"load of another block as of the own", "exchange", "ld\\.shared::cluster", "ld.shared", -1,
     "not of the thread's own block"},
    {"early exit", "softmax", "bar\\.sync\\s+0;", "setp.lt.u32 %p1, %r1, 32; @%p1 exit; bar.sync 0;", 1, ""},
    // additions to memory
    {"misaligned sum of four", "atomics", "(atom\\.global\\.add\\.v4\\.f32\\s+\\{[^}]*\\}, \\[%rd\\d+)\\]", "$1+4]", 0,
     "misaligned"},
    {"sum stored", "atomics", "atom\\.global\\.add\\.v4\\.f32\\s+\\{[^}]*\\}, ", "st.global.v4.f32 ", -1, "race"},
    {"missing barrier after the fill", "atomics", "bar\\.sync\\s+0;", "", 0, "race"},
    // tensor copies and mma.sync
    {"matrices not swizzled", "tma", "xor\\.b32\\s+(%r\\d+), (%r\\d+), %r\\d+;", "mov.b32 $1, $2;"},
    {"expect_tx of a box too few without roles", "tma", "(mov\\.b32\\s+%r\\d+, )8192;", "$014096;", -1, ""},
    {"missing barrier of the pipeline", "tma", "bar\\.sync\\s+0;", "", 2, "race"},
    // shuffles
    {"shuffle of another distance", "softmax", "shfl\\.sync\\.bfly\\.b32\\s+(%r\\d+\\|%p\\d+, %r\\d+), %r\\d+,",
     "shfl.sync.bfly.b32 $1, 3,", 7},
    {"shuffle of half of the warp", "softmax",
     "(shfl\\.sync\\.bfly\\.b32\\s+%r\\d+\\|%p\\d+, %r\\d+, %r\\d+, %r\\d+, )%r\\d+", "$0165535", 0,
     "not in its membermask"},
    {"missing barrier of the row", "softmax", "bar\\.sync\\s+0;", "", 1, "race"},
    {"barrier of a part of the warp", "softmax", "bar\\.sync\\s+0;", "setp.lt.u32 %p1, %r1, 5; @%p1 bar.sync 0;", 1,
     ""},
    {"barrier of other threads", "softmax", "bar\\.sync\\s+0;", "bar.sync 0, 48;", 1, "expected a multiple of 32"},
};

/// Returns the text with the fault, or "" if the pattern does not match.
std::string planted(const std::string& text, const Fault& fault) {
  const std::regex pattern(fault.pattern);
  if (fault.which < 0) {
    std::string changed = std::regex_replace(text, pattern, fault.replacement);
    return changed == text ? "" : changed;
  }
  auto match = std::sregex_iterator(text.begin(), text.end(), pattern);
  for (int i = 0; i < fault.which && match != std::sregex_iterator(); ++i) ++match;
  if (match == std::sregex_iterator()) return "";
  return text.substr(0, static_cast<std::size_t>(match->position())) + match->format(fault.replacement) +
         text.substr(static_cast<std::size_t>(match->position() + match->length()));
}

class PtxFaults : public ::testing::TestWithParam<std::string> {};

TEST_P(PtxFaults, AreFound) {
  if (!cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  if (!cuda::Nvrtc::get().version().starts_with("13.")) GTEST_SKIP() << "the texts are those of NVRTC 13";
  const Bench sound(subjects().at(GetParam()));
  EXPECT_EQ(sound.verdict(sound.text), "");
  for (const Fault& fault : faults) {
    if (fault.subject != GetParam()) continue;
    const std::string text = planted(sound.text, fault);
    ASSERT_NE(text, "") << fault.name << ": nothing to change";
    const std::string verdict = sound.verdict(text);
    EXPECT_NE(verdict, "") << fault.name;
    EXPECT_THAT(verdict, ::testing::HasSubstr(fault.says)) << fault.name;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, subject] : subjects()) all.push_back(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kernels, PtxFaults, ::testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '.');
  return name;
});

}  // namespace
}  // namespace deplo::measure::ptx
