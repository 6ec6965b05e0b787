// Files of other tuners, imported and exported again: what is kept, and whether Kernel Tuner can read the result.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::string data = std::string(DEPLO_SOURCE_DIR) + "/tests/data/recorded/";

class RecordedFiles : public ::testing::Test {
 protected:
  std::string out(std::vector<std::string> words) {
    words.insert(words.begin(), "deplo");
    const Ran ran = run_program(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  }
  std::string refusal(std::vector<std::string> words) {
    words.insert(words.begin(), "deplo");
    const Ran ran = run_program(words);
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    return ran.err;
  }
  /// Imports the file into a new store, and returns the store's export in this format.
  std::string exported(const std::string& file, const std::string& format, const std::vector<std::string>& flags = {}) {
    const std::string store = folder_.file("store" + std::to_string(++stores_) + ".db");
    std::vector<std::string> words = {"db", "import", file, "--store", store};
    words.insert(words.end(), flags.begin(), flags.end());
    out(words);
    return out({"db", "export", "--store", store, "--format", format});
  }
  std::string store() const { return folder_.file("s.db"); }

  measure::TemporaryFolder folder_;
  int stores_ = 0;
};

TEST_F(RecordedFiles, AreImported) {
  const auto said = [&](const std::string& file) { return out({"db", "import", data + file, "--store", store()}); };
  EXPECT_THAT(said("kernel_tuner/kernel_tuner_1.4.json"), HasSubstr("5 configurations, 4 valid, 2 knobs\n"));
  EXPECT_THAT(said("t4/ktt.T4.json"), HasSubstr("3 configurations, 3 valid, 1 knob; objective TotalDuration\n"));
  EXPECT_THAT(said("kernel_tuner/bool_float.json"), HasSubstr("8 configurations, 8 valid, 3 knobs\n"));
  EXPECT_THAT(said("table/ktt_profile.csv"), HasSubstr("4 configurations, 4 valid, 1 knob\n"));
  EXPECT_THAT(
      refusal({"db", "import", store(), "--store", folder_.file("other.db")}),
      HasSubstr(
          "s.db: expected a recorded space or a pack, found a database; `deplo db merge` adds one store to another"));
}

TEST_F(RecordedFiles, FoldersAreImportedWholeOrNotAtAll) {
  const std::string folder = folder_.file("spaces");
  std::filesystem::create_directories(folder);
  write_file(folder, "a.jsonl", R"({"config_id": "A=1", "outcome": {"Measured": {"median_ms": 0.5}}})");
  write_file(folder, "b.csv", "bx,time (ms)\n1,2.5\n2,1.5\n");
  write_file(folder, "notes.txt", "");
  const std::string text = out({"db", "import", folder, "--store", store()});
  EXPECT_THAT(text, AllOf(HasSubstr("spaces/a: 1 configuration, 1 valid, 1 knob\nspaces/b: 2 configurations, 2 valid"),
                          HasSubstr("left out " + folder + "/notes.txt: expected a file that ends in .json")));
  write_file(folder, "c.jsonl", R"({"config_id": "A=1", "outcome": 3})");
  EXPECT_THAT(refusal({"db", "import", folder, "--store", folder_.file("none.db")}), HasSubstr("c.jsonl:1: expected"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("none.db")));
}

// Compares bytes: keys and values as Python prints them, the problem size, and the end of the file that Kernel Tuner's
// reader expects.
TEST_F(RecordedFiles, ExportsAreAsKernelTunerWritesThem) {
  EXPECT_EQ(exported(data + "kernel_tuner/bool_float.json", "kernel-tuner"),
            read_file(data + "kernel_tuner/bool_float.exported.json"));
  EXPECT_EQ(exported(data + "kernel_tuner/kernel_tuner_1.4.json", "kernel-tuner"),
            read_file(data + "kernel_tuner/kernel_tuner_1.4.exported.json"));
  EXPECT_EQ(exported(data + "kernel_tuner/kernel_tuner_1.5_two_objectives.json", "t4", {"--objective", "GFLOP/s"}),
            read_file(data + "t4/gflops.exported.T4.json"));
}

TEST_F(RecordedFiles, TypesSurviveEachFormat) {
  const std::string original = read_file(data + "kernel_tuner/bool_float.exported.json");
  for (const char* format : {"kernel-tuner", "t4", "csv"}) {
    const std::string file = write_file(folder_.path(), fmt::format("{}.txt", format),
                                        exported(data + "kernel_tuner/bool_float.json", format));
    const Json before = Json::parse(original);
    Json after = Json::parse(exported(file, "kernel-tuner"));
    EXPECT_EQ(before["tune_params_keys"], after["tune_params_keys"]) << format;
    std::vector<std::string> keys, own;
    for (const auto& [key, entry] : before["cache"].items())
      keys.push_back(key + entry["flag"].dump() + entry["f"].dump());
    for (const auto& [key, entry] : after["cache"].items())
      own.push_back(key + entry["flag"].dump() + entry["f"].dump());
    EXPECT_EQ(keys, own) << format;
    // A table cannot contain the problem size.
    EXPECT_EQ(format == std::string("csv") ? Json() : before["problem_size"], after["problem_size"]) << format;
  }
}

TEST_F(RecordedFiles, AreReadByKernelTuner) {
  if (std::system("python3 -c 'import kernel_tuner' > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3 has no package kernel_tuner";
  struct Case {
    std::string file;
    std::vector<std::string> flags = {};
  };
  for (const auto& [file, flags] :
       {Case{"kernel_tuner/bool_float.json"}, Case{"kernel_tuner/kernel_tuner_1.4.json"},
        Case{"kernel_tuner/kernel_tuner_1.5_two_objectives.json", {"--objective", "GFLOP/s"}},
        Case{"kernel_tuner/kernel_tuner_1.5_two_objectives.json", {"--objective", "energy"}}}) {
    const std::string cache = write_file(folder_.path(), "exported.json", exported(data + file, "kernel-tuner", flags)),
                      t4 = write_file(folder_.path(), "exported.T4.json", exported(data + file, "t4", flags)),
                      log = folder_.file("log");
    const std::string command =
        fmt::format("python3 '{0}check_exports.py' '{0}{1}' '{2}' '{3}' > '{4}' 2>&1", data, file, cache, t4, log);
    EXPECT_EQ(std::system(command.c_str()), 0) << command << "\n" << read_file(log);
  }
}

TEST_F(RecordedFiles, ObjectivesAreNamedAndComparedInTheirDirection) {
  const std::string file = data + "kernel_tuner/kernel_tuner_1.5_two_objectives.json";
  EXPECT_THAT(refusal({"db", "import", file, "--store", store()}),
              HasSubstr("expected one objective, found energy, time; choose one with --objective"));
  EXPECT_THAT(refusal({"compare", "--spaces", file}), HasSubstr("choose one with --objective"));
  EXPECT_THAT(refusal({"db", "import", file, "--store", store(), "--objective", "volume"}),
              HasSubstr("--objective 'volume:max' or ':min'"));
  EXPECT_THAT(refusal({"db", "import", file, "--store", store(), "--objective", "volume:max"}),
              HasSubstr("found none; they have 'time', 'energy', 'GFLOP/s'"));
  for (const char* objective : {"GFLOP/s", "energy", "energy:max", "time"})
    out({"db", "import", file, "--store", store(), "--objective", objective});
  const Json best = Json::parse(out({"db", "best", store(), "--json"}));
  ASSERT_EQ(best.size(), 4u);
  EXPECT_EQ(best[0]["objective"], "GFLOP/s, higher is better");
  EXPECT_EQ(best[0]["trail"], "bx=64 flag=0");
  EXPECT_TRUE(best[0]["median_us"].is_null());
  EXPECT_EQ(best[0]["value"], 100 / 0.75);
  EXPECT_EQ(best[1]["objective"], "energy, lower is better");
  EXPECT_EQ(best[1]["value"], 40);
  EXPECT_EQ(best[2]["value"], 70);
  EXPECT_EQ(best[3]["median_us"], 750);
  EXPECT_EQ(run_program({"deplo", "db", "check", store()}).code, 0);
  EXPECT_THAT(out({"db", "trials", store(), "--limit", "20"}), HasSubstr("GFLOP/s, higher is better"));
  EXPECT_THAT(out({"db", "diff", store(), store()}), HasSubstr("gemm: energy, lower is better"));
  // Each space is found by its name with the objective, and not without it.
  EXPECT_THAT(refusal({"db", "export", "--store", store()}),
              AllOf(HasSubstr("'gemm GFLOP/s, higher is better' on 'A GPU'"), HasSubstr("'gemm time' on 'A GPU'")));
  const Json energy =
      Json::parse(out({"db", "export", "--store", store(), "--kernel", "gemm energy, lower is better"}));
  EXPECT_EQ(energy["objective"], "energy");
  EXPECT_EQ(energy["cache"]["64,False"]["energy"], 70);
  out({"report", store(), "-o", folder_.file("page.html")});
  EXPECT_THAT(read_file(folder_.file("page.html")), HasSubstr("133.3 GFLOP/s, higher is better"));
}

// A space in which the fastest configuration has the worst throughput: the score must follow the objective.
TEST_F(RecordedFiles, ComparisonsNameTheObjective) {
  std::string cache = R"({"tune_params_keys": ["a", "b"], "objective": "GFLOP/s", "cache": {)";
  for (int a = 0; a < 20; ++a)
    for (int b = 0; b < 20; ++b)
      cache += fmt::format(R"({0}"{1},{2}": {{"a": {1}, "b": {2}, "time": {3}, "GFLOP/s": {3}, "compile_time": 5}})",
                           a + b == 0 ? "\n" : ",\n", a, b, 1 + a * a + b);
  const std::string file = write_file(folder_.path(), "space.json", cache + "}\n}");
  const auto compared = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"compare", "--spaces", file, "--search", "random", "--repeats", "2", "--quiet", "-v"});
    return out(flags);
  };
  EXPECT_THAT(compared({}),
              AllOf(HasSubstr("objective GFLOP/s, higher is better"), HasSubstr("space: objective GFLOP/s")));
  EXPECT_THAT(compared({"--objective", "time"}), Not(HasSubstr("objective")));
  const Json json =
      Json::parse(compared({"--json", "--output", folder_.file("c.json"), "--html", folder_.file("c.html")}));
  EXPECT_EQ(json["orders"][0]["spaces"][0]["objective"], "GFLOP/s, higher is better");
  EXPECT_THAT(read_file(folder_.file("c.html")), HasSubstr("objective GFLOP/s, higher is better"));
  out({"report", folder_.file("c.json"), "-o", folder_.file("again.html")});
  EXPECT_EQ(read_file(folder_.file("again.html")), read_file(folder_.file("c.html")));
}

TEST_F(RecordedFiles, ResultColumnsOfATableAreNoParameters) {
  const auto import = [&](const std::string& file, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"db", "import", file, "--store", store()});
    return flags;
  };
  std::string table = "bx,by,note,time (ms),power,temperature\n";
  for (int i = 0; i < 16; ++i)
    table += fmt::format("{},{},{},{},{},{}\n", 1 << (i % 4), i / 4, i % 2, 10 + i, 100.25 + i * 3.5, 40 + i);
  const std::string file = write_file(folder_.path(), "table.csv", table);
  EXPECT_THAT(refusal(import(file)),
              HasSubstr("table.csv: expected parameters, found columns that look like results: 'power', 'temperature'; "
                        "name the parameters with --parameters bx,by,note or in a T1 file next to it"));
  EXPECT_THAT(refusal({"compare", "--spaces", file}), HasSubstr("look like results"));
  EXPECT_THAT(out(import(file, {"--ignore", "power,temperature"})), HasSubstr("16 configurations, 16 valid, 3 knobs"));
  EXPECT_THAT(out(import(file, {"--parameters", "bx,by"})), HasSubstr("16 configurations, 16 valid, 2 knobs"));
  EXPECT_THAT(out(import(file, {"--parameters", "bx,by", "--objective", "power"})),
              HasSubstr("2 knobs; objective power, lower is better"));
  EXPECT_THAT(refusal(import(file, {"--parameters", "bx,bz"})), HasSubstr("expected a parameter 'bz', found no such"));
  write_file(folder_.path(), "table.T1.json", R"({"ConfigurationSpace": {"TuningParameters": [
    {"Name": "bx", "Type": "int", "Values": "[1]"}, {"Name": "by", "Type": "int", "Values": "[1]"}]}})");
  EXPECT_THAT(out(import(file)), HasSubstr("16 configurations, 16 valid, 2 knobs"));
  write_file(folder_.path(), "table.T1.json", "{}");
  EXPECT_THAT(refusal(import(file)), HasSubstr("table.T1.json: expected a T1 definition"));
}

}  // namespace
}  // namespace deplo::testing
