// Kernels of users' own files through the command line: examples/kernel_files, and mistakes in such files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class KernelFile : public ::testing::Test {
 protected:
  static std::string example(const std::string& name) { return DEPLO_SOURCE_DIR "/examples/kernel_files/" + name; }
  /// Writes an example's text, with one word replaced, to a file. Returns its path.
  std::string changed(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read_file(example(name));
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    return write_file(folder_.path(), name, text);
  }
  Ran tune(const std::string& space, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"deplo-tune", "--space", space, "--store", store(), "--quiet", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  Json tuned(const std::string& space, std::vector<std::string> more = {}) const {
    const Ran ran = tune(space, std::move(more));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out.empty() ? Json() : Json::parse(ran.out)["kernels"][0];
  }
  std::string store() const { return folder_.file("s.db"); }
  std::vector<std::string> query(const std::string& sql) const {
    measure::sqlite::Database database(store());
    measure::sqlite::Statement statement(database, sql);
    std::vector<std::string> rows;
    while (statement.step()) rows.push_back(statement.text(0));
    return rows;
  }

  measure::TemporaryFolder folder_;
};

TEST_F(KernelFile, IsTuned) {
  const Json kernel = tuned(example("matmul.T1.json"), {"--trials", "2", "--time", "3", "--in-process"});
  EXPECT_TRUE(kernel["confirmed"]) << kernel;
  EXPECT_THAT(kernel["trail"].get<std::string>(), HasSubstr("TILE_K="));
  EXPECT_FALSE(kernel.contains("front")) << "the time is its only objective";
}

// The kernel updates an array in place. Each launch, and that of the reference, must begin with the same values.
TEST_F(KernelFile, ArraysThatAreReadAndWrittenAreFilledAnew) {
  write_file(folder_.path(), "more.cl",
             "__kernel void more(__global float* x) { const int i = get_global_id(0); x[i] = x[i] * 2 + 1; }\n");
  const std::string space =
      write_file(folder_.path(), "more.yaml",
                 "ConfigurationSpace:\n  TuningParameters:\n    - {Name: BLOCK, Values: [16, 32, 64]}\n"
                 "KernelSpecification:\n  Language: OpenCL\n  KernelName: more\n  KernelFile: more.cl\n"
                 "  LocalSize: {X: BLOCK}\n  ProblemSize: [256]\n  GridDivX: [BLOCK]\n"
                 "  Arguments: [{Name: x, Type: float, Size: 256, AccessType: ReadWrite, FillValue: 3}]\n");
  const Json kernel = tuned(space, {"--trials", "3", "--time", "20"});
  EXPECT_TRUE(kernel["confirmed"]) << kernel;
  EXPECT_TRUE(kernel["failures"].empty()) << kernel;
}

TEST_F(KernelFile, SaysTheBlockThatTheKernelRequires) {
  write_file(folder_.path(), "set.cl",
             "__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void set(__global float* x) {\n"
             "  x[get_global_id(0)] = 1;\n}\n");
  const std::string space =
      write_file(folder_.path(), "set.yaml",
                 "ConfigurationSpace:\n  TuningParameters:\n    - {Name: BLOCK, Values: [32, 64]}\n"
                 "KernelSpecification:\n  Language: OpenCL\n  KernelName: set\n  KernelFile: set.cl\n"
                 "  LocalSize: {X: BLOCK}\n  ProblemSize: [256]\n  GridDivX: [BLOCK]\n"
                 "  Arguments: [{Name: x, Type: float, Size: 256, AccessType: WriteOnly}]\n");
  EXPECT_TRUE(tuned(space, {"--search", "exhaustive", "--time", "20"})["confirmed"]);
  EXPECT_EQ(query("SELECT DISTINCT message FROM trial WHERE status <> 'ok'"),
            std::vector<std::string>{"CL_INVALID_WORK_GROUP_SIZE with 64 threads a block; the kernel requires 32 x 1 x "
                                     "1 (reqd_work_group_size)"});
  std::string text = read_file(space);
  text.replace(text.find("[32, 64]"), 8, "[64, 16]");
  text += "Reference: {Expression: \"torch.ones(256)\"}\n";
  const std::string other = write_file(folder_.path(), "other.yaml", text);
  EXPECT_THAT(
      run_program({"deplo-tune", "--space", other, "--store", folder_.file("o.db"), "--search", "exhaustive"}).err,
      HasSubstr("no valid measurement, 2 trials: every schedule tried"));
}

// Four configurations are fewer than the eight that end a search.
TEST_F(KernelFile, AMistakeInTheKernelIsTheUsers) {
  const auto code = [&](const std::string& statement) {
    write_file(folder_.path(), "set.cl",
               "__kernel void set(__global float* x) { const int i = BLOCK; " + statement + " }\n");
    const std::string space =
        write_file(folder_.path(), "set.yaml",
                   "ConfigurationSpace:\n  TuningParameters:\n    - {Name: BLOCK, Values: [8, 16, 32, 64]}\n"
                   "KernelSpecification:\n  Language: OpenCL\n  KernelName: set\n  KernelFile: set.cl\n"
                   "  LocalSize: {X: BLOCK}\n  ProblemSize: [256]\n"
                   "  Arguments: [{Name: x, Type: float, Size: 256, AccessType: WriteOnly}]\n"
                   "Reference: {Expression: \"torch.ones(256)\"}\n");
    const Ran ran = tune(space, {"--search", "exhaustive", "--time", "20"});
    EXPECT_THAT(ran.err, HasSubstr("no candidate of set gave a valid time; the last failure: ")) << statement;
    return ran.code;
  };
  EXPECT_EQ(code("x[get_global_id(0)] = i"), 1) << "a compile error";
  EXPECT_EQ(code("x[get_global_id(0)] = 2 + 0 * i;"), 1) << "a wrong result";
  EXPECT_EQ(code("(void)i;"), 1) << "nothing is written";
}

// One of three configurations has a launch size that is not legal.
TEST_F(KernelFile, AnIllegalLaunchSizeIsAFailureOfItsConfiguration) {
  write_file(folder_.path(), "set.cl",
             "__kernel void set(__global float* x) { x[get_global_id(0)] = 1 + 0 * BLOCK; }\n");
  const std::string space =
      write_file(folder_.path(), "set.yaml",
                 "ConfigurationSpace:\n  TuningParameters:\n    - {Name: BLOCK, Values: [0, 32, 64], Default: 32}\n"
                 "KernelSpecification:\n  Language: OpenCL\n  KernelName: set\n  KernelFile: set.cl\n"
                 "  LocalSize: {X: BLOCK}\n  ProblemSize: [256]\n"
                 "  Arguments: [{Name: x, Type: float, Size: 256, AccessType: WriteOnly}]\n");
  const std::vector<std::string> all = {"--search", "exhaustive", "--time", "20"};
  const Json kernel = tuned(space, all);
  EXPECT_TRUE(kernel["confirmed"]) << kernel;
  EXPECT_EQ(kernel["trials"], 3) << kernel;
  EXPECT_EQ(kernel["failures"], Json({{"invalid", 1}})) << kernel;
  const std::vector<std::string> messages = query("SELECT message FROM trial WHERE status = 'invalid'");
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_THAT(messages[0], HasSubstr("set.yaml:8: expected a block size from 1 to 2^31, found 0 from 'BLOCK' in the "
                                     "configuration BLOCK=0"));
  EXPECT_EQ(tuned(space, all)["known"], 3) << "it is not measured again";
  const Ran one = run_program({"deplo", "run", "--space", space, "--configuration", "BLOCK=0", "--no-measure"});
  EXPECT_EQ(one.code, 1);
  EXPECT_THAT(one.err, HasSubstr("in the configuration BLOCK=0"));
}

// The kernel is one of two in a file. Its arguments include local memory and a struct, the number of its partial sums
// depends on the parameters, and its reference is Loop IR.
TEST_F(KernelFile, ArgumentsOfEachKind) {
  write_file(
      folder_.path(), "sum.cl",
      "typedef struct { int shift; float scale; } factors;\n"
      "__kernel void other(__global float* y) { y[0] = 1; }\n"
      "__kernel void sums(__global const float* x, __local float* t, factors f, __global float* parts,\n"
      "                   __global float* y) {\n"
      "  const int i = get_global_id(0), l = get_local_id(0);\n"
      "  t[l] = x[i];\n  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  y[i] = t[BLOCK - 1 - l] * 0 + x[i] * f.scale + f.shift;\n"
      "  if (l == 0) { float s = 0; for (int j = 0; j < BLOCK; ++j) s += t[j]; parts[get_group_id(0)] = s; }\n}\n");
  write_file(folder_.path(), "sum.loop",
             "=== loop: sums ===\ninput x: f32[64]\noutput y: f32[64]\nfor a0 in 0..64: # free\n  in0 = load x[a0]\n  "
             "v0 = multiply(in0, 3)\n  v1 = add(v0, 2)\n  y[a0] = v1\n");
  const auto space = [&](const std::string& scale) {
    return write_file(
        folder_.path(), "sum.yaml",
        "ConfigurationSpace:\n  TuningParameters: [{Name: BLOCK, Values: [16, 32, 64]}]\n"
        "KernelSpecification:\n  Language: OpenCL\n  KernelName: sums\n  KernelFile: sum.cl\n"
        "  LocalSize: {X: BLOCK}\n  ProblemSize: [64]\n  Arguments:\n"
        "    - {Name: x, Type: float, Size: 64, FillType: File, FillValue: \"" DEPLO_SOURCE_DIR
        "/tests/data/kernel_files/arrays.npz\"}\n"
        "    - {Name: t, Type: float, MemoryType: Local, Size: BLOCK}\n"
        "    - {Name: f, Type: struct, Members: [{Type: int, FillValue: 2}, {Type: float, FillValue: " +
            scale +
            "}]}\n    - {Name: parts, Type: float, Size: 64 / BLOCK, AccessType: WriteOnly, Output: 0}\n"
            "    - {Name: y, Type: float, Size: 64, AccessType: WriteOnly}\nReference: {Program: sum.loop}\n");
  };
  const Json kernel = tuned(space("3"), {"--search", "exhaustive", "--time", "120"});
  EXPECT_TRUE(kernel["confirmed"]) << kernel;
  EXPECT_EQ(kernel["trials"], 3);
  EXPECT_TRUE(kernel["failures"].empty()) << kernel;
  const Ran wrong = tune(space("4"), {"--trials", "1", "--time", "60"});
  EXPECT_EQ(wrong.code, 1) << "the mistake is in the user's files";
  EXPECT_THAT(wrong.err, HasSubstr("the last failure: y["));
}

// Each block writes the sum of its elements. The number of blocks, and so their elements, differ between
// configurations.
TEST_F(KernelFile, SumsOfPartsAreCompared) {
  const auto write = [&](const std::string& type, const std::string& reference) {
    write_file(folder_.path(), "parts.cl",
               "typedef " + type +
                   " T;\n__kernel void sums(__global const T* x, __global T* parts) {\n  T s = 0;\n"
                   "  for (int j = 0; j < BLOCK - (BLOCK == 64); ++j) s += x[get_group_id(0) * BLOCK + j];\n"
                   "  if (get_local_id(0) == 0) parts[get_group_id(0)] = s;\n}\n");
    return write_file(
        folder_.path(), "parts.yaml",
        "ConfigurationSpace:\n  TuningParameters: [{Name: BLOCK, Values: [16, 32, 64]}]\n"
        "KernelSpecification:\n  Language: OpenCL\n  KernelName: sums\n  KernelFile: parts.cl\n"
        "  LocalSize: {X: BLOCK}\n  ProblemSize: [256]\n  Arguments:\n"
        "    - {Name: x, Type: " +
            type + ", Size: 256, FillValue: 9}\n    - {Name: parts, Type: " + type +
            ", Size: 256 / BLOCK, AccessType: WriteOnly, FillType: Constant, FillValue: 0, Output: sum}\n" + reference);
  };
  const std::string of_expression = "Reference: {Expression: \"x = torch.randn(256); x.sum()\"}\n";
  for (const auto& [type, reference] : {std::pair("int", std::string()), {"float", of_expression}}) {
    const Json kernel = tuned(write(type, reference), {"--search", "exhaustive", "--time", "120"});
    EXPECT_EQ(kernel["trials"], 3);
    EXPECT_EQ(kernel["failures"], Json({{"wrong_result", 1}})) << kernel << type;
  }
  const auto run = [&](const std::string& block) {
    return run_program(
        {"deplo", "run", "--space", folder_.file("parts.yaml"), "--configuration", "BLOCK=" + block, "--no-measure"});
  };
  EXPECT_EQ(run("32").code, 0) << run("32").out;
  EXPECT_EQ(run("64").code, 1);
  EXPECT_THAT(run("64").out, HasSubstr("WRONG at sum: expected "));
}

TEST_F(KernelFile, DoesWhatAnyKernelDoes) {
  const Json first =
      tuned(example("matmul.T1.json"), {"--trials", "5", "--time", "120", "--search", "random", "--seed", "3"});
  EXPECT_TRUE(first["confirmed"]) << first;
  EXPECT_EQ(first["trials"], 5);
  EXPECT_THAT(first["trail"].get<std::string>(), HasSubstr("TILE_K="));
  const auto digests = query("SELECT digest FROM trial WHERE stage = 'screen'");
  EXPECT_EQ(std::set(digests.begin(), digests.end()).size(), 5u);

  // The same command measures nothing again.
  const Json again =
      tuned(example("matmul.T1.json"), {"--trials", "5", "--time", "120", "--search", "random", "--seed", "3"});
  EXPECT_EQ(again["known"], 5);

  // The trials are a recorded space, which can be exported to other tools and imported again.
  const auto run = [](std::vector<std::string> words) {
    const Ran ran = run_program(std::move(words));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  };
  const std::string t4 = folder_.file("mm_T4.json");
  run({"deplo", "db", "export", "--store", store(), "--format", "t4", "-o", t4});
  EXPECT_THAT(read_file(t4), HasSubstr("\"BLOCK_X\""));
  EXPECT_THAT(run({"deplo", "db", "export", "--store", store(), "--format", "kernel-tuner"}),
              HasSubstr("\"problem_size\": ["));
  run({"deplo", "db", "import", "--store", folder_.file("again.db"), t4});
  EXPECT_THAT(run({"deplo", "db", "best", "--store", folder_.file("again.db")}), HasSubstr("matmul"));
  EXPECT_THAT(run({"deplo", "db", "best", "--store", store()}), HasSubstr("BLOCK_X="));
  run({"deplo", "db", "check", "--store", store()});
  run({"deplo", "report", store(), "-o", folder_.file("r.html")});
}

TEST_F(KernelFile, WrongCandidatesAreData) {
  std::string text = read_file(example("matmul.cl"));
  text.insert(text.find("  for (int w = 0; w < WPT; ++w) c["),
              "  if (WPT == 4 && row == 0) sum[0] += 1;\n  if (WPT == 2) *(volatile __global float*)0 = 1;\n"
              "#if WPT == 8\n  none of C\n#endif\n");
  const std::string bad = write_file(folder_.path(), "bad.cl", text);
  const std::string space =
      changed("matmul.T1.json", "\"[8, 16, 32, 64]\", \"Default\": 16", "\"[16]\", \"Default\": 16");
  const std::string one = write_file(folder_.path(), "one.T1.json", [&] {
    std::string all = read_file(space);
    for (const auto& [from, to] :
         {std::pair("\"[8, 16, 32]\"", "\"[8]\""), std::pair("\"[1, 2, 4, 8]\", \"Default\": 4", "\"[4]\""),
          std::pair("[\"\", \"-cl-fast-relaxed-math\"]", "[\"\"]")})
      all.replace(all.find(from), std::string_view(from).size(), to);
    const std::size_t unroll = all.find("\"[1, 2, 4, 8]\"", all.find("UNROLL"));
    return all.replace(unroll, 14, "\"[1]\"");
  }());
  const Json kernel = tuned(one, {"--kernel-file", bad, "--search", "exhaustive"});
  EXPECT_EQ(kernel["trials"], 4) << kernel;
  EXPECT_TRUE(kernel["confirmed"]);
  EXPECT_THAT(kernel["trail"].get<std::string>(), HasSubstr("WPT=1"));
  const std::set<std::string> expected = {"ok", "illegal_access", "wrong_result", "build_error"};
  const auto found = query("SELECT DISTINCT status FROM trial");
  EXPECT_EQ(std::set(found.begin(), found.end()), expected);
}

TEST_F(KernelFile, YamlAndReferences) {
  const Json kernel = tuned(example("matmul.yaml"), {"--trials", "2", "--time", "5"});
  EXPECT_TRUE(kernel["confirmed"]) << kernel;
  EXPECT_NE(query("SELECT protocol FROM trial LIMIT 1")[0].find("reference: "), std::string::npos);
  // The reference is an array that no configuration computes.
  std::string npy("\x93NUMPY\x01\x00", 8);
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (16384,), }";
  head.resize(117, ' ');
  head += '\n';
  npy += std::string{static_cast<char>(head.size()), 0} + head + std::string(16384 * 4, '\0');
  write_file(folder_.path(), "zero.npy", npy);
  std::string text = read_file(example("matmul.yaml"));
  text.replace(text.find("Parameters: {BLOCK_X: 32, BLOCK_Y: 1}"), 37, "Outputs: {c: zero.npy}");
  const std::string zero = write_file(folder_.path(), "zero.yaml", text);
  const Ran ran = tune(zero, {"--trials", "1", "--time", "5", "--kernel-file", example("matmul.cl")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("no candidate of matmul gave a valid time; the last failure: c["));
}

TEST_F(KernelFile, IsCheckedByAnExpression) {
  const auto with = [&](const std::string& expression) {
    std::string text = read_file(example("matmul.yaml"));
    text.replace(text.find("Parameters: {BLOCK_X: 32, BLOCK_Y: 1}"), 37, "Expression: \"" + expression + "\"");
    return tune(write_file(folder_.path(), "e.yaml", text),
                {"--trials", "1", "--time", "2", "--in-process", "--kernel-file", example("matmul.cl")});
  };
  const std::string inputs = "a = torch.randn(128, 128); b = torch.randn(16384); ";
  const Ran good = with(inputs + "a @ b.reshape(128, 128)");
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(with(inputs + "a @ b.reshape(128, 128).T").err, HasSubstr("no candidate of matmul gave a valid time"));
  const auto slip = [&](const std::string& expression) { return with(expression).err; };
  EXPECT_THAT(slip("a = torch.randn(128, 129); a @ a.T"),
              HasSubstr("expected 16384 elements of the input 'a', found 16512"));
  EXPECT_THAT(slip("x = torch.randn(128, 128); x + 1"),
              HasSubstr("expected an input of the kernel, found 'x'; its inputs are a, b"));
  EXPECT_THAT(slip("a @ b"), HasSubstr("expected a name that is defined, found `a`; declare this array first: a = "
                                       "torch.randn(16384)"));
  EXPECT_THAT(slip("a = torch.randn(128, 128); a.sum(0)"),
              HasSubstr("expected 16384 elements of the output 'c', found 128"));
  EXPECT_THAT(slip("a = torch.randn(128, 128); a +"), HasSubstr("e.yaml:"));
}

TEST_F(KernelFile, InAnExperimentForAStrategyOfItsOwn) {
  write_file(folder_.path(), "mine.py",
             "import deplo_search\nspace = deplo_search.connect()\n"
             "assert [k.options for k in space.knobs if k.name == 'WPT'] == [[1, 2, 4, 8]]\n"
             "assert space.knobs[0].meaning == 'columns of c in a block' and '__kernel void matmul' in space.source\n"
             "assert space.evaluate({'WPT': 2, 'BLOCK_Y': 8}).config['WPT'] == 2\nspace.done()\n");
  if (std::system("python3 -S -c '' > /dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is not installed";
  const std::string experiment =
      write_file(folder_.path(), "e.yaml",
                 "search: {strategy: \"exec:python3 -S -B '" + folder_.file("mine.py") +
                     "'\"}\nkernels:\n  - {space: " + example("matmul.yaml") + ", name: mine}\n");
  const Ran ran = run_program({"deplo-tune", "--config", experiment, "--store", store(), "--quiet"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("mine"));
}

TEST_F(KernelFile, AKernelIsNotASpace) {
  const Ran ran = run_program({"deplo", "space", "--space", example("matmul.cl")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("matmul.cl: expected a space in the T1 format (JSON) or in YAML, found a kernel"));
}

TEST_F(KernelFile, BadFilesAreOneLine) {
  struct Slip {
    const char *from, *to, *message;
  };
  const Slip slips[] = {
      {"\"BLOCK_X * BLOCK_Y >= 32\"", "\"BLOKX * BLOCK_Y >= 32\"",
       "matmul.T1.json:13: expected a parameter, found 'BLOKX' in the constraint 'BLOKX * BLOCK_Y >= 32'; did you mean "
       "'BLOCK_X'?"},
      {">= 32\"", ">= 32 +\"", "matmul.T1.json:13: expected a value, found the end in 'BLOCK_X * BLOCK_Y >= 32 +'"},
      {">= 32\"", ">= 99999\"", "no configuration is legal: the constraints leave no values for BLOCK_X, BLOCK_Y"},
      {"<= 32\"", "<= 32 / (WPT - 1)\"", "division by zero in 'BLOCK_Y * WPT <= 32 / (WPT - 1)'"},
      {"\"MATH\"", "\"MATHS\"", "expected ProblemSize or a parameter, found 'MATH'; did you mean 'MATHS'?"},
      {"\"KernelName\": \"matmul\"", "\"KernelName\": \"mm\"", "matmul.cl: expected a kernel 'mm', found no such name"},
      {"\"KernelName\": \"matmul\"", "\"KernelName\": \"mat_mul\"",
       "expected a kernel 'mat_mul', found no such name; did you mean 'matmul'?"},
      {"matmul.cl\"", "no.cl\"", "no.cl: expected a readable file: No such file or directory"},
      {"\"OpenCL\"", "\"Fortran\"", "expected OpenCL or CUDA, found text \"Fortran\""},
      {"\"Type\": \"float\"", "\"Type\": \"floaty\"", "expected a type (float, half, int"},
      {"\"ProblemSize[0]\"", "\"ProblemSise[0]\"", "expected ProblemSize or a parameter, found 'ProblemSise'"},
      {"\"Size\": \"ProblemSize[0]", "\"Size\": \"ProblemSize[2]", "expected an index below 2, found 2"},
      {"\"Output\": 1", "\"Output\": 2", "expected 0, 1 or sum, found '2'"},
      {"\"Output\": 1", "\"Output\": 0",
       "expected an output to compare, which is an argument with AccessType WriteOnly or ReadWrite and without "
       "Output: 0, found none"},
      {"\"GridDivX\": [\"BLOCK_X\"]", "\"GridDivX\": [\"BLOCK_Z\"]",
       "expected ProblemSize or a parameter, found 'BLOCK_Z'"},
      {"\"[1, 2, 4, 8]\", \"Default\": 4", "\"[1, 2\", \"Default\": 4",
       "expected ',' or ']', found the end in '[1, 2'"},
      {"\"Name\": \"WPT\"", "\"Name\": \"BLOCK_Y\"", "expected each parameter once"},
  };
  for (const Slip& slip : slips) {
    const std::string space = changed("matmul.T1.json", slip.from, slip.to);
    std::vector<std::string> more = {"--trials", "1"};
    if (std::string_view(slip.from) != "matmul.cl\"") more.insert(more.end(), {"--kernel-file", example("matmul.cl")});
    const Ran ran = tune(space, more);
    EXPECT_EQ(ran.code, 1) << slip.to;
    EXPECT_THAT(ran.err, HasSubstr(slip.message)) << slip.to;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  const Ran both = tune(example("matmul.T1.json"), {"--config", "x.yaml"});
  EXPECT_THAT(both.err, HasSubstr("--config cannot be combined with --space"));
}

TEST_F(KernelFile, AKernelThatDoesNotFitIsOneLine) {
  const auto fault = [&](const std::string& from, const std::string& to) {
    const Ran ran = tune(example("matmul.T1.json"),
                         {"--kernel-file", changed("matmul.cl", from, to), "--trials", "1", "--time", "1"});
    EXPECT_EQ(ran.code, 1);
    return ran.err;
  };
  EXPECT_THAT(fault("float sum[WPT]", "flaot sum[WPT]"),
              HasSubstr("matmul.cl:7:3: use of undeclared identifier 'flaot'"));
  EXPECT_THAT(fault("const int n, ", ""), HasSubstr("use of undeclared identifier 'n'"));
  EXPECT_THAT(fault("(const int n, ", "(const int more, const int n, "),
              HasSubstr("expected a kernel 'matmul' with the 4 arguments of the space, found one with 5 parameters"));
  EXPECT_THAT(fault("(const int n, ", "(const long n, "),
              HasSubstr("expected long as argument 'n' of the kernel 'matmul', found a value of the type int"));
  const std::string cuda = changed("matmul.T1.json", "\"OpenCL\"", "\"CUDA\"");
  EXPECT_THAT(tune(cuda, {"--kernel-file", example("matmul.cl"), "--trials", "1"}).err,
              ::testing::AllOf(HasSubstr("expected a CUDA device for a kernel in CUDA C++"),
                               HasSubstr("`deplo check` runs it")));
}

// An error that no configuration can avoid ends the search, instead of using up its time.
TEST_F(KernelFile, AKernelThatCannotBeBuiltEndsTheSearch) {
  std::string space = read_file(changed("matmul.yaml", "KernelFile: matmul.cl", "KernelFile: own.cl"));
  space = write_file(folder_.path(), "own.yaml",
                     space.substr(0, space.find("Reference:")) +
                         "Reference: {Expression: \"a = torch.randn(128, 128); b = torch.randn(128, 128); a @ b\"}\n");
  const auto ran = [&](const std::string& from, const std::string& to) {
    std::string text = read_file(example("matmul.cl"));
    text.replace(text.find(from), from.size(), to);
    write_file(folder_.path(), "own.cl", text);
    return tune(space, {"--trials", "500", "--time", "100"});
  };
  for (const auto& [from, to] :
       {std::pair("float sum[WPT]", "flaot sum[WPT]"), std::pair("(const int n, ", "(const int n, const int more, ")}) {
    const Ran hopeless = ran(from, to);
    EXPECT_EQ(hopeless.code, 1) << hopeless.err;
    EXPECT_THAT(hopeless.err, HasSubstr("none of the first 8 configurations can be built: "));
    EXPECT_EQ(Json::parse(hopeless.out)["kernels"][0]["trials"], 8);
    EXPECT_EQ(Json::parse(hopeless.out)["kernels"][0]["stop"], "cannot be tuned");
  }
}

TEST_F(KernelFile, AParameterThatNothingUsesIsASlip) {
  const std::string space = changed("matmul.T1.json", "\"Name\": \"UNROLL\"", "\"Name\": \"UNROLLED\"");
  std::string text = read_file(space);
  text.replace(text.find("UNROLL <= TILE_K and "), 21, "");
  write_file(folder_.path(), "matmul.T1.json", text);
  const Ran ran = tune(space, {"--kernel-file", example("matmul.cl")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("matmul.cl, in a size or in an option, found 'UNROLLED' in none of them"));
}

}  // namespace
}  // namespace deplo::testing
