// Tile programs as a user runs, tunes and compiles them: their kernels are compared with the tile interpreter.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/run/subject.h"
#include "apps/run_program.h"
#include "core/file.h"
#include "ir/tile_program/launches.h"
#include "ir/types/float16.h"
#include "measure/check/npy.h"
#include "measure/check/tile_arrays.h"
#include "measure/store_fixture.h"

namespace deplo::testing::tile_programs_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string root = DEPLO_SOURCE_DIR;
const std::string examples = root + "/experiments/tile/", own = root + "/experiments/tile/exported/";

struct Case {
  std::string file;
  Words arguments;
  std::string grid;
};

Words flags_of(const Case& one) {
  Words flags{"--tile", one.file, "--grid", one.grid};
  for (const std::string& argument : one.arguments) flags.insert(flags.end(), {"--arg", argument});
  return flags;
}

Ran deplo(const std::string& command, const Words& flags, Words more = {}) {
  Words words{"deplo", command};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

Json run_json(const Case& one, Words more = {}) {
  more.emplace_back("--json");
  const Ran ran = deplo("run", flags_of(one), more);
  EXPECT_EQ(ran.code, 0) << one.file << " " << one.grid << ": " << ran.err << ran.out;
  return ran.code == 0 ? Json::parse(ran.out) : Json();
}

void expect_right(const Case& one, Words more = {}) {
  const Json report = run_json(one, std::move(more));
  ASSERT_TRUE(report.contains("outputs")) << one.file;
  EXPECT_FALSE(report["outputs"].empty());
  EXPECT_TRUE(report["right"]) << one.file << ": " << report.dump(2);
}

std::vector<Case> committed() {
  const auto floats = [](const std::string& type, const std::string& shape, const std::string& names) {
    Words arguments;
    for (const char name : names) arguments.push_back(fmt::format("{}={}[{}]", name, type, shape));
    return arguments;
  };
  std::vector<Case> cases{
      {examples + "vector_add.tile", floats("f32", "128", "abc"), "1"},
      {examples + "gemm_block.tile", floats("f32", "64,64", "ABC"), "1"},
      {own + "gather_rows.tile", {"x=f16[25,16]", "id=i32[21]", "y=f32[21,16]", "rows=25", "n=21"}, "3"}};
  for (const auto& [m, n] : {std::pair{128, 256}, {256, 512}, {200, 250}})
    cases.push_back({examples + "saxpy.tile",
                     {fmt::format("X=f32[{},{}]", m, n), fmt::format("Y=f32[{},{}]", m, n), "1.5", std::to_string(m),
                      std::to_string(n)},
                     fmt::format("{},{}", (m + 127) / 128, (n + 255) / 256)});
  for (const auto& [m, n, k] : {std::array{128, 128, 64}, {136, 264, 72}})
    cases.push_back({examples + "gemm_views.tile",
                     {fmt::format("A=f16[{},{}]", k, m), fmt::format("B=f16[{},{}]", n, k),
                      fmt::format("C=f32[{},{}]", m, n), std::to_string(m), std::to_string(n), std::to_string(k),
                      std::to_string(m), std::to_string(k), std::to_string(n)},
                     fmt::format("{},{}", (m + 127) / 128, (n + 127) / 128)});
  for (const char* version : {"13.1", "13.2", "13.3", "13.4"})
    cases.push_back({own + "scale_" + version + ".tileirbc", {"x=f16[300]", "y=f16[300]", "factor=0.5"}, "3"});
  for (const auto& [m, n] : {std::pair{4, 64}, {5, 48}})
    cases.push_back({own + "softmax.tileirbc", floats("f32", fmt::format("{},{}", m, n), "xy"), std::to_string(m)});
  cases.push_back({own + "unchecked.tileirbc", {"x=f32[128]", "keep=i1[128]", "y=f32[128]"}, "2"});
  cases.push_back({own + "powers.tileirbc", {"x=f32[128]", "n=i32[128]", "y=f32[128]"}, "2"});
  cases.push_back({own + "swap_quarters.tileirbc", {"x=f32[8,8]", "y=f32[8,8]"}, "1"});
  cases.push_back({own + "transpose.tileirbc", {"x=f32[48,24]", "y=f32[24,48]"}, "3,2"});
  cases.push_back({own + "matmul.tileirbc", {"a=bf16[40,72]", "b=bf16[72,56]", "c=f32[40,56]"}, "3,2"});
  return cases;
}

TEST(TilePrograms, KernelsAgreeWithTheInterpreter) {
  for (const Case& one : committed()) expect_right(one);
}

TEST(TilePrograms, KernelsAreInterpretedOnDemand) {
  for (const Case& one : committed())
    if (one.file.ends_with("vector_add.tile") || one.file.ends_with("softmax.tileirbc"))
      expect_right(one, {"--device", "interpreter", "--as-kernels"});
}

class SharedTilePrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ir::tile_program::shared_programs().empty()) GTEST_SKIP() << "no ../shared/tile_programs";
  }
  static std::string file(const std::string& name) {
    return (ir::tile_program::shared_programs() / (name + ".tileirbc")).string();
  }
  static int tiles(int extent, int tile) { return (extent + tile - 1) / tile; }
};

TEST_F(SharedTilePrograms, Additions) {
  for (const char* name : {"00_vec_add_kernel_1d", "02_vec_add_kernel_1d_gather"})
    for (const int n : {1024, 3000, 7}) {
      const std::string shape = fmt::format("=f32[{}]", n);
      expect_right({file(name), {"a" + shape, "b" + shape, "c" + shape}, std::to_string(tiles(n, 1024))});
    }
  for (const char* name : {"01_vec_add_kernel_2d", "03_vec_add_kernel_2d_gather"})
    for (const auto& [m, n] : {std::pair{32, 64}, {64, 128}, {37, 104}}) {
      const std::string shape = fmt::format("=f32[{},{}]", m, n);
      expect_right(
          {file(name), {"a" + shape, "b" + shape, "c" + shape}, fmt::format("{},{}", tiles(m, 32), tiles(n, 64))});
    }
}

Case matmul(const std::string& file, int m, int n, int k) {
  return {file,
          {fmt::format("A=f16[{},{}]", m, k), fmt::format("B=f16[{},{}]", k, n), fmt::format("C=f16[{},{}]", m, n)},
          std::to_string((m + 127) / 128 * ((n + 255) / 256))};
}

TEST_F(SharedTilePrograms, Matmul) {
  for (const auto& [m, n, k] : {std::array{128, 256, 64}, {256, 256, 128}, {71, 304, 88}})
    expect_right(matmul(file("05_matmul_kernel"), m, n, k));
}

TEST_F(SharedTilePrograms, LayerNorm) {
  for (const auto& [m, n] : {std::pair{4, 1024}, {3, 2048}, {5, 1504}}) {
    const Case one{
        file("08_layer_norm_fwd"),
        {fmt::format("X=f16[{},{}]", m, n), fmt::format("W=f16[{}]", n), fmt::format("B=f16[{}]", n),
         fmt::format("Y=f16[{},{}]", m, n), fmt::format("Mean=f32[{}]", m), fmt::format("Rstd=f32[{}]", m), "eps=1e-5"},
        std::to_string(m)};
    expect_right(one);
    EXPECT_EQ(run_json(one)["kernels"].size(), 3) << "a later one reads what an earlier one has written";
  }
}

/// Returns the bytes of a NumPy file of the type `type`.
template <class T>
std::string npy(const std::string& type, const std::string& shape, const std::vector<T>& values) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  header.resize(117, ' ');
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += header + '\n';
  return bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

class TileProgram : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& bytes) {
    return write_file(folder_.path(), name, bytes);
  }
  void expect_error(const Case& one, const std::string& text, Words more = {}, const std::string& command = "run") {
    const Ran ran = deplo(command, flags_of(one), std::move(more));
    EXPECT_EQ(ran.code, 1) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(text));
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << "one line: " << ran.err;
  }

  measure::TemporaryFolder folder_;
  const Case add_{examples + "vector_add.tile", {"a=f32[128]", "b=f32[128]", "c=f32[128]"}, "1"};
};

TEST_F(TileProgram, TakesArraysFromFiles) {
  std::vector<float> a(128), b(128);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i), b[i] = 0.5F;
  Case one = add_;
  one.arguments = {"a=" + file("a.npy", npy("<f4", "(128,)", a)), "b=" + file("b.npy", npy("<f4", "(128,)", b)),
                   "c=f32[128]"};
  for (const char* device : {"opencl", "interpreter"}) {
    const std::string outputs = folder_.file(device);
    run_json(one, {"--device", device, "--outputs", outputs});
    const std::vector<float> c = measure::read_npy(outputs + "/c.npy", {ir::DType::f32, {128}});
    for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(c[i], static_cast<float>(i) + 0.5F) << device;
  }
  // An array of f16 and an array of integers. Each two neighbouring integers choose the same row.
  std::vector<std::uint16_t> x(25 * 16);
  std::vector<std::int32_t> id(21);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = ir::float16_bits(static_cast<float>(i), ir::DType::f16);
  for (std::size_t i = 0; i < id.size(); ++i) id[i] = static_cast<std::int32_t>(24 - i);
  const Case gather{own + "gather_rows.tile",
                    {"x=" + file("x.npy", npy("<f2", "(25, 16)", x)), "id=" + file("id.npy", npy("<i4", "(21,)", id)),
                     "y=f32[21,16]", "25", "21"},
                    "3"};
  expect_right(gather);
  run_json(gather, {"--outputs", folder_.file("out")});
  const std::vector<float> y = measure::read_npy(folder_.file("out/y.npy"), {ir::DType::f32, {21, 16}});
  for (std::size_t i = 0; i < 21; ++i) EXPECT_EQ(y[i * 16 + 3], static_cast<float>((24 - i) / 2 * 16 + 3)) << i;
  // The benchmark takes its arrays from the files, too.
  EXPECT_EQ(deplo("run", flags_of(gather), {"--bench", "--time", "0.1", "--in-process"}).code, 0);
}

TEST_F(TileProgram, DrawsArraysAsInputsSay) {
  const std::string inputs = file("inputs.yaml", "a: constant(2)\nb: uniform(3, 3.5)\n");
  const Json arrays = run_json(add_, {"--inputs", inputs, "--device", "interpreter"})["arrays"];
  EXPECT_EQ(arrays[0]["least"], 2);
  EXPECT_GE(arrays[2]["least"], 5);
  expect_right(add_, {"--inputs", inputs});
  expect_error(add_, "expected an input or a parameter (a, b, c), found 'd'",
               {"--inputs", file("other.yaml", "d: constant(2)\n")});
}

// The output of an array that is read and written is called Y_out, but its file has the array's own name.
TEST_F(TileProgram, WritesTheArraysThatItHas) {
  const Case saxpy{examples + "saxpy.tile", {"X=f32[128,256]", "Y=f32[128,256]", "2", "128", "256"}, "1"};
  const Json report = run_json(saxpy, {"--outputs", folder_.file("out")});
  EXPECT_EQ(report["outputs"][0]["output"], "Y_out");
  EXPECT_EQ(measure::read_npy(folder_.file("out/Y.npy"), {ir::DType::f32, {128, 256}}).size(), 128U * 256U);
}

TEST_F(TileProgram, IsCheckedOnTheInterpreter) {
  const Ran checked = deplo("check", flags_of(add_)), ran = deplo("run", flags_of(add_), {"--device", "interpreter"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(checked.out, ran.out);
  EXPECT_THAT(checked.out, HasSubstr("c: f32[128]: 128 elements changed"));
  EXPECT_EQ(deplo("check", flags_of(add_), {"--poison"}).out, checked.out) << "every element is specified";
  EXPECT_EQ(run_program({"deplo", "check"}).err,
            "deplo: expected the flag --tile, --cuda or --space, found none; see deplo check --help\n");
  EXPECT_THAT(deplo("check", flags_of(add_), {"--device", "opencl"}).err, HasSubstr("'--device', a flag of "));
  EXPECT_THAT(deplo("run", flags_of(add_), {"--poison"}).err, HasSubstr("found '--poison', a flag of check"));
}

TEST_F(TileProgram, AnExpressionIsAReference) {
  expect_right(add_, {"--reference", "a + b"});
  expect_right({own + "matmul.tileirbc", {"a=bf16[40,72]", "b=bf16[72,56]", "c=f32[40,56]"}, "3,2"},
               {"--reference", "a @ b"});
  expect_right({own + "softmax.tileirbc", {"x=f32[4,64]", "y=f32[4,64]"}, "4"}, {"--reference", "F.softmax(x, -1)"});
  expect_right({examples + "saxpy.tile", {"X=f32[128,256]", "Y=f32[128,256]", "2", "128", "256"}, "1"},
               {"--reference", "2 * X + Y"});
  EXPECT_EQ(deplo("run", flags_of(add_), {"--reference", "a - b"}).code, 1);
  expect_error(add_, "--reference: expected values of the shapes (128,) (c), found (64,)", {"--reference", "a[:64]"});
  expect_error(add_, "expected only arrays of the program as inputs, found", {"--reference", "a + torch.randn(128)"});
  expect_error(add_, "--reference, after 3 lines of arrays:4:5: expected", {"--reference", "a + d"});
  expect_error(add_, "--reference on the interpreter requires --as-kernels",
               {"--reference", "a", "--device", "interpreter"});
}

// The interpreter rounds the weights of an attention to f16, as the program says. Our kernels on CPUs do not.
TEST_F(TileProgram, RoundingOnTheWayIsNoMistake) {
  const Case attention{own + "attention_with_lse.tileirbc",
                       {"q=f16[100,16]", "k=f16[77,16]", "v=f16[77,16]", "out=f16[100,16]", "lse=f32[100]", "0.25"},
                       "7"};
  expect_right(attention);
  expect_right(attention, {"--form", "blocks"});
}

TEST(RoundingOfTilePrograms, IsThatOfTheProgramAlone) {
  using measure::rounding_of;
  const std::vector<double> values{1, -2, 0.5};
  EXPECT_EQ(rounding_of(values, values, ir::DType::f32), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(rounding_of(values, values, ir::DType::f16), (std::vector<double>{0x1p-10, 0x1p-9, 0x1p-11}));
  // One of three values is off by 0.03, so the root mean square of the errors is 0.03 / sqrt(3).
  const std::vector<double> most = rounding_of(values, {1, -2, 0.53}, ir::DType::f32);
  for (const double value : most) EXPECT_NEAR(value, 5 * std::sqrt(2.0 / 3) * 0.03, 1e-12);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(rounding_of({infinite, 1}, {infinite, 1}, ir::DType::f32)[1], 0);
}

TEST_F(TileProgram, AWrongOutputIsFound) {
  const Case softmax{own + "softmax.tileirbc", {"x=f32[4,64]", "y=f32[4,64]"}, "4"};
  const Ran ran = deplo("run", flags_of(softmax), {"--tolerance", "0"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("WRONG at ["));
}

TEST_F(TileProgram, TunesAsAnyKernel) {
  const std::string store = folder_.file("s.db");
  const std::string yaml = file("x.yaml", fmt::format(R"yaml(
budget: {{time: 60, trials: 3, patience: 3}}
kernels:
  - tile: {0}softmax.tileirbc
    arguments: ["x=f32[4,64]", "y=f32[4,64]"]
    grid: 4
  - tile: {0}matmul.tileirbc
    name: product
    entry: matmul
    arguments: [a=a.npy, "b=bf16[72,56]", "c=f32[40,56]"]
    grid: 3,2
    inputs: {{b: "uniform(0, 1)"}}
  - {{tile: {1}gemm_block.tile, grid: 1, arguments: ["A=f32[64,64]", "B=f32[64,64]", "C=f32[64,64]"]}}
  - {{name: own, kernel: matmul, symbols: {{M: 64, N: 64, K: 64}}}}
)yaml",
                                                      own, examples));
  file("a.npy", npy("<f4", "(40, 72)", std::vector<float>(40 * 72, 0.25F)));  // NumPy has no bf16, so the file has f32
  const Ran tuned = run_program({"deplo", "tune", "--config", yaml, "--store", store, "--quiet", "--json"});
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  const Json summary = Json::parse(tuned.out);
  const auto is_alternative = [](const Json& kernel) { return kernel.at("alternative").get<bool>(); };
  EXPECT_EQ(std::ranges::count_if(summary["kernels"], is_alternative), 3) << "block by block: " << summary.dump(1);
  EXPECT_EQ(summary["kernels"].size(), 6) << "a matmul in tiles is our own matmul: " << summary.dump(1);
  EXPECT_EQ(summary["kernels"][1]["kernel"], "product");
  const Case softmax{own + "softmax.tileirbc", {"x=f32[4,64]", "y=f32[4,64]"}, "4"};
  // Which form is faster depends on the machine and its load.
  const Json ran = run_json(softmax, {"--tuned", store});
  EXPECT_EQ((ran.contains("blocks") ? ran["blocks"] : ran["kernels"][0])["schedule"], "tuned");
  const std::string target = summary["target"];
  const Ran compiled = deplo("compile", flags_of(softmax), {"--tuned", store, "--target", target});
  EXPECT_THAT(compiled.out, HasSubstr("schedule: tuned")) << compiled.err;
  EXPECT_THAT(compiled.out, ::testing::StartsWith("// launch: tuned, by " + store + ": tile.form=")) << compiled.err;
  EXPECT_THAT(compiled.out, HasSubstr("__kernel"));
  EXPECT_EQ(run_program({"deplo", "report", store, "-o", folder_.file("r.html")}).code, 0);
  EXPECT_THAT(read_file(folder_.file("r.html")), HasSubstr("softmax"));
}

TEST_F(TileProgram, HasASpaceAndLevels) {
  const Case softmax{own + "softmax.tileirbc", {"x=f32[4,64]", "y=f32[4,64]"}, "4"};
  const Ran space = deplo("space", flags_of(softmax), {"--probes", "20", "--target", "sm_90"});
  EXPECT_EQ(space.code, 0) << space.err;
  EXPECT_THAT(space.out, HasSubstr("cooperative_reduce"));
  for (const char* level : {"tile-program", "loop", "tile", "kernel", "opencl"})
    EXPECT_EQ(deplo("compile", flags_of(softmax), {"--ir", level}).code, 0) << level;
  EXPECT_THAT(run_program({"deplo", "compile", "--tile", softmax.file}).out, HasSubstr("entry @softmax"));
  EXPECT_THAT(run_program({"deplo", "compile", "--tile", softmax.file, "--ir", "loop"}).err,
              HasSubstr("--tile: expected --arg and --grid with --ir loop, found none"));
}

TEST_F(TileProgram, MistakesHaveOneClearLine) {
  const auto with = [&](auto change) {
    Case one = add_;
    change(one);
    return one;
  };
  for (const char* command : {"run", "compile", "space"}) {
    const auto expect = [&](auto change, const std::string& text) { expect_error(with(change), text, {}, command); };
    expect([](Case& c) { c.arguments.pop_back(); }, "expected 3 arguments (a_ptr_base_scalar: tile<ptr<f32>>, ");
    expect([](Case& c) { c.arguments[1] = "b=f16[128]"; },
           "argument 2: expected an array of f32, found an array of f16");
    expect([](Case& c) { c.arguments[1] = "b=128"; }, "argument 2: expected an array of f32, found the number 128");
    expect([](Case& c) { c.arguments[1] = "f32[128]"; },
           "argument 2: expected a name of letters, digits and _ before =");
    expect([](Case& c) { c.grid = "0"; }, "grid: expected one to three numbers of blocks from 1 to 16777215");
    expect([](Case& c) { c.file += "x"; }, "vector_add.tilex: expected a readable file");
  }
  expect_error(add_, "expected an entry (vector_block_add_128x1_kernel), found 'vec'", {"--entry", "vec"});
  const auto of_file = [&](const std::string& bytes) { return with([&](Case& c) { c.file = file("x.tile", bytes); }); };
  expect_error(of_file(""), "x.tile:1:1: expected module, entry or global, found the end of the text");
  std::string newer = read_file(own + "scale_13.3.tileirbc");
  newer[9] = 9;  // version 13.9
  expect_error(of_file(newer), "found 13.9, which adds multimem_load_reduce_view_tko, ");
  // Arguments that are files of arrays.
  const auto of_array = [&](const std::string& bytes) {
    return with([&](Case& c) { c.arguments[1] = "b=" + file("b.npy", bytes); });
  };
  expect_error(of_array(npy<double>("<f8", "(128,)", std::vector<double>(128))),
               "argument 2: expected an array of f32, found an array of f64 (");
  expect_error(of_array(npy<std::uint64_t>("<c8", "(128,)", std::vector<std::uint64_t>(128))), "found 'b=");
  expect_error(of_array(npy<float>("<f4", "(128,)", std::vector<float>(100))), "b.npy: expected 512 more bytes");
  expect_error(with([](Case& c) { c.arguments[1] = "b=nowhere.npy"; }),
               "nowhere.npy: expected a .npy file, found none");
  // Options that tile programs do not have, and options that cannot be combined.
  expect_error(add_, "--dtype cannot be combined with --tile, which names its own types", {"--dtype", "f16"});
  expect_error(add_, "--code cannot be combined with --tile", {"-c", "torch.randn(3)"});
  expect_error(add_, "--whole on the interpreter requires --as-kernels", {"--device", "interpreter", "--whole"});
  expect_error(add_, "--as-kernels requires --device interpreter", {"--as-kernels", "--device", "opencl"});
  const Ran alone = deplo("run", {"-c", "torch.randn(3)", "--grid", "1"});
  EXPECT_THAT(alone.err, HasSubstr("--grid requires --tile"));
  const auto expect_entry = [&](const std::string& entry, const std::string& text) {
    const std::string yaml = file("x.yaml", "kernels:\n  - {" + entry + "}\n");
    const Ran ran = run_program({"deplo-tune", "--quiet", "--store", folder_.file("t.db"), "--config", yaml});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("x.yaml:2: " + text));
  };
  expect_entry("tile: " + add_.file, "expected the key 'grid'");
  expect_entry("tile: " + add_.file + ", grid: 1",
               add_.file + ": entry vector_block_add_128x1_kernel: expected 3 arguments");
  expect_entry("tile: " + add_.file + ", grid: 1, symbols: {N: 3}", "expected one of");
}

}  // namespace
}  // namespace deplo::testing::tile_programs_test
