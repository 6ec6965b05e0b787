// `deplo run` and `deplo compile` of tile programs block by block, mostly of programs that Loop IR cannot express.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/opencl/opencl.h"
#include "measure/store_fixture.h"

namespace deplo::testing::tile_blocks_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string root = DEPLO_SOURCE_DIR;

struct Case {
  std::string file;  // absolute, or relative to the source folder
  Words arguments;
  std::string grid;
};

Words command(const std::string& name, const Case& one, const Words& more = {}) {
  Words words{"deplo",  name,    "--tile", one.file.starts_with('/') ? one.file : root + "/" + one.file,
              "--grid", one.grid};
  for (const std::string& argument : one.arguments) words.insert(words.end(), {"--arg", argument});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Case hello() { return {"experiments/tile/hello.tile", {}, "1"}; }
Case vector_add() { return {"experiments/tile/vector_add.tile", {"a=f32[128]", "b=f32[128]", "c=f32[128]"}, "1"}; }

/// The launches of the programs in the specification's chapter 2. Arrays are small if the program does not fix their
/// sizes.
std::vector<Case> chapter() {
  return {
      hello(),
      {"experiments/tile/hello_grid.tile", {}, "3,2"},
      {"experiments/tile/mutex.tile", {}, "7"},
      vector_add(),
      {"experiments/tile/gemm_block.tile", {"A=f32[64,64]", "B=f32[64,64]", "C=f32[64,64]"}, "1"},
      {"experiments/tile/gemm_square_4096.tile", {"A=f32[4096,4096]", "B=f32[4096,4096]", "C=f32[4096,4096]"}, "64,64"},
      {"experiments/tile/saxpy.tile", {"X=f32[200,300]", "Y=f32[200,300]", "0.75", "200", "300"}, "2,2"},
      {"experiments/tile/gemm_views.tile",
       {"A=f16[104,136]", "B=f16[72,104]", "C=f32[136,72]", "136", "72", "104", "136", "104", "72"},
       "2,1"}};
}

std::multiset<std::string> lines(const std::string& text) {
  std::multiset<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.insert(line);
  return all;
}

class TileBlocks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (measure::opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device";
  }
  static Json run_json(const Case& one, Words more = {}) {
    more.emplace_back("--json");
    const Ran ran = run_program(command("run", one, more));
    EXPECT_EQ(ran.code, 0) << one.file << ": " << ran.err << ran.out;
    return ran.code == 0 ? Json::parse(ran.out) : Json();
  }
  std::string file(const std::string& name, const std::string& text) const {
    return write_file(folder_.path(), name, text);
  }
  /// A barrier of all blocks: each block increments a counter, then waits until it equals the number of blocks.
  Case barrier(int blocks) const {
    return {file("barrier.tile", R"(global @count <i32: 0> : tile<1xi32>
entry @barrier() {
  %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %p = get_global @count : tile<ptr<i32>>
  %old, %t = atomic_rmw_tko relaxed device %p, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  loop {
    %now, %u = load_ptr_tko relaxed device %p : tile<ptr<i32>> -> tile<i32>, token
    %all = cmpi equal %now, %nx, signed : tile<i32> -> tile<i1>
    if %all {
      break
    }
  }
  print "through\n"
})"),
            {},
            std::to_string(blocks)};
  }
  measure::TemporaryFolder folder_;
};

TEST_F(TileBlocks, WhatAProgramPrintsIsShown) {
  const Ran one = run_program(command("run", hello()));
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, StartsWith("Hello World!\nhello_world_kernel block by block: 1 x 1 x 1 blocks of "));
  EXPECT_THAT(one.out, HasSubstr("block by block; reason: "));
  EXPECT_THAT(one.out, Not(HasSubstr("tolerance"))) << "it has no arrays";

  std::multiset<std::string> expected;
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 2; ++y)
      expected.insert(fmt::format("Hello, I am tile <{}, {}, 0> in a kernel with <3, 2, 1> tiles.", x, y));
  const Json grid = run_json({"experiments/tile/hello_grid.tile", {}, "3,2"});
  EXPECT_EQ(lines(grid["blocks"]["printed"]), expected);
  EXPECT_EQ(grid["blocks"]["grid"], (Json{3, 2, 1}));

  expected.clear();
  for (int x = 0; x < 7; ++x) expected.insert(fmt::format("current tile: {} / 7", x));
  EXPECT_EQ(lines(run_json({"experiments/tile/mutex.tile", {}, "7"})["blocks"]["printed"]), expected);
}

TEST_F(TileBlocks, LocksScansAndAtomicsAgreeWithTheInterpreter) {
  const std::string own = "experiments/tile/exported/";
  const std::string inputs = file("inputs.yaml", "total: constant(0)\nlock: constant(0)\n"),
                    count = file("count.yaml", "count: constant(0)\n"), lock = file("lock.yaml", "lock: constant(0)\n");
  const std::vector<std::pair<Case, Words>> cases = {
      {{own + "locked_sum.tileirbc", {"x=f32[200]", "total=f32[1]", "lock=i32[1]"}, "7"}, {"--inputs", inputs}},
      {{own + "last_block_sum.tileirbc", {"x=f32[300]", "parts=f32[10]", "count=i32[1]", "total=f32[1]"}, "10"},
       {"--inputs", count}},
      {{own + "layer_norm_backward_locked.tileirbc",
        {"dy=f16[5,56]", "x=f16[5,56]", "w=f16[56]", "mean=f32[5]", "rstd=f32[5]", "dx=f16[5,56]", "dw=f32[56]",
         "db=f32[56]", "lock=i32[1]"},
        "5"},
       {"--inputs", lock}},
      {{own + "histogram.tileirbc", {"x=i32[200]", "counts=i32[100]"}, "4"}, {}},
      {{own + "running_sum.tileirbc", {"x=f32[2,32]", "y=f32[2,32]"}, "2"}, {}},
      {{own + "cumulative_softmax.tileirbc", {"x=f32[3,40]", "y=f32[3,40]"}, "3"}, {}},
      {{own + "scatter_add.tileirbc", {"x=f32[150]", "index=i32[150]", "y=f32[100]"}, "3"}, {}}};
  for (const auto& [one, more] : cases) {
    const Json report = run_json(one, more);
    ASSERT_TRUE(report.contains("blocks")) << one.file;
    EXPECT_NE(report["blocks"]["why"], "");
    EXPECT_FALSE(report["outputs"].empty()) << one.file;
    EXPECT_TRUE(report["right"]) << one.file << ": " << report.dump(2);
  }
}

TEST_F(TileBlocks, AProgramThatHasKernelsMayBeRunSo) {
  EXPECT_FALSE(run_json(vector_add()).contains("blocks"));
  for (const Case& one : chapter()) {
    if (one.file.ends_with("gemm_square_4096.tile")) continue;  // takes minutes
    const Json report = run_json(one, {"--form", "blocks", "--outputs", folder_.file("out")});
    ASSERT_TRUE(report.contains("blocks")) << one.file;
    EXPECT_TRUE(report["right"]) << one.file << ": " << report.dump(2);
  }
  EXPECT_FALSE(read_file(folder_.file("out/c.npy")).empty());
}

/// PoCL runs as many blocks at a time as there are threads; the interpreter starts with 8 blocks.
TEST_F(TileBlocks, ProgramsThatHangAreEnded) {
  EXPECT_EQ(lines(run_json(barrier(1))["blocks"]["printed"]).count("through"), 1U);
  const Case hangs = barrier(std::max(8, static_cast<int>(std::thread::hardware_concurrency()) + 1));
  const Ran ran = run_program(command("run", hangs, {"--limit", "3"}));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("barrier: expected the blocks to end within 3 s, found some still running: they may "
                                 "be waiting for a block that has not started"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1);
  How interrupted;
  interrupted.signal_after_ms = 2000;
  EXPECT_EQ(run_program(command("run", hangs), interrupted).code, 130);
}

TEST_F(TileBlocks, AnAssertionThatFailsIsTold) {
  // The interpreter runs first, and reports the failure.
  const Case one{file("assert.tile", R"(entry @f(%n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %c = cmpi equal %n, %zero, signed : tile<i32> -> tile<i1>
  assert %c, "n is 0" : tile<i1>
  print "n is %\n", %n : tile<i32>
})"),
                 {"n=1"},
                 "1"};
  const Ran ran = run_program(command("run", one));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("assert.tile:4:3: assert: expected a true condition, found a false one: n is 0"));
  Case right = one;
  right.arguments = {"n=0"};
  EXPECT_EQ(run_json(right)["blocks"]["printed"], "n is 0\n");
}

TEST_F(TileBlocks, KernelIrIsPrinted) {
  const Ran ran = run_program(command("compile", hello(), {"--ir", "kernel"}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("=== kernel: hello_world_kernel ==="));
  EXPECT_THAT(ran.out, HasSubstr("Print(\"Hello World!\\n\")"));
}

TEST_F(TileBlocks, MistakesAreOneLine) {
  const auto expect_error = [](const Words& words, const std::string& text) {
    const Ran ran = run_program(words);
    EXPECT_EQ(ran.code, 1) << text << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(text));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  };
  const std::string no_kernels = " needs kernels, but this program runs block by block: " + root;
  for (const char* flag : {"--nearest", "--whole"}) expect_error(command("run", hello(), {flag}), flag + no_kernels);
  expect_error(command("run", hello(), {"--reference", "A"}), "--reference" + no_kernels);
  expect_error(command("run", hello(), {"--device", "interpreter", "--as-kernels"}),
               "; without --as-kernels, it runs block by block");
  expect_error(command("run", hello(), {"--device", "interpreter", "--form", "blocks"}),
               "--form blocks requires a device of OpenCL or CUDA");
  expect_error({"deplo", "run", "-c", "torch.randn(3)", "--form", "blocks"}, "which is not a tile program");
  expect_error(command("run", hello(), {"--form", "rows"}), "--form: expected auto, elements or blocks, found 'rows'");
  expect_error(command("run", hello(), {"--form", "elements"}),
               "form elements: expected a program that Loop IR expresses, found: ");
  expect_error(command("run", hello(), {"--limit", "0"}), "--limit");
  Case wide = vector_add();  // a launch that is wrong does not run block by block
  wide.arguments.front() = "a=f32[100000000,100000000]";
  for (const char* name : {"run", "compile"}) {
    const Ran ran = run_program(command(name, wide));
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.err.find("block by block"), std::string::npos) << ran.err;
  }
  expect_error(command("run", hello(), {"--target", "sm_90"}), "--target");
  const std::string lowered =
      " needs kernels, but this program is lowered block by block: " + root + "/experiments/tile/hello.tile";
  for (const char* level : {"loop", "tile"})
    expect_error(command("compile", hello(), {"--ir", level}), fmt::format("--ir {}", level) + lowered);
  expect_error(command("compile", hello(), {"--smem"}), "--smem" + lowered);
  expect_error(command("compile", hello(), {"--schedule", "register_tile.tm=2"}),
               "expected the knob blocks.threads, found register_tile.tm");
  expect_error(command("compile", hello(), {"--tuned", folder_.file("no.db")}), "found no file");
  expect_error(command("compile", hello(), {"--only", "1"}), "--only" + lowered);
  expect_error({"deplo", "compile", "-c", "torch.randn(3)", "--form", "blocks"}, "which is not a tile program");
  expect_error({"deplo", "compile", "--tile", root + "/experiments/tile/hello.tile", "--form", "blocks"},
               "found no --grid");
}

TEST(TileBlocksCompile, TheChapterForEachTarget) {
  for (const Case& one : chapter())
    for (const char* target : {"sm_80", "sm_90", "sm_120"}) {
      for (const Words& more : {Words{}, Words{"--form", "blocks"}}) {
        Words words = command("compile", one, {"--target", target, "--ir", "cuda"});
        words.insert(words.end(), more.begin(), more.end());
        const Ran ran = run_program(words);
        EXPECT_EQ(ran.code, 0) << one.file << ": " << ran.err;
        EXPECT_THAT(ran.out, HasSubstr("__global__")) << one.file;
        if (!more.empty()) {
          EXPECT_THAT(ran.out, HasSubstr(" block by block; reason: form blocks asks for it\n")) << one.file;
        }
      }
    }
}

TEST(TileBlocksCompile, ItsTextSaysWhy) {
  const Ran opencl = run_program(command("compile", hello()));
  EXPECT_EQ(opencl.code, 0) << opencl.err;
  EXPECT_THAT(opencl.out, StartsWith("// hello_world_kernel block by block; reason: " + root));
  EXPECT_THAT(opencl.out, HasSubstr("__kernel"));
  if (!measure::cuda::Nvrtc::available()) GTEST_SKIP() << "no NVRTC";
  const Case mutex{"experiments/tile/mutex.tile", {}, "7"};
  const Ran ptx = run_program(command("compile", mutex, {"--ir", "ptx"}));
  EXPECT_THAT(ptx.out, StartsWith("// hello_cross_block_kernel block by block"));
  EXPECT_THAT(ptx.out, HasSubstr("atom."));
  const Ran cubin = run_program(command("compile", mutex, {"--ir", "cubin"}));
  EXPECT_THAT(cubin.out, StartsWith("\x7f"
                                    "ELF"));
  const Ran resources = run_program(command("compile", mutex, {"--resources", "--target", "sm_80"}));
  EXPECT_EQ(resources.code, 0) << resources.err;
  EXPECT_THAT(resources.out, HasSubstr("hello_cross_block_kernel"));
  for (const Words& more : {Words{"--ir", "sass"}, Words{"--instructions"}}) {
    const Ran ran = run_program(command("compile", mutex, more));
    if (ran.code == 2) continue;  // no nvdisasm
    EXPECT_THAT(ran.out, HasSubstr("hello_cross_block_kernel block by block")) << ran.err;
  }
}

Case fourier() {
  return {"experiments/tile/exported/fourier.tileirbc",
          {"x_re=f32[4,8,8]", "x_im=f32[4,8,8]", "y_re=f32[4,8,8]", "y_im=f32[4,8,8]", "f_re=f32[8,8]", "f_im=f32[8,8]",
           "t_re=f32[8,8]", "t_im=f32[8,8]"},
          "4"};
}

// As elements, the inner factors of a Fourier transform would be computed again for each output.
TEST_F(TileBlocks, TheFormThatRepeatsNoWorkIsTaken) {
  EXPECT_THAT(run_program(command("run", fourier())).out,
              HasSubstr("block by block; reason: as elements it would compute each value 6.7 times\n"));
  const Json elements = run_json(fourier(), {"--form", "elements"});
  EXPECT_EQ(elements.at("kernels").size(), 2U);
  EXPECT_EQ(run_json(fourier(), {"--whole"}).at("kernels").size(), 2U) << "a flag about kernels";
  EXPECT_THAT(run_program(command("compile", fourier())).out, StartsWith("// fourier block by block"));
  EXPECT_THAT(run_program(command("compile", fourier(), {"--ir", "loop"})).out, StartsWith("# 0: "));
  EXPECT_THAT(run_program(command("compile", fourier(), {"--form", "elements"})).out, StartsWith("// 0: "));
}

}  // namespace
}  // namespace deplo::testing::tile_blocks_test
