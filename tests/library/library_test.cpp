// The public API as another program sees it: the test includes only deplo's two headers.
#include <deplo/deplo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "examples/library/opencl_runtime.h"

namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class Library : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("deplo_library_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  fs::path folder_;
};

/// Returns what a command prints.
std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  for (int c = 0; (c = std::getc(pipe)) != EOF;) text.push_back(static_cast<char>(c));
  pclose(pipe);
  return text;
}

bool has_opencl() { return deplo::devices().front().id.starts_with("opencl"); }

deplo::Source expression(const std::string& text) {
  deplo::Source source;
  source.expression = text;
  return source;
}

deplo::Source softmax() {
  deplo::Source source;
  source.kernel = "softmax";
  source.symbols = {{"M", 3}, {"N", 17}};
  return source;
}

deplo::CompileOptions for_target(const std::string& name) {
  deplo::CompileOptions options;
  options.device.clear();
  options.target = name;
  return options;
}

deplo::TuneOptions interpreted(const std::string& store) {
  deplo::TuneOptions options;
  options.device = "interpreter";
  options.store = store;
  options.strategy = "random";
  options.seconds = 60;
  options.trials = 3;
  return options;
}

template <class Exception, class Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const Exception& error) {
    return error.what();
  }
  return "no such exception";
}

TEST_F(Library, MakesTheSourcesThatTheProgramPrints) {
  const std::string text = "F.softmax(nn.Linear(61, 47)(torch.randn(33, 61)), dim=-1)";
  for (const std::string target : {"sm_90", "opencl-cpu"}) {
    const deplo::Program program = deplo::compile(expression(text), for_target(target));
    const bool cuda = target == "sm_90";
    EXPECT_EQ(program.target, target);
    EXPECT_EQ(program.language == deplo::Program::Language::cuda_cpp, cuda);
    EXPECT_EQ(program.device, "");
    ASSERT_FALSE(program.kernels.empty());
    const std::string printed = output_of("'" DEPLO_BINARY_DIR "/deplo' compile -c '" + text + "' --target " + target +
                                          " --ir " + (cuda ? "cuda" : "opencl"));
    for (const deplo::Kernel& kernel : program.kernels) {
      EXPECT_THAT(printed, HasSubstr(kernel.source));
      EXPECT_THAT(kernel.source, HasSubstr(kernel.entry + "("));
      EXPECT_EQ(kernel.origin, deplo::Origin::heuristic);
      EXPECT_EQ(kernel.measured_us, 0);
      EXPECT_GE(kernel.grid * kernel.block, 1);
    }
  }
}

// wgmma is an instruction of sm_90a only.
TEST_F(Library, NamesTheArchitectureThatTheKernelsNeed) {
  deplo::Source source = expression("nn.Linear(1024, 1024)(torch.randn(1024, 1024))");
  EXPECT_THAT(deplo::compile(source, for_target("sm_90")).build_options,
              ::testing::Contains("--gpu-architecture=sm_90"));
  source.dtype = "bf16";
  const deplo::Program program = deplo::compile(source, for_target("sm_90"));
  EXPECT_THAT(program.kernels.at(0).source, HasSubstr("wgmma"));
  EXPECT_THAT(program.build_options, ::testing::Contains("--gpu-architecture=sm_90a"));
}

// x Wᵀ + b: the weight may be stored transposed, and the caller who fills it must know this.
TEST_F(Library, SaysWhatTheTensorsAre) {
  const deplo::Program program =
      deplo::compile(expression("nn.Linear(61, 47)(torch.randn(33, 61))"), for_target("opencl-cpu"));
  std::set<std::size_t> own;
  int parameters = 0;
  for (const deplo::Tensor& tensor : program.tensors) {
    std::int64_t count = 1;
    for (const std::int64_t extent : tensor.shape) count *= extent;
    EXPECT_GE(program.slots.at(tensor.slot), 4 * count);
    EXPECT_TRUE(own.insert(tensor.slot).second) << "nothing is computed but the output";
    if (tensor.kind != deplo::Tensor::Kind::parameter) continue;
    ++parameters;
    if (tensor.shape.size() != 2) continue;
    EXPECT_THAT(tensor.shape, ElementsAre(61, 47));
    EXPECT_THAT(tensor.strides, ElementsAre(47, 1));
    EXPECT_THAT(tensor.permutation, ElementsAre(1, 0));
    EXPECT_EQ(tensor.of, "p_weight");
  }
  EXPECT_EQ(parameters, 2);
  ASSERT_THAT(program.outputs, SizeIs(1));
  const deplo::Tensor& output = program.tensors.at(program.outputs[0]);
  EXPECT_EQ(output.kind, deplo::Tensor::Kind::computed);
  EXPECT_THAT(output.shape, ElementsAre(33, 47));
  ASSERT_THAT(program.launches, SizeIs(1));
  EXPECT_THAT(program.launches[0].arguments, SizeIs(program.tensors.size()));
}

// The other outputs keep their places.
TEST_F(Library, OutputsWithoutElementsAreOutputs) {
  const deplo::Program program = deplo::compile(
      expression("x = torch.randn(4, 3); (x[:, 3:] * 2, x + 1, x[4:], x[4:], x - 1)"), for_target("opencl-cpu"));
  std::vector<std::vector<std::int64_t>> shapes;
  for (const std::size_t output : program.outputs) shapes.push_back(program.tensors.at(output).shape);
  EXPECT_THAT(shapes, ElementsAre(ElementsAre(4, 0), ElementsAre(4, 3), ElementsAre(0, 3), ElementsAre(0, 3),
                                  ElementsAre(4, 3)));
  if (!has_opencl()) GTEST_SKIP() << "no OpenCL device";
  const std::vector<float> x(12, 5);
  EXPECT_THAT(run(program, {{"x", x}}), ElementsAre(SizeIs(0), Each(6), SizeIs(0), SizeIs(0), Each(4)));
}

TEST_F(Library, EqualKernelsAreOneWithSeveralLaunches) {
  const deplo::Program program = deplo::compile(
      expression("x = torch.randn(7, 100); y = torch.randn(7, 100); (F.softmax(x, dim=-1), F.softmax(y, dim=-1))"),
      for_target("opencl-cpu"));
  ASSERT_THAT(program.launches, SizeIs(2));
  ASSERT_THAT(program.kernels, SizeIs(1));
  std::set<std::size_t> arguments;
  for (const deplo::Launch& launch : program.launches) {
    EXPECT_EQ(launch.kernel, 0U);
    arguments.insert(launch.arguments.begin(), launch.arguments.end());
  }
  EXPECT_THAT(arguments, SizeIs(4));
}

TEST_F(Library, TakesTilePrograms) {
  deplo::Source source;
  source.tile = DEPLO_SOURCE_DIR "/experiments/tile/vector_add.tile";
  source.arguments = {"a=f32[128]", "b=f32[128]", "c=f32[128]"};
  source.grid = "1";
  const deplo::Program program = deplo::compile(source, for_target("opencl-cpu"));
  ASSERT_THAT(program.kernels, SizeIs(1));
  ASSERT_THAT(program.tensors, SizeIs(3));
  EXPECT_EQ(program.tensors.at(program.outputs.at(0)).name, "c");
  source.grid = "0";
  EXPECT_THAT(message_of<std::invalid_argument>([&] { deplo::compile(source, for_target("opencl-cpu")); }),
              HasSubstr("grid: expected one to three numbers of blocks"));
}

deplo::Source exported(const std::string& name, const std::vector<std::string>& arguments, const std::string& grid) {
  deplo::Source source;
  source.tile = DEPLO_SOURCE_DIR "/experiments/tile/exported/" + name + ".tileirbc";
  source.arguments = arguments;
  source.grid = grid;
  return source;
}

/// Transforms of 64 numbers, in which elements would compute each value 6.7 times.
deplo::Source fourier() {
  return exported("fourier",
                  {"x_re=f32[2,8,8]", "x_im=f32[2,8,8]", "y_re=f32[2,8,8]", "y_im=f32[2,8,8]", "f_re=f32[8,8]",
                   "f_im=f32[8,8]", "t_re=f32[8,8]", "t_im=f32[8,8]"},
                  "2");
}

using Values = std::map<std::string, std::vector<float>>;

std::vector<float> waves(std::size_t count, double step) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
  return values;
}

/// Inputs of fourier(), with the factors of the transform.
Values fourier_inputs() {
  Values inputs = {{"x_re", waves(128, 0.7)}, {"x_im", waves(128, 1.3)}, {"y_re", std::vector<float>(128, NAN)}};
  inputs["y_im"] = inputs["y_re"];
  for (const auto& [name, parts] : {std::pair("f", 8), std::pair("t", 64)})
    for (int i = 0; i < 64; ++i) {
      const double angle = -2 * M_PI * (i / 8) * (i % 8) / parts;
      inputs[name + std::string("_re")].push_back(static_cast<float>(std::cos(angle)));
      inputs[name + std::string("_im")].push_back(static_cast<float>(std::sin(angle)));
    }
  return inputs;
}

/// The transforms by their definition, in double: real parts, then imaginary parts.
std::vector<std::vector<float>> transformed(const Values& inputs) {
  std::vector<std::vector<float>> result(2, std::vector<float>(128));
  for (std::size_t y = 0; y < 128; ++y) {
    std::complex<double> sum = 0;
    for (std::size_t n = 0; n < 64; ++n) {
      const std::size_t x = y / 64 * 64 + n;
      sum += std::complex<double>(inputs.at("x_re")[x], inputs.at("x_im")[x]) *
             std::polar(1.0, -2 * M_PI * static_cast<double>(y % 64 * n) / 64);
    }
    result[0][y] = static_cast<float>(sum.real());
    result[1][y] = static_cast<float>(sum.imag());
  }
  return result;
}

void expect_near(const std::vector<std::vector<float>>& found, const std::vector<std::vector<float>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_THAT(found[i], ::testing::Pointwise(::testing::FloatNear(1e-4F), expected[i])) << "output " << i;
}

// The heuristic takes blocks. Both forms give the transform, with their outputs in the order of the arguments.
TEST_F(Library, TakesTheFormThatTheHeuristicOrTheCallerChooses) {
  deplo::Source source = fourier();
  const deplo::Program blocks = deplo::compile(source);
  EXPECT_THAT(blocks.why_blocks, HasSubstr("as elements it would compute each value 6."));
  ASSERT_THAT(blocks.launches, SizeIs(1));
  EXPECT_EQ(blocks.kernels.at(0).grid, 2);
  EXPECT_THAT(blocks.kernels.at(0).updated, ElementsAre(2U, 3U));
  const deplo::Tensor& written = blocks.tensors.at(blocks.outputs.at(0));
  EXPECT_EQ(written.name, "y_re");
  EXPECT_EQ(written.kind, deplo::Tensor::Kind::input);
  EXPECT_THAT(written.shape, ElementsAre(2, 8, 8));
  source.form = "elements";
  const deplo::Program elements = deplo::compile(source);
  EXPECT_EQ(elements.why_blocks, "");
  ASSERT_THAT(elements.launches, SizeIs(2));
  if (!has_opencl()) GTEST_SKIP() << "no OpenCL device";
  const Values inputs = fourier_inputs();
  const std::vector<std::vector<float>> expected = transformed(inputs);
  expect_near(run(blocks, inputs), expected);
  expect_near(run(elements, inputs), expected);
}

TEST_F(Library, RunsTileProgramsThatOnlyBlocksExpress) {
  deplo::Source source = exported("locked_sum", {"x=f32[100]", "total=f32[1]", "lock=i32[1]"}, "4");
  const deplo::Program program = deplo::compile(source);
  EXPECT_THAT(program.why_blocks, HasSubstr("cannot raise loop"));
  source.form = "elements";
  EXPECT_THAT(message_of<std::invalid_argument>([&] { deplo::compile(source); }),
              HasSubstr("form elements: expected a program that Loop IR expresses, found: "));
  source.form = "rows";
  EXPECT_THAT(message_of<std::invalid_argument>([&] { deplo::compile(source); }),
              HasSubstr("Source: form: expected auto, elements or blocks, found 'rows'"));
  deplo::Source other = softmax();
  other.form = "blocks";
  EXPECT_THAT(message_of<std::invalid_argument>([&] { deplo::compile(other); }),
              HasSubstr("Source: form cannot be combined with kernel, which is not a tile program"));
  if (!has_opencl()) GTEST_SKIP() << "no OpenCL device";
  std::vector<float> x(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  EXPECT_THAT(run(program, {{"x", x}, {"total", {2}}, {"lock", {0}}}), ElementsAre(ElementsAre(4952), ElementsAre(0)));
}

// An array that is read and written is two tensors by elements, one by blocks. 16-bit floats keep their type.
TEST_F(Library, BothFormsOfAProgramAgree) {
  if (!has_opencl()) GTEST_SKIP() << "no OpenCL device";
  deplo::Source saxpy;
  saxpy.tile = DEPLO_SOURCE_DIR "/experiments/tile/saxpy.tile";
  saxpy.arguments = {"X=f32[100,300]", "Y=f32[100,300]", "alpha=1.5", "M=100", "N=300"};
  saxpy.grid = "1,2";
  const deplo::Source scale = exported("scale_13.3", {"x=f16[1000]", "y=f16[1000]", "factor=0.5"}, "8");
  for (deplo::Source source : {saxpy, scale}) {
    std::vector<std::vector<std::vector<float>>> found;
    for (const char* form : {"elements", "blocks"}) {
      source.form = form;
      const deplo::Program program = deplo::compile(source);
      EXPECT_EQ(program.why_blocks.empty(), source.form == "elements");
      Values inputs;
      for (const deplo::Tensor& tensor : program.tensors)
        inputs[tensor.name] = waves(source.grid == "8" ? 1000 : 30000, tensor.name.front() * 0.01);
      found.push_back(run(program, inputs));
    }
    expect_near(found[1], found[0]);
  }
}

// The program's own memory has its initial values before each launch, although the program writes it.
TEST_F(Library, GivesTheMemoryAndTheAssertionsOfBlocks) {
  write("table.tile", R"(
global @count <i32: 10> : tile<1xi32>
entry @add(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
  %p = get_global @count : tile<ptr<i32>>
  %v, %t1 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
  %w, %t2 = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
  %zero = constant <i32: 0> : tile<i32>
  %ok = cmpi greater_than %w, %zero, signed : tile<i32> -> tile<i1>
  assert %ok, "x must be positive" : tile<i1>
  %s = addi %v, %w : tile<i32>
  %t3 = store_ptr_tko weak %y, %s : tile<ptr<i32>>, tile<i32> -> token
  %t4 = store_ptr_tko weak %p, %s token=%t1 : tile<ptr<i32>>, tile<i32> -> token
})");
  deplo::Source source;
  source.tile = file("table.tile");
  source.arguments = {"assertion=i32[1]", "globals=i32[1]"};  // names of the kernel's own memory
  source.grid = "1";
  deplo::Program program = deplo::compile(source);
  std::set<std::string> names;
  for (const deplo::Tensor& tensor : program.tensors) EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
  EXPECT_THAT(program.kernels.at(0).initial, SizeIs(2));
  EXPECT_THAT(program.kernels.at(0).assertions, ElementsAre(HasSubstr("x must be positive")));
  EXPECT_THAT(program.outputs, SizeIs(1));
  if (!has_opencl()) GTEST_SKIP() << "no OpenCL device";
  program.launches.push_back(program.launches.at(0));
  EXPECT_THAT(run(program, {{"assertion", {1}}, {"globals", {0}}}), ElementsAre(ElementsAre(11)));
  EXPECT_THAT(message_of<std::runtime_error>([&] {
                run(program, {{"assertion", {-4}}, {"globals", {0}}});
              }),
              HasSubstr("x must be positive"));
}

TEST_F(Library, FollowsTheFormThatTuningChose) {
  if (!has_opencl()) GTEST_SKIP() << "no OpenCL device";
  deplo::TuneOptions tuning;
  tuning.store = file("f.db");
  tuning.trials = 1;
  tuning.seconds = 60;
  const auto tuned = deplo::tune(fourier(), tuning);
  ASSERT_THAT(tuned, SizeIs(3)) << "one kernel by blocks, two by elements";
  EXPECT_EQ(std::ranges::count(tuned, true, &deplo::Tuned::alternative), 2);
  deplo::CompileOptions options;
  options.store = file("f.db");
  options.require_tuned = true;
  const deplo::Program program = deplo::compile(fourier(), options);
  EXPECT_THAT(program.graph_trail, ::testing::StartsWith("tile.form="));
  const bool blocks = program.graph_trail == "tile.form=blocks";
  EXPECT_EQ(program.why_blocks, blocks ? "that was faster when it was tuned" : "");
  EXPECT_THAT(program.kernels, SizeIs(blocks ? 1 : 2));
  for (const deplo::Kernel& kernel : program.kernels) {
    EXPECT_EQ(kernel.origin, deplo::Origin::tuned);
    EXPECT_GT(kernel.measured_us, 0);
  }
  const Values inputs = fourier_inputs();
  expect_near(run(program, inputs), transformed(inputs));
  // The caller's form is used even if the other one was faster.
  deplo::Source forced = fourier();
  forced.form = blocks ? "elements" : "blocks";
  EXPECT_EQ(deplo::compile(forced, options).why_blocks.empty(), blocks);
  // Without a measured schedule of the blocks, the message names the kernel.
  deplo::Source other = exported("histogram", {"x=i32[64]", "counts=i32[100]"}, "1");
  EXPECT_THAT(message_of<std::invalid_argument>([&] { deplo::compile(other, options); }),
              HasSubstr("histogram: not tuned for this launch"));
}

// A kernel in a user's own file, with the configuration that tuning found. The program alone says how to launch it.
TEST_F(Library, TakesKernelFiles) {
  write("add.cl",
        "__kernel void add(const int n, __global const float* x, __local float* t, __global float* y) {\n"
        "  const int i = get_global_id(1) * 8 + get_global_id(0);\n  t[get_local_id(0)] = x[i];\n"
        "  y[i] += t[get_local_id(0)] + n * SCALE;\n}\n");
  write("add.yaml",
        "ConfigurationSpace:\n  TuningParameters:\n    - {Name: BLOCK, Values: [2, 4, 8], Default: 4}\n"
        "    - {Name: OPTION, Type: string, Values: [-DSCALE=1]}\n"
        "KernelSpecification:\n  Language: OpenCL\n  KernelName: add\n  KernelFile: add.cl\n"
        "  CompilerOptions: [\"${OPTION}\"]\n  LocalSize: {X: BLOCK, Y: \"1\"}\n  ProblemSize: [8, 3]\n"
        "  GridDivX: [BLOCK]\n  Arguments:\n    - {Name: n, Type: int, MemoryType: Scalar, FillValue: 5}\n"
        "    - {Name: x, Type: float, Size: 24}\n    - {Name: t, Type: float, MemoryType: Local, Size: BLOCK}\n"
        "    - {Name: y, Type: float, Size: 24, AccessType: ReadWrite, FillValue: 3}\n");
  deplo::Source source;
  source.space = file("add.yaml");
  source.name = "sum";
  const deplo::Program untuned = deplo::compile(source, for_target("opencl-cpu"));
  ASSERT_THAT(untuned.kernels, SizeIs(1));
  const deplo::Kernel& kernel = untuned.kernels[0];
  EXPECT_EQ(kernel.name, "sum");
  EXPECT_EQ(kernel.origin, deplo::Origin::heuristic);
  EXPECT_THAT(kernel.trail, HasSubstr("BLOCK=4"));
  EXPECT_THAT(kernel.source, HasSubstr("#define BLOCK 4\n"));
  EXPECT_THAT(kernel.grid_extents, ElementsAre(2, 3));
  EXPECT_THAT(kernel.block_extents, ElementsAre(4, 1));
  EXPECT_EQ(kernel.grid, 6);
  EXPECT_EQ(kernel.block, 4);
  EXPECT_THAT(kernel.build_options, ElementsAre("-DSCALE=1"));
  EXPECT_THAT(kernel.updated, ElementsAre(1U));
  ASSERT_THAT(kernel.scalars, SizeIs(2));
  EXPECT_EQ(kernel.scalars[1].position, 2U);
  EXPECT_EQ(kernel.scalars[1].local_bytes, 16U);
  if (!deplo::devices().front().id.starts_with("opencl")) GTEST_SKIP() << "no OpenCL device";

  deplo::TuneOptions options;
  options.store = file("k.db");
  options.trials = 1;
  options.seconds = 0;
  const deplo::Tuned tuned = deplo::tune(source, options).at(0);
  EXPECT_TRUE(tuned.confirmed) << tuned.last_fault;
  deplo::CompileOptions compiling;
  compiling.store = file("k.db");
  compiling.require_tuned = true;
  const deplo::Program program = deplo::compile(source, compiling);
  EXPECT_EQ(program.kernels.at(0).origin, deplo::Origin::tuned);
  EXPECT_EQ(program.kernels.at(0).trail, tuned.trail);
  EXPECT_GT(program.kernels.at(0).measured_us, 0);
  std::vector<float> x(24), expected(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), expected[i] = x[i] + 7;
  EXPECT_THAT(run(program, {{"x", x}, {"y", std::vector<float>(24, 2)}}), ElementsAre(expected));

  source.kernel_file = file("none.cl");
  EXPECT_THAT(message_of<std::invalid_argument>([&] { deplo::compile(source, compiling); }), HasSubstr("none.cl"));
  source.kernel_file = "";
  EXPECT_THAT(message_of<std::invalid_argument>([&] { deplo::compile(source, for_target("sm_90")); }),
              HasSubstr("expected a device or a target of opencl for this kernel, found sm_90"));
  source.space = "";
  source.kernel_file = "add.cl";
  source.kernel = "softmax";
  EXPECT_THAT(message_of<std::invalid_argument>([&] { deplo::compile(source, compiling); }),
              HasSubstr("kernel_file requires space"));
}

TEST_F(Library, ArraysOfKernelFilesHaveMoreTypes) {
  write("k.cl", "__kernel void k(__global uint* y) { y[0] = B; }\n");
  const std::map<std::string, deplo::DType> types = {{"double", deplo::DType::f64}, {"ushort", deplo::DType::u16},
                                                     {"uint", deplo::DType::u32},   {"ulong", deplo::DType::u64},
                                                     {"uchar", deplo::DType::u8},   {"half", deplo::DType::f16},
                                                     {"short", deplo::DType::i16},  {"bool", deplo::DType::boolean}};
  std::string text =
      "ConfigurationSpace: {TuningParameters: [{Name: B, Values: [1, 2]}]}\n"
      "KernelSpecification:\n  Language: OpenCL\n  KernelName: k\n  KernelFile: k.cl\n  LocalSize: {X: B}\n"
      "  ProblemSize: [8]\n  Arguments:\n    - {Name: y, Type: uint, Size: 8, AccessType: WriteOnly}\n";
  for (const auto& [type, expected] : types) text += "    - {Name: " + type + "_x, Type: " + type + ", Size: 5}\n";
  write("k.yaml", text);
  deplo::Source source;
  source.space = file("k.yaml");
  const deplo::Program program = deplo::compile(source, for_target("opencl-cpu"));
  ASSERT_THAT(program.tensors, SizeIs(types.size() + 1));
  for (const deplo::Tensor& tensor : program.tensors) {
    const std::string type = tensor.name == "y" ? "uint" : tensor.name.substr(0, tensor.name.size() - 2);
    EXPECT_EQ(tensor.dtype, types.at(type)) << tensor.name;
    EXPECT_GE(program.slots.at(tensor.slot), static_cast<std::int64_t>(5 * deplo::bytes_of_element(tensor.dtype)));
  }
}

TEST_F(Library, MistakesOfTheCallerAreInvalidArguments) {
  const auto compiling = [](const deplo::Source& source, const deplo::CompileOptions& options) {
    return message_of<std::invalid_argument>([&] { deplo::compile(source, options); });
  };
  const deplo::CompileOptions cpu = for_target("opencl-cpu");
  EXPECT_THAT(compiling({}, cpu), HasSubstr("expected one of expression, pt2, model, kernel, tile, space, found none"));
  deplo::Source both = softmax();
  both.expression = "torch.randn(3)";
  EXPECT_THAT(compiling(both, cpu), HasSubstr("found several"));
  EXPECT_THAT(compiling(expression("F.softmaxx(torch.randn(3))"), cpu), HasSubstr("expression:1:"));
  EXPECT_THAT(compiling(expression("\xff\xfe"), cpu), HasSubstr("expression:1:"));
  EXPECT_THAT(compiling(softmax(), for_target("sm_91")), HasSubstr("found 'sm_91'"));
  EXPECT_THAT(compiling(softmax(), for_target("")), HasSubstr("a device or a target, found neither"));
  deplo::Source sizes = softmax();
  sizes.symbols["N"] = 0;
  EXPECT_THAT(compiling(sizes, cpu), HasSubstr("expected N from 1 to"));
  deplo::CompileOptions stored = cpu;
  stored.store = file("none.db");
  EXPECT_THAT(compiling(softmax(), stored), HasSubstr("CompileOptions: store: expected a store or a pack, found no"));
  deplo::TuneOptions options = interpreted(file("never.db"));
  const auto tuning = [&] { return message_of<std::invalid_argument>([&] { deplo::tune(softmax(), options); }); };
  options.strategy = "luck";
  EXPECT_THAT(tuning(), HasSubstr("found 'luck'"));
  options.strategy = "random";
  options.trials = 0;
  EXPECT_THAT(tuning(), HasSubstr("deplo::tune:1: trials: expected an integer between 1 and "));
  EXPECT_FALSE(fs::exists(options.store));
  options = interpreted(file("none/a.db"));
  EXPECT_THAT(tuning(), HasSubstr("none' does not exist"));
}

TEST_F(Library, TheUsersOwnStoreMayNotExist) {
  setenv("XDG_CACHE_HOME", file("no_cache").c_str(), 1);
  deplo::CompileOptions options = for_target("sm_90");
  options.store = "";
  EXPECT_EQ(deplo::compile(softmax(), options).kernels.at(0).origin, deplo::Origin::heuristic);
  options.require_tuned = true;
  EXPECT_THAT(message_of<std::invalid_argument>([&] { deplo::compile(softmax(), options); }),
              HasSubstr("found no file '" + deplo::default_store() + "'"));
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(Library, WhatTheMachineLacksIsARuntimeError) {
  deplo::CompileOptions options;
  options.device = "opencl:99";
  EXPECT_THAT(message_of<std::runtime_error>([&] { deplo::compile(softmax(), options); }), HasSubstr("99"));
}

// The interpreter's target is opencl-cpu. There an attention with 8 queries is either one kernel or three.
TEST_F(Library, FollowsTheKernelsThatTuningChose) {
  const deplo::Source source = expression("q = torch.randn(8, 16); F.scaled_dot_product_attention(q, q, q)");
  deplo::TuneOptions options = interpreted(file("g.db"));
  options.trials = 1;
  const auto tuned = deplo::tune(source, options);
  ASSERT_THAT(tuned, SizeIs(4));
  EXPECT_EQ(std::ranges::count(tuned, true, &deplo::Tuned::alternative), 3);
  deplo::CompileOptions compiling;
  compiling.device = "interpreter";
  compiling.store = file("g.db");
  const deplo::Program program = deplo::compile(source, compiling);
  EXPECT_THAT(program.graph_trail, HasSubstr("fusion.attention_scaled_dot_product_attention="));
  EXPECT_EQ(program.graph_note, "");
  EXPECT_EQ(program.launches.size(), program.graph_trail.ends_with("=split") ? 3U : 1U);
  for (const deplo::Kernel& kernel : program.kernels) EXPECT_EQ(kernel.origin, deplo::Origin::tuned);
}

// The pack seems to come from another machine, because its device has another name.
TEST_F(Library, TimesAScheduleOfAnotherMachineOnce) {
  setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);  // the library's own store is in this folder
  ASSERT_EQ(deplo::tune(softmax(), interpreted(file("a.db"))).at(0).confirmed, true);
  output_of("'" DEPLO_BINARY_DIR "/deplo' db export --store '" + file("a.db") + "' --pack '" + file("a.pack") + "'");
  output_of("sed -i 's/\"name\":\"Kernel IR interpreter\"/\"name\":\"elsewhere\"/' '" + file("a.pack") + "'");
  deplo::CompileOptions options;
  options.device = "interpreter";
  options.store = file("a.pack");
  options.time_foreign = false;
  const deplo::Kernel untimed = deplo::compile(softmax(), options).kernels.at(0);
  EXPECT_EQ(untimed.origin, deplo::Origin::foreign);
  EXPECT_EQ(untimed.note, "measured on elsewhere, not on this device");
  EXPECT_FALSE(fs::exists(deplo::default_store()));
  options.time_foreign = true;
  options.require_tuned = true;
  const deplo::Kernel timed = deplo::compile(softmax(), options).kernels.at(0);
  EXPECT_THAT(timed.note, HasSubstr("measured on elsewhere"));
  if (timed.origin != deplo::Origin::foreign) {  // otherwise the heuristic's schedule was the fastest
    EXPECT_EQ(timed.origin, deplo::Origin::tuned);
    EXPECT_THAT(timed.note, HasSubstr("remembered in " + deplo::default_store()));
    EXPECT_TRUE(fs::exists(deplo::default_store()));
  }
  EXPECT_EQ(deplo::compile(softmax(), options).kernels.at(0).note, timed.note);
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(Library, ExpressionsHaveOpenSizes) {
  deplo::Source source = expression("torch.exp(torch.randn(M, 4))");
  source.symbols = {{"M", 6}};
  EXPECT_THAT(deplo::compile(source, for_target("opencl-cpu")).tensors.at(0).shape, ElementsAre(6, 4));
}

TEST_F(Library, ExportedProgramsHaveOpenSizes) {
  deplo::Source source;
  source.pt2 = DEPLO_SOURCE_DIR "/tests/data/pt2/dynamic_2.15.0.pt2";
  const auto first_extent = [&] {
    const deplo::Program program = deplo::compile(source, for_target("opencl-cpu"));
    return std::ranges::find(program.tensors, "x", &deplo::Tensor::name)->shape.at(0);
  };
  EXPECT_EQ(first_extent(), 4);  // that of the example
  source.symbols = {{"s77", 6}};
  EXPECT_EQ(first_extent(), 6);
}

TEST_F(Library, TunesAndFindsWhatWasTuned) {
  std::vector<deplo::Trial> told;
  const auto tuned = deplo::tune(softmax(), interpreted(file("a.db")), [&](const deplo::Trial& trial) {
    told.push_back(trial);
    return true;
  });
  ASSERT_THAT(tuned, SizeIs(1));
  EXPECT_EQ(tuned[0].kernel, "graph");
  EXPECT_EQ(tuned[0].trials, 3);
  EXPECT_TRUE(tuned[0].confirmed);
  EXPECT_EQ(tuned[0].stop, "trials");
  ASSERT_THAT(told, SizeIs(3));
  for (const deplo::Trial& trial : told) {
    EXPECT_EQ(trial.status, "ok");
    EXPECT_FALSE(trial.known);
    EXPECT_GT(trial.microseconds, 0);
    EXPECT_LE(trial.best_us, trial.microseconds);
  }
  deplo::CompileOptions options;
  options.device = "interpreter";
  options.store = file("a.db");
  const deplo::Program program = deplo::compile(softmax(), options);
  ASSERT_THAT(program.kernels, SizeIs(1));
  EXPECT_EQ(program.kernels[0].origin, deplo::Origin::tuned);
  EXPECT_EQ(program.kernels[0].trail, tuned[0].trail);
  EXPECT_EQ(program.kernels[0].measured_us, tuned[0].best_us);
  EXPECT_NE(program.device, "");
  // A schedule of the same computation with other extents is used only if `nearest` is set.
  deplo::Source other = softmax();
  other.symbols["M"] = 4;
  EXPECT_EQ(deplo::compile(other, options).kernels.at(0).origin, deplo::Origin::heuristic);
  options.nearest = true;
  EXPECT_EQ(deplo::compile(other, options).kernels.at(0).origin, deplo::Origin::nearest);
  // With `require_tuned`, only measured schedules are used. If none exists, the message names the nearest entry.
  options.require_tuned = true;
  const auto refused = [&] { return message_of<std::invalid_argument>([&] { deplo::compile(other, options); }); };
  EXPECT_THAT(refused(), HasSubstr("CompileOptions: require_tuned cannot be combined with nearest"));
  options.nearest = false;
  EXPECT_THAT(refused(), HasSubstr("the nearest entry is graph: its sizes are (3, 17), (3, 17), not (4, 17), (4, 17)"));
  EXPECT_EQ(deplo::compile(softmax(), options).kernels.at(0).origin, deplo::Origin::tuned);
  options.store.reset();
  EXPECT_THAT(refused(), HasSubstr("CompileOptions: require_tuned requires a store"));
}

TEST_F(Library, AStoreWithoutADeviceOfTheTargetIsNamed) {
  deplo::tune(softmax(), interpreted(file("d.db")));
  deplo::CompileOptions options = for_target("sm_90");
  options.store = file("d.db");
  EXPECT_THAT(message_of<std::invalid_argument>([&] { deplo::compile(softmax(), options); }),
              HasSubstr("CompileOptions: store: expected one device for sm_90 in " + file("d.db") +
                        " (or set `device`), found 0: it has "));
}

TEST_F(Library, FalseStopsTuningAtOnce) {
  std::vector<std::string> trails;
  const auto tuned = deplo::tune(softmax(), interpreted(file("b.db")), [&](const deplo::Trial& trial) {
    trails.push_back(trial.trail);
    return trails.size() < 2;
  });
  EXPECT_THAT(trails, SizeIs(2));
  ASSERT_THAT(tuned, SizeIs(1));
  EXPECT_EQ(tuned[0].stop, "cancelled");
  EXPECT_FALSE(tuned[0].confirmed);
  EXPECT_GT(tuned[0].best_us, 0);
  // The trials that the callback received are known from now on, and are asked for in the same order.
  std::vector<std::string> again;
  std::vector<bool> known;
  deplo::tune(softmax(), interpreted(file("b.db")), [&](const deplo::Trial& trial) {
    again.push_back(trial.trail);
    known.push_back(trial.known);
    return again.size() < 2;
  });
  EXPECT_EQ(again, trails);
  EXPECT_THAT(known, Each(true));
}

TEST_F(Library, AnExceptionOfTheCallerPassesThrough) {
  struct Mine {};
  EXPECT_THROW(deplo::tune(softmax(), interpreted(file("c.db")), [](const deplo::Trial&) -> bool { throw Mine(); }),
               Mine);
  int told = 0;
  deplo::tune(softmax(), interpreted(file("c.db")), [&](const deplo::Trial& trial) {
    EXPECT_EQ(trial.known, told == 0) << "the first was stored before it was told";
    return ++told < 2;
  });
  EXPECT_EQ(told, 2);
}

TEST_F(Library, SeveralThreadsCompileAtOnce) {
  const deplo::Source source = expression("nn.RMSNorm(200)(torch.randn(1, 8, 200))");
  const deplo::Program expected = deplo::compile(source, for_target("sm_80"));
  std::vector<std::string> found(4);
  {
    std::vector<std::thread> threads;
    for (std::string& text : found)
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) text = deplo::compile(source, for_target("sm_80")).kernels.at(0).source;
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_THAT(found, Each(expected.kernels.at(0).source));
}

// The first use of OpenCL in a process initialises its drivers.
TEST_F(Library, SeveralThreadsFindTheDevicesFirst) {
  std::vector<std::size_t> found(8);
  {
    std::vector<std::thread> threads;
    for (std::size_t& count : found) threads.emplace_back([&] { count = deplo::devices().size(); });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_THAT(found, Each(deplo::devices().size()));
}

TEST_F(Library, ListsTheDevices) {
  const std::vector<deplo::Device> devices = deplo::devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices.back().id, "interpreter");
  for (const deplo::Device& device : devices) EXPECT_NE(device.name, "") << device.id;
}

}  // namespace
