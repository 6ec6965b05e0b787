// The kernels that a graph becomes: the command line tunes several sets of them and uses the chosen set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "core/file.h"
#include "engine/source/source.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr const char* attention = "q = torch.randn(2, 33, 16); F.scaled_dot_product_attention(q, q, q)";
constexpr const char* knob = "fusion.attention_scaled_dot_product_attention";

class TuneGraph : public ::testing::Test {
 protected:
  Json run_json(std::vector<std::string> flags) const {
    flags.emplace_back("--json");
    const Ran ran = run_program(flags, {});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out);
  }
  Json tune(const std::string& device, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(),
                 {"deplo", "tune", "--config", config_, "--store", store(), "--device", device, "--quiet"});
    return run_json(flags);
  }
  Json run(std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"deplo", "run", "-c", attention, "--tuned", store()});
    return run_json(flags);
  }
  /// Edits the store as if the heuristic's kernels (0) or the other set of kernels (1) had been the fastest.
  void choose(std::size_t number) const {
    const engine::Source source{engine::Expression{attention, "-c"}};
    const engine::Variation chosen = engine::vary_decisions(
        read_graph(source), engine::passes_of(source.options, engine::fusion_target("auto", "opencl")))[number];
    edit("UPDATE graph SET trail = '" + print(chosen.fused.trail) + "', digest = '" +
         engine::kernels_digest(chosen.fused.module) + "'");
  }
  void edit(const std::string& sql) const { measure::sqlite::Database(store()).execute(sql); }
  std::string store() const { return folder_.file("s.db"); }

  measure::TemporaryFolder folder_;
  const std::string config_ =
      write_file(folder_.path(), "g.yaml",
                 "search: {strategy: random}\nbudget: {time: 60, trials: 2}\nkernels:\n  - {name: g, expression: \"" +
                     std::string(attention) + "\"}\n");
};

TEST_F(TuneGraph, ChoosesTheLeastSumAndEveryCommandFollows) {
  const Json tuned = tune("opencl");
  ASSERT_EQ(tuned["graphs"].size(), 1U);
  const Json& graph = tuned["graphs"][0];
  EXPECT_EQ(tuned["kernels"].size(), 4U) << "one kernel, and three";
  double one = 0, three = 0;
  bool timed = true;  // false if the other set is so slow that it is not tuned
  for (const Json& kernel : tuned["kernels"]) {
    (kernel["alternative"].get<bool>() ? three : one) += kernel["best_us"].get<double>();
    timed &= kernel["confirmed"].get<bool>();
  }
  EXPECT_EQ(graph["sets"], timed ? 2 : 1);
  EXPECT_TRUE(timed || three > one);
  const bool split = graph["trail"] == std::string(knob) + "=split";
  EXPECT_DOUBLE_EQ(graph["heuristic_us"].get<double>(), one);
  EXPECT_DOUBLE_EQ(graph["best_us"].get<double>(), split ? three : one);
  EXPECT_LE(graph["best_us"], 1.05 * std::min(one, three));

  EXPECT_EQ(run()["graph_trail"], graph["trail"]);
  for (const std::size_t number : {0U, 1U}) {
    choose(number);
    const std::size_t kernels = number == 0 ? 1 : 3;
    const Json ran = run();
    EXPECT_EQ(ran["graph_trail"], std::string(knob) + (number == 0 ? "=fused" : "=split"));
    EXPECT_EQ(ran["kernels"].size(), kernels);
    for (const Json& kernel : ran["kernels"]) EXPECT_EQ(kernel["schedule"], "tuned");
    for (const std::vector<std::string>& source : {std::vector<std::string>{"-c", attention}, {"--config", config_}}) {
      std::vector<std::string> flags{"deplo", "bench", "--tuned", store(), "--time", "0.1"};
      flags.insert(flags.end(), source.begin(), source.end());
      EXPECT_EQ(run_json(flags)["kernels"].size(), kernels);
    }
    const Ran compiled = run_program({"deplo", "compile", "-c", attention, "--tuned", store(), "--ir", "tile",
                                      "--target", tuned["target"].get<std::string>()},
                                     {});
    EXPECT_EQ(compiled.code, 0) << compiled.err;
    EXPECT_THAT(compiled.out, StartsWith("# graph: tuned, by " + store() + ": " + knob));
    EXPECT_EQ(compiled.out.find("\n# 2: ") != std::string::npos, number == 1) << compiled.out;
  }
  const std::string page = folder_.file("report.html");
  EXPECT_EQ(run_program({"deplo", "report", store(), "--output", page}, {}).code, 0);
  EXPECT_THAT(read_file(page), HasSubstr(std::string(knob) + "=split"));
  EXPECT_EQ(run({"--attention", "split"})["kernels"].size(), 3U) << "a flag fixes the decision";
  EXPECT_EQ(run({"--attention", "fused"})["kernels"].size(), 1U);
}

TEST_F(TuneGraph, ATrailOfTheStoreIsFollowedOrSaidToBeStale) {
  tune("interpreter");
  const auto interpreted = [&](std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--device", "interpreter"});
    return run(flags);
  };
  edit("UPDATE graph SET digest = 'x'");
  EXPECT_EQ(interpreted()["graph_trail"], "");
  EXPECT_THAT(interpreted()["graph_note"].get<std::string>(), HasSubstr("stale: the stored trail of graph row 1"));
  EXPECT_EQ(interpreted()["kernels"].size(), 1U) << "the heuristic's";
  const Ran refused = run_program(
      {"deplo", "run", "-c", attention, "--tuned", store(), "--device", "interpreter", "--require-tuned"}, {});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--require-tuned: stale: the stored trail"));
  const Ran table = run_program({"deplo", "run", "-c", attention, "--tuned", store(), "--device", "interpreter"}, {});
  EXPECT_THAT(table.out, HasSubstr("the graph: stale"));

  edit("DELETE FROM graph");
  EXPECT_EQ(interpreted()["graph_note"], "") << "a store of before";
  EXPECT_EQ(interpreted()["kernels"].size(), 1U);
}

TEST_F(TuneGraph, TheSameSeedAsksTheSame) {
  const auto asked = [&] {
    std::filesystem::remove(store());
    tune("interpreter", {"--trials", "1"});
    measure::sqlite::Database database(store());
    measure::sqlite::Statement rows(
        database,
        "SELECT k.name || ' ' || t.trail FROM trial t JOIN kernel k ON k.id = t.kernel WHERE "
        "t.stage = 'screen' ORDER BY 1");
    std::vector<std::string> trials;
    while (rows.step()) trials.push_back(rows.text(0));
    return trials;
  };
  const std::vector<std::string> first = asked();
  EXPECT_EQ(first.size(), 4U) << "each kernel once";
  EXPECT_EQ(asked(), first);
}

TEST_F(TuneGraph, WhatIsFixedHasNoAlternatives) {
  const Json tuned = tune("interpreter", {"--attention", "split", "--trials", "1"});
  EXPECT_EQ(tuned["kernels"].size(), 3U);
  EXPECT_TRUE(tuned["graphs"].empty());
}

TEST_F(TuneGraph, TheSpaceShowsTheSets) {
  const Json space = run_json({"deplo", "space", "-c", attention, "--probes", "1"});
  ASSERT_EQ(space["graph"].size(), 2U);
  EXPECT_EQ(space["graph"][0], (Json{{"changes", ""}, {"kernels", 1}}));
  EXPECT_EQ(space["graph"][1], (Json{{"changes", std::string(knob) + "=split"}, {"kernels", 3}}));
}

}  // namespace
}  // namespace deplo::testing
