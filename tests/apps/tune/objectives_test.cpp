// Kernels of users' own files with several objectives, through the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// Vectors make the loop several times as fast, but its code longer.
constexpr const char* kernel =
    "__kernel void walk(__global const int* x, __global int* y) {\n  const int i = get_global_id(0);\n  int s = 0;\n"
    "#if WIDTH == 1\n#pragma clang loop vectorize(disable) unroll(disable)\n"
    "#else\n#pragma clang loop vectorize_width(WIDTH) unroll_count(4)\n#endif\n"
    "  for (int j = 0; j < 65536; ++j) s += (x[i] ^ j) * j;\n  y[i] = s;\n}\n";

class KernelObjectives : public ::testing::Test {
 protected:
  KernelObjectives() { write_file(folder_.path(), "walk.cl", kernel); }
  std::string space(const std::string& objectives) const {
    return write_file(folder_.path(), "walk.yaml",
                      "ConfigurationSpace:\n  TuningParameters: [{Name: WIDTH, Values: [1, 4, 16], Default: 16}]\n"
                      "KernelSpecification:\n  Language: OpenCL\n  KernelName: walk\n  KernelFile: walk.cl\n"
                      "  LocalSize: {X: 1}\n  ProblemSize: [16]\n  Arguments:\n"
                      "    - {Name: x, Type: int, Size: 16, FillValue: 1000}\n"
                      "    - {Name: y, Type: int, Size: 16, AccessType: WriteOnly}\n" +
                          objectives);
  }
  std::string store() const { return folder_.file("s.db"); }
  Ran tune(const std::string& objectives, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"deplo-tune", "--space",    space(objectives), "--store",
                                      store(),      "--quiet",    "--time",          "100",
                                      "--search",   "exhaustive", "--in-process"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  static std::string run(std::vector<std::string> words) {
    const Ran ran = run_program(std::move(words));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  }

  measure::TemporaryFolder folder_;
};

TEST_F(KernelObjectives, HaveAFrontEverywhere) {
  const Ran ran = tune("Objectives: [time, code_size]\n", {"--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json row = Json::parse(ran.out)["kernels"][0];
  EXPECT_EQ(row["objectives"], Json::array({"time", "code_size"}));
  const Json front = row["front"];
  ASSERT_GE(front.size(), 2u) << row;
  for (std::size_t i = 1; i < front.size(); ++i) {
    EXPECT_LT(front[i - 1]["time"], front[i]["time"]);
    EXPECT_GT(front[i - 1]["code_size"], front[i]["code_size"]);
  }
  for (const Json& point : front) EXPECT_EQ(point["stage"], "confirm");
  // The slowest configuration has the smallest code. If the time were the only objective, this configuration would have
  // been abandoned, because it takes several times as long.
  EXPECT_EQ(front.back()["trail"], "WIDTH=1");
  EXPECT_TRUE(row["failures"].empty()) << row;
  // The same command measures nothing again, and shows the front.
  const std::string table = tune("Objectives: [time, code_size]\n").out;
  EXPECT_THAT(table, AllOf(HasSubstr("3 trials known from"), HasSubstr("front of walk: "),
                           HasSubstr(" of 3 valid configurations; time in µs, code_size in bytes"),
                           HasSubstr(front.back()["digest"].get<std::string>())));
  const std::string best = run({"deplo", "db", "best", store()});
  EXPECT_THAT(best, AllOf(HasSubstr("front of walk: "), HasSubstr("code_size")));
  const Json rows = Json::parse(run({"deplo", "db", "best", "--json", store()}));
  EXPECT_GE(rows[0]["front"].size(), 2u) << rows;
  run({"deplo", "report", store(), "-o", folder_.file("r.html")});
  EXPECT_THAT(read_file(folder_.file("r.html")),
              AllOf(HasSubstr("Pareto front of the objectives"), HasSubstr("code_size (bytes)")));

  // A T4 file contains all objectives of each configuration, and can be imported again.
  const std::string t4 = folder_.file("walk_T4.json");
  run({"deplo", "db", "export", "--store", store(), "--format", "t4", "-o", t4});
  const Json result = Json::parse(read_file(t4))["results"][0];
  EXPECT_EQ(result["objectives"], Json::array({"time", "code_size"}));
  EXPECT_EQ(result["measurements"][1]["name"], "code_size");
  EXPECT_EQ(result["measurements"][1]["unit"], "bytes");
  run({"deplo", "db", "import", "--store", folder_.file("sizes.db"), "--objective", "code_size", t4});
  EXPECT_THAT(run({"deplo", "db", "best", "--store", folder_.file("sizes.db")}),
              HasSubstr("code_size (bytes), lower is better"));
}

// The trials are stored as a device with an energy counter stores them.
TEST_F(KernelObjectives, EnergiesAreShownAsOtherObjectives) {
  {
    measure::Store to = measure::Store::open(store());
    const measure::Ids ids = measure::add_context(to);
    const std::vector<std::tuple<std::string, double, double>> trials = {
        {"a.x=1", 10, 0.9}, {"a.x=2", 20, 0.4}, {"a.x=4", 30, 0.5}};
    for (const auto& [trail, us, mj] : trials) {
      measure::TrialRecord trial = measure::some_trial(ids, us > 10, trail, us);
      trial.stage = measure::Stage::confirm;
      trial.timing.energy_mj = mj;
      to.append(trial);
    }
    to.append(measure::SearchRecord{ids.run, ids.kernel, "s", "trials", true, "time, energy"});
  }
  EXPECT_THAT(run({"deplo", "db", "best", store()}),
              AllOf(HasSubstr("2 of 3 valid configurations; time in µs, energy in mJ"), HasSubstr("a.x=2")));
  const Json front = Json::parse(run({"deplo", "db", "best", "--json", store()}))[0]["front"];
  ASSERT_EQ(front.size(), 2u);
  EXPECT_EQ(front[0]["energy"], 0.9);
  EXPECT_EQ(front[1]["energy"], 0.4);
  run({"deplo", "report", store(), "-o", folder_.file("r.html")});
  EXPECT_THAT(read_file(folder_.file("r.html")), HasSubstr("energy (mJ)"));
  const std::string t4 = folder_.file("T4.json");
  run({"deplo", "db", "export", "--store", store(), "--format", "t4", "-o", t4});
  const Json result = Json::parse(read_file(t4))["results"][1];
  EXPECT_EQ(result["objectives"], Json::array({"time", "energy"}));
  EXPECT_EQ(result["measurements"][1], Json({{"name", "energy"}, {"value", 0.4}, {"unit", "mJ"}}));
  run({"deplo", "db", "import", "--store", folder_.file("energies.db"), "--objective", "energy", t4});
  EXPECT_THAT(run({"deplo", "db", "best", "--store", folder_.file("energies.db")}),
              HasSubstr("energy (mJ), lower is better"));
}

// Kernels of Loop IR and graphs may have objectives, too, not only kernel files.
TEST_F(KernelObjectives, EveryKernelMayHaveThem) {
  const auto tuned = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"deplo-tune", "--quiet", "--json", "--in-process", "--store", store(), "--time", "100",
                                 "--trials", "3", "--search", "random"});
    const Ran ran = run_program(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out);
  };
  const Json softmax = tuned({"-k", "softmax", "-s", "M=16", "-s", "N=64", "--objectives", "time,code_size"});
  EXPECT_EQ(softmax["kernels"][0]["objectives"], Json::array({"time", "code_size"}));
  EXPECT_GE(softmax["kernels"][0]["front"].size(), 1u);
  EXPECT_EQ(tuned({"-k", "softmax", "-s", "M=16", "-s", "N=64"})["kernels"][0]["objectives"], nullptr);
  const Json graph =
      tuned({"-c", "torch.softmax(torch.randn(8, 32) @ torch.randn(32, 16), 1)", "--objectives", "time,code_size"});
  for (const Json& kernel : graph["kernels"]) EXPECT_EQ(kernel["objectives"].size(), 2u) << kernel["kernel"];
  const std::string experiment =
      write_file(folder_.path(), "x.yaml",
                 "kernels:\n  - {kernel: softmax, symbols: {M: 16, N: 64}, objectives: [time, code_size], name: both}\n"
                 "  - {kernel: softmax, symbols: {M: 16, N: 64}}\n");
  const Json rows = tuned({"--config", experiment})["kernels"];
  ASSERT_EQ(rows.size(), 2u) << "they differ in what is minimised";
  EXPECT_EQ(rows[0]["objectives"].size(), 2u);
  EXPECT_FALSE(rows[1].contains("objectives"));
}

TEST_F(KernelObjectives, SlipsAreOneLine) {
  const auto fault = [&](const std::string& objectives, const std::vector<std::string>& more = {}) {
    const Ran ran = tune(objectives, more);
    EXPECT_EQ(ran.code, 1) << objectives;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(fault("Objectives: []\n"), HasSubstr("expected at least one objective"));
  EXPECT_THAT(fault("Objectives: [time, speed]\n"),
              HasSubstr("walk.yaml:12: expected an objective that deplo measures"));
  EXPECT_THAT(fault("Objectives: [time, time]\n"), HasSubstr("expected each objective once, found 'time' twice"));
  EXPECT_THAT(fault("Objectives: [time, registers]\n"),
              HasSubstr("reports (time, energy, code_size, shared_memory), found 'registers'"));
  EXPECT_THAT(fault("", {"--objectives", "time,sped"}), HasSubstr("--objectives: expected an objective"));
}

TEST_F(KernelObjectives, WithoutACounterEnergiesAreRefused) {
  if (std::filesystem::exists("/sys/class/powercap/intel-rapl:0")) GTEST_SKIP() << "this machine has a counter";
  const Ran ran = tune("Objectives: [time, energy]\n");
  EXPECT_EQ(ran.code, 2) << "it is the machine that lacks something";
  EXPECT_THAT(ran.err, HasSubstr("the objective energy: no energy counter: expected "
                                 "/sys/class/powercap/intel-rapl:0/energy_uj, found none; Linux provides it"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(store()));
}

}  // namespace
}  // namespace deplo::testing
