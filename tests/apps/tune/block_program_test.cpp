// Tile programs that run block by block: the command line tunes, stores, replays and shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "apps/run_program.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string exported = DEPLO_SOURCE_DIR "/experiments/tile/exported/";

class BlockProgram : public ::testing::Test {
 protected:
  /// Returns the flags of layer norm backward. The program takes a lock, adds to two arrays, and rounds to 16 bits.
  static Words locked_norm() {
    Words words{"--tile", exported + "layer_norm_backward_locked.tileirbc", "--grid", "6"};
    for (const char* argument : {"dy=f16[6,48]", "x=f16[6,48]", "w=f16[48]", "mean=f32[6]", "rstd=f32[6]",
                                 "dx=f16[6,48]", "dw=f32[48]", "db=f32[48]", "lock=i32[1]"})
      words.insert(words.end(), {"--arg", argument});
    return words;
  }
  static std::string experiment(const std::string& more) {
    return "device: opencl\nkernels:\n"
           "  - {tile: " +
           exported +
           "layer_norm_backward_locked.tileirbc, name: norm, grid: 6, arguments: ['dy=f16[6,48]', 'x=f16[6,48]', "
           "'w=f16[48]', 'mean=f32[6]', 'rstd=f32[6]', 'dx=f16[6,48]', 'dw=f32[48]', 'db=f32[48]', 'lock=i32[1]'], "
           "inputs: {lock: constant(0)}}\n" +
           more;
  }
  Ran tune(const std::string& text, const Words& more) const {
    const std::string file = write_file(folder_.path(), "e.yaml", text);
    Words words{"deplo-tune", "--config", file, "--store", store(), "--quiet", "--json", "--time", "60"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  Ran run(const std::string& command, const Words& source, const Words& more) const {
    Words words{"deplo", command};
    words.insert(words.end(), source.begin(), source.end());
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  std::vector<std::string> query(const std::string& sql) const {
    measure::sqlite::Database database(store());
    measure::sqlite::Statement statement(database, sql);
    std::vector<std::string> rows;
    while (statement.step()) rows.push_back(statement.text(0));
    return rows;
  }
  std::string store() const { return folder_.file("s.db"); }

  measure::TemporaryFolder folder_;
};

TEST_F(BlockProgram, IsTunedAndReplayed) {
  const Words random{"--trials", "4", "--search", "random", "--seed", "3"};
  const Ran first = tune(experiment(""), random);
  ASSERT_EQ(first.code, 0) << first.err;
  const Json kernel = Json::parse(first.out)["kernels"][0];
  EXPECT_TRUE(kernel["confirmed"]) << kernel;
  EXPECT_EQ(kernel["trials"], 4) << kernel;
  EXPECT_TRUE(kernel["failures"].empty()) << kernel;
  EXPECT_THAT(kernel["trail"].get<std::string>(), HasSubstr("blocks.threads="));
  const auto digests = query("SELECT digest FROM trial WHERE stage = 'screen' AND status = 'ok'");
  EXPECT_EQ(std::set(digests.begin(), digests.end()).size(), 4U);
  EXPECT_EQ(Json::parse(tune(experiment(""), random).out)["kernels"][0]["known"], 4) << "nothing is measured again";

  // The tuned schedule is not the heuristic's, so the output shows whether it is used.
  const std::string lock = write_file(folder_.path(), "lock.yaml", "lock: constant(0)\n");
  const Ran ran = run("run", locked_norm(), {"--tuned", store(), "--inputs", lock});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("schedule: tuned\n"));
  const Ran compiled = run("compile", locked_norm(), {"--tuned", store(), "--target", "auto"});
  EXPECT_THAT(compiled.out, HasSubstr("// schedule: tuned, measured ")) << compiled.err;
  const Ran other = run("compile",
                        {"--tile", exported + "softmax.tileirbc", "--form", "blocks", "--grid", "4", "--arg",
                         "x=f32[4,16]", "--arg", "y=f32[4,16]"},
                        {"--tuned", store(), "--require-tuned", "--target", "auto"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("softmax: not tuned for this launch"));
  const Ran bench = run("bench", {"--config", folder_.file("e.yaml")}, {"--time", "0", "--tuned", store()});
  EXPECT_THAT(bench.out, HasSubstr("tuned")) << bench.err;
}

TEST_F(BlockProgram, AScheduleOfAnotherProgramIsStale) {
  ASSERT_EQ(tune(experiment(""), {"--trials", "1"}).code, 0);
  query("UPDATE trial SET digest = 'another'");
  const Ran compiled = run("compile", locked_norm(), {"--tuned", store(), "--target", "auto"});
  EXPECT_THAT(compiled.out, HasSubstr("// schedule: heuristic, by " + store() + "; stale: the trail of trial "))
      << compiled.err;
}

TEST_F(BlockProgram, IsChosenByAKey) {
  const std::string softmax = exported + "softmax.tileirbc, grid: 4, arguments: ['x=f32[4,16]', 'y=f32[4,16]']";
  const Ran ran = tune("device: opencl\nkernels:\n  - {tile: " + softmax + ", name: raised}\n  - {tile: " + softmax +
                           ", name: blocks, form: blocks}\n",
                       {"--trials", "2"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json kernels = Json::parse(ran.out)["kernels"];
  EXPECT_THAT(kernels[0]["trail"].get<std::string>(), Not(HasSubstr("blocks.threads")));
  EXPECT_THAT(kernels[1]["trail"].get<std::string>(), HasSubstr("blocks.threads"));
}

// Kernels have no type i8, so the array's buffer consists of words. Nine elements do not fill the last word.
TEST_F(BlockProgram, BytesAreCompared) {
  const std::string program = write_file(folder_.path(), "twice.tile", R"(
entry @twice(%x: tile<ptr<i8>>) {
  %i = iota : tile<8xi32>
  %x1 = reshape %x : tile<ptr<i8>> -> tile<1xptr<i8>>
  %xs = broadcast %x1 : tile<1xptr<i8>> -> tile<8xptr<i8>>
  %xp = offset %xs, %i : tile<8xptr<i8>>, tile<8xi32> -> tile<8xptr<i8>>
  %v, %t = load_ptr_tko weak %xp : tile<8xptr<i8>> -> tile<8xi8>, token
  %s = addi %v, %v : tile<8xi8>
  %u = store_ptr_tko weak %xp, %s token=%t : tile<8xptr<i8>>, tile<8xi8> -> token
  return
}
)");
  const Ran ran =
      tune("device: opencl\nkernels: [{tile: " + program + ", grid: 1, form: blocks, arguments: ['x=i8[9]']}]\n",
           {"--trials", "2"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(Json::parse(ran.out)["kernels"][0]["confirmed"]) << ran.out;
}

TEST_F(BlockProgram, WithoutArraysIsRefused) {
  const Ran ran =
      tune("device: opencl\nkernels: [{tile: " DEPLO_SOURCE_DIR "/experiments/tile/mutex.tile, grid: 2}]\n", {});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("expected a tile program that writes an array"));
}

TEST_F(BlockProgram, ShowsItsDecisions) {
  const Ran ran = run("space", locked_norm(), {"--probes", "50"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("blocks.threads"));
  EXPECT_THAT(ran.out, HasSubstr("keep."));
  const Ran sample = run("space", locked_norm(), {"--sample", "3"});
  EXPECT_THAT(sample.out, HasSubstr("blocks.threads=")) << sample.err;
  const Ran wrong = run("compile", locked_norm(), {"--schedule", "blocks.threads=3"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("blocks.threads: expected 1, 2, 4"));
  EXPECT_THAT(run("compile", locked_norm(), {"--schedule", "blocks.threads=4"}).out,
              HasSubstr("reqd_work_group_size(4, 1, 1)"));
}

}  // namespace
}  // namespace deplo::testing
