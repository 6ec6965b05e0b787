// `deplo check --cuda` on kernels as users might write them, and on a broken copy of each.
#include "apps/run/cuda_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "core/error.h"
#include "core/file.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/store_fixture.h"

namespace deplo::apps {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

const std::string folder = DEPLO_SOURCE_DIR "/experiments/cuda/";

CudaCheckOptions options_of(const std::string& name) {
  CudaCheckOptions options;
  options.file = folder + name + ".cu";
  options.entry = name == "mma" ? "product" : name == "tma" ? "copy" : name;
  if (name == "matmul") {
    options.arguments = {"a=f32[32,32]", "b=f32[32,32]", "c=f32[32,32]", "n=32"};
    options.grid = "2,2", options.threads = "16,16";
  } else if (name == "reduce") {
    options.arguments = {"x=f32[3000]", "sums=f32[4]", "n=3000"};
    options.grid = "4";
  } else if (name == "mma") {
    options.arguments = {"a=bf16[16,16]", "b=bf16[16,8]", "c=f32[16,8]"};
    options.threads = "32";
  } else {
    options.arguments = {"m=map(f32[8,64], 8x32)", "y=f32[8,32]"};
    options.threads = "64";
  }
  return options;
}

class CudaCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!measure::cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC: CUDA kernels are not compiled";
  }
  /// Returns the finding for the file after occurrence number `which` of `from` was replaced by `to`.
  static std::string broken(const std::string& name, const std::string& from, const std::string& to, int which = 0) {
    CudaCheckOptions options = options_of(name);
    std::string text = read_file(options.file);
    std::size_t at = text.find(from);
    for (int i = 0; i < which && at != std::string::npos; ++i) at = text.find(from, at + 1);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const measure::TemporaryFolder temporary;
    options.file = (temporary.path() / "broken.cu").string();
    std::ofstream(options.file) << text;
    return check_cuda(options).finding;
  }
};

TEST_F(CudaCheck, SoundKernels) {
  for (const char* name : {"matmul", "reduce", "mma", "tma"}) {
    const CudaCheckReport report = check_cuda(options_of(name));
    EXPECT_EQ(report.finding, "") << name;
    EXPECT_EQ(report.unequal, "") << name;
    EXPECT_EQ(report.arrays.back().name == "sums" || report.arrays.back().changed == report.arrays.back().elements,
              true)
        << name;
    EXPECT_THAT(print_table(report), HasSubstr("nothing found in 8 runs"));
    EXPECT_THAT(print_json(report), HasSubstr("\"finding\": \"\""));
  }
}

TEST_F(CudaCheck, BrokenCopies) {
  EXPECT_THAT(broken("matmul", "    __syncthreads();\n", "", 1), HasSubstr("race: writes 4 bytes"));
  EXPECT_THAT(broken("matmul", "    __syncthreads();\n", "", 0), HasSubstr("race: "));
  EXPECT_THAT(broken("reduce", "  __syncthreads();\n", ""), HasSubstr("CUDA line"));
  EXPECT_THAT(broken("reduce", "i < n", "i <= n"), HasSubstr("out of bounds: 4 bytes at byte 12000 of 'x'"));
  EXPECT_THAT(broken("reduce", "if (threadIdx.x >= 32) return;\n", "if (threadIdx.x >= 16) return;\n"),
              HasSubstr("shuffles from lane 16, which does not take part"));
  EXPECT_THAT(broken("mma", "lane / 16 * 8]", "lane / 16 * 8 + 1]"), HasSubstr("misaligned: 16 bytes"));
  EXPECT_THAT(broken("tma", "_, [%0], 1024;", "_, [%0], 1040;"), HasSubstr("deadlock: every warp waits"));
  EXPECT_THAT(broken("tma", "__syncthreads();", ";"), HasSubstr("mbarrier"));
}

TEST_F(CudaCheck, ShowsWhatWasPrintedBeforeAFinding) {
  const measure::TemporaryFolder temporary;
  CudaCheckOptions options;
  options.file = (temporary.path() / "prints.cu").string();
  std::ofstream(options.file) << "__global__ void k(float* x, int n) {\n"
                                 "  if (threadIdx.x == 0) printf(\"n is %d\\n\", n);\n"
                                 "  __syncthreads();\n"
                                 "  x[threadIdx.x + n] = 1;\n"
                                 "}\n";
  options.arguments = {"x=f32[128]", "n=1"};
  const CudaCheckReport report = check_cuda(options);
  EXPECT_THAT(report.finding, HasSubstr("out of bounds"));
  EXPECT_EQ(report.printed, "n is 1\n");
  EXPECT_THAT(print_table(report), ::testing::StartsWith("n is 1\n"));
  EXPECT_THAT(print_json(report), HasSubstr("\"printed\": \"n is 1\\n\""));
  options.arguments[1] = "n=0";
  EXPECT_EQ(check_cuda(options).printed, "n is 0\n");
  options.reference = "x = torch.randn(128); x + 2";
  EXPECT_THAT(check_cuda(options).finding, HasSubstr("wrong: "));
  EXPECT_EQ(check_cuda(options).printed, "n is 0\n");
}

// The message names the user's file. A byte order mark is no part of the text.
TEST_F(CudaCheck, NamesTheFileThatDoesNotCompile) {
  const measure::TemporaryFolder temporary;
  CudaCheckOptions options;
  options.file = (temporary.path() / "wrong \"1\".cu").string();
  options.arguments = {"x=f32[128]"};
  const auto refusal = [&](const std::string& text) {
    std::ofstream(options.file) << text;
    try {
      EXPECT_EQ(check_cuda(options).finding, "");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string mark = "\xef\xbb\xbf", kernel = "__global__ void k(float* x) { x[threadIdx.x] = 1";
  for (const std::string& text : {kernel + " }\n", mark + kernel + " }\n"}) {
    EXPECT_THAT(refusal(text), ::testing::StartsWith("NVRTC: wrong \"1\".cu(1): error: expected a \";\""));
    EXPECT_THAT(refusal(text), Not(HasSubstr("kernel.cu")));
  }
  EXPECT_EQ(refusal(mark + kernel + "; }\n"), "");
}

TEST(CudaCheckReport, ShowsNumbersThatAreNotFinite) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  CudaCheckReport report;
  report.arrays.push_back({"x", "f32", 4, 4, {-std::numeric_limits<double>::quiet_NaN(), infinite, -infinite, 2}});
  EXPECT_THAT(print_table(report), HasSubstr("4 of 4 elements changed; begins with nan inf -inf 2.00\n"));
}

TEST_F(CudaCheck, FindsFailedAssertions) {
  const measure::TemporaryFolder temporary;
  CudaCheckOptions options;
  options.file = (temporary.path() / "asserts.cu").string();
  std::ofstream(options.file) << "#include <assert.h>\n"
                                 "__device__ __noinline__ void require(int n) { assert(n > 0); }\n"
                                 "__global__ void k(float* x, int n) { require(n); x[threadIdx.x] = 1; }\n";
  options.arguments = {"x=f32[128]", "n=1"};
  EXPECT_EQ(check_cuda(options).finding, "");
  options.arguments[1] = "n=0";
  EXPECT_THAT(check_cuda(options).finding, ::testing::AllOf(HasSubstr("assertion failed: n > 0, "),
                                                            HasSubstr("asserts.cu:2, in void require(int); block 0")));
}

TEST_F(CudaCheck, WrongArguments) {
  const auto refusal = [](const auto& change) {
    CudaCheckOptions options = options_of("reduce");
    change(options);
    try {
      check_cuda(options);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal([](auto& o) { o.arguments.pop_back(); }), HasSubstr("expected 3 arguments of"));
  EXPECT_THAT(refusal([](auto& o) { o.arguments[0] = "x=f33[4]"; }), HasSubstr("or i16, found 'f33'"));
  EXPECT_THAT(refusal([](auto& o) { o.arguments[2] = "n=f32[4]"; }),
              HasSubstr("is an integer of 32 bits: expected a number"));
  EXPECT_THAT(refusal([](auto& o) { o.entry = "other"; }), HasSubstr("expected the entry 'other' in the PTX, found"));
  EXPECT_THAT(refusal([](auto& o) { o.grid = "0"; }), HasSubstr("--grid: expected one to three extents"));
  EXPECT_THAT(refusal([](auto& o) { o.threads = "2048"; }), HasSubstr("expected at most 1024 threads per block"));
  EXPECT_THAT(refusal([](auto& o) { o.target = "sm_10"; }), HasSubstr("expected an architecture that NVRTC"));
  EXPECT_THAT(refusal([](auto& o) { o.file = "nowhere.cu"; }), HasSubstr("nowhere.cu"));
}

TEST_F(CudaCheck, TakesTheEntryThatIsMeant) {
  const measure::TemporaryFolder temporary;
  CudaCheckOptions options;
  options.file = (temporary.path() / "several.cu").string();
  std::ofstream(options.file) << "__global__ void one(float* x) { x[threadIdx.x] = 1; }\n"
                                 "__global__ void one(int* x) { x[threadIdx.x] = 1; }\n"
                                 "template <int N> __global__ void n(float* x) { x[threadIdx.x] = N; }\n"
                                 "template __global__ void n<3>(float*);\n";
  options.arguments = {"x=f32[128]"};
  const auto refusal = [&] {
    try {
      check_cuda(options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal(), HasSubstr("expected the name of an entry, found _Z"));
  options.entry = "one";
  EXPECT_THAT(refusal(), HasSubstr("expected the name of one of the entries 'one' in the PTX: "));
  options.entry = "n<2>";
  EXPECT_EQ(check_cuda(options).arrays[0].first[0], 2);
  options.entry = "n<3>";
  EXPECT_EQ(check_cuda(options).arrays[0].first[0], 3);
  options.entry = "n<3>", options.shared_bytes = 200000, options.target = "sm_80";
  EXPECT_THAT(refusal(), HasSubstr("bytes of shared memory per block on sm_80, found 200000"));
  options.shared_bytes = 0, options.grid = "1,65536";
  EXPECT_EQ(refusal(), "expected at most 65535 blocks in y and in z, found 65536");
  options.grid = "1", options.threads = "1,1,128";
  EXPECT_EQ(refusal(), "expected at most 64 threads in z, found 128");
}

// CUDA C++ Programming Guide, "Thread Block Clusters": 8 blocks are the largest portable size.
TEST_F(CudaCheck, RefusesClustersThatNeedPermission) {
  const measure::TemporaryFolder temporary;
  CudaCheckOptions options;
  options.file = (temporary.path() / "cluster.cu").string();
  std::ofstream(options.file)
      << "__global__ void __cluster_dims__(8, 1, 1) eight(float* x) { x[blockIdx.x] = 1; }\n"
         "__global__ void __cluster_dims__(16, 1, 1) sixteen(float* x) { x[blockIdx.x] = 1; }\n";
  options.arguments = {"x=f32[32]"};
  options.threads = "1", options.grid = "16", options.target = "sm_90", options.runs = 1, options.entry = "eight";
  EXPECT_EQ(check_cuda(options).arrays[0].first[0], 1);
  options.entry = "sixteen";
  EXPECT_THAT([&] { check_cuda(options); },
              ThrowsMessage<Error>(HasSubstr("expected clusters of at most 8 blocks, found 16: larger ones need")));
}

// ptxas compiles no larger static arrays, and a driver launches no block with more shared memory in total. Arrays of
// other kernels do not count.
TEST_F(CudaCheck, RefusesTooMuchSharedMemory) {
  const measure::TemporaryFolder temporary;
  CudaCheckOptions options;
  options.file = (temporary.path() / "shared.cu").string();
  std::ofstream(options.file) << "template <int N> __device__ void fill(float* x) {\n"
                                 "  extern __shared__ float dynamic[];\n"
                                 "  __shared__ float fixed[N];\n"
                                 "  fixed[N - 1 - threadIdx.x] = dynamic[threadIdx.x] = 1;\n"
                                 "  __syncthreads();\n"
                                 "  x[threadIdx.x] = fixed[N - 32 + threadIdx.x] + dynamic[31 - threadIdx.x];\n"
                                 "}\n"
                                 "extern \"C\" __global__ void fits(float* x) { fill<12288>(x); }\n"
                                 "extern \"C\" __global__ void large(float* x) { fill<12289>(x); }\n";
  options.arguments = {"x=f32[32]"};
  options.threads = "32", options.target = "sm_80", options.runs = 1, options.entry = "fits";
  options.shared_bytes = 49152;
  EXPECT_EQ(check_cuda(options).arrays[0].first[0], 2);
  options.shared_bytes = 166912 - 49152;
  EXPECT_EQ(check_cuda(options).arrays[0].first[0], 2);
  options.shared_bytes += 4;
  EXPECT_THAT([&] { check_cuda(options); },
              ThrowsMessage<Error>(HasSubstr("expected at most 166912 bytes of shared memory per block on sm_80, found "
                                             "166916, of which 49152 are static")));
  options.shared_bytes = 128, options.entry = "large";
  EXPECT_THAT([&] { check_cuda(options); },
              ThrowsMessage<Error>(HasSubstr("expected at most 49152 bytes of static shared memory in 'large', found "
                                             "49156; larger arrays must be dynamic (extern __shared__)")));
}

// An error that does not depend on the order of the threads: the comparison with an expression's values finds it.
TEST_F(CudaCheck, ComparesWithAReference) {
  CudaCheckOptions options = options_of("matmul");
  options.runs = 2;
  options.reference = "a = torch.randn(32, 32); b = torch.randn(32, 32); a @ b";
  CudaCheckReport report = check_cuda(options);
  EXPECT_EQ(report.finding, "");
  EXPECT_EQ(report.compared, std::vector<std::string>{"c"});
  EXPECT_THAT(print_table(report), HasSubstr("equal to the reference: c\n"));
  options.reference = "a = torch.randn(32, 32); b = torch.randn(32, 32); a @ b.T";
  EXPECT_THAT(check_cuda(options).finding, ::testing::AllOf(HasSubstr("wrong: expected "), HasSubstr("of 'c', found "),
                                                            HasSubstr("of 1024 elements are wrong)")));
  CudaCheckOptions sum = options_of("reduce");
  sum.arguments = {"x=f32[512]", "sums=f32[1]", "n=512"}, sum.grid = "1";
  sum.reference = "x = torch.randn(512); torch.sum(x)";
  EXPECT_EQ(check_cuda(sum).finding, "");
  sum.reference = "x = torch.randn(512); torch.sum(x) + 0.01";
  EXPECT_THAT(check_cuda(sum).finding, HasSubstr("(1 of 1 element"));
  sum.tolerance = 0.1;
  sum.reference = "x = torch.randn(512); torch.sum(x) * 1.01";
  EXPECT_EQ(check_cuda(sum).finding, "");
}

TEST_F(CudaCheck, ReferencesOfArraysInPlace) {
  const measure::TemporaryFolder temporary;
  CudaCheckOptions options;
  options.file = (temporary.path() / "twice.cu").string();
  std::ofstream(options.file) << "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }";
  options.arguments = {"x=f32[128]"};
  options.reference = "x = torch.randn(128); x * 2";
  EXPECT_EQ(check_cuda(options).finding, "");
  options.reference = "x = torch.randn(128); x * 3";
  EXPECT_THAT(check_cuda(options).finding, HasSubstr("of 'x', found"));
}

TEST_F(CudaCheck, RefusesOtherReferences) {
  const auto refusal = [](const char* reference) {
    CudaCheckOptions options = options_of("matmul");
    options.reference = reference;
    try {
      check_cuda(options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal("a = torch.randn(32, 32); d = torch.randn(32, 32); a @ d"),
              HasSubstr("--reference: expected an array of the kernel, found 'd'; its arrays are a, b, c"));
  EXPECT_THAT(refusal("a @ b"), HasSubstr("found `a`; declare this array first: a = torch.randn(1024)"));
  EXPECT_THAT(refusal("c.npz"), HasSubstr("expected a PyTorch expression, such as x = torch.randn(8); 2 * x, found the "
                                          "file c.npz; the Reference of a --space takes files"));
  EXPECT_THAT(refusal(""), HasSubstr("expected an expression such as torch.exp(torch.randn(8)), or a class Model"));
  EXPECT_THAT(refusal("a = torch.randn(32, 31); b = torch.randn(31, 32); a @ b"),
              HasSubstr("expected 1024 elements of the input 'a', found 992"));
  EXPECT_THAT(refusal("a = torch.randn(32, 32); a @ a"), HasSubstr("expected a result for the output 'c'"));
  EXPECT_THAT(refusal("a = torch.randn("), HasSubstr("--reference"));
}

}  // namespace
}  // namespace deplo::apps
