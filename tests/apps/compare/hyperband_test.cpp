// Hyperband through the programs: what it saves in a comparison by measuring with less effort, and what tuning stores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "engine/learn/recorded.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Json = nlohmann::json;

class HyperbandPrograms : public ::testing::Test {
 protected:
  /// Writes a table of 1,024 configurations, whose times say nothing about those of their neighbours. Each takes 1 s to
  /// build and 10 to 60 s to run, in 64 launches whose times vary by 4 %, or in one launch.
  std::string table(const std::string& name, int launches) const {
    std::string text = "a,b,c";
    for (int i = 0; i < launches; ++i) text += ",Run" + std::to_string(i + 1) + " (ms)";
    text += ",build (s),run (s)\n";
    for (int i = 0; i < 1024; ++i) {
      const double seconds = 10 + (i * 389 % 1024) / 20.48;
      text += std::to_string(i / 128) + "," + std::to_string(i / 8 % 16) + "," + std::to_string(i % 8);
      for (int k = 0; k < launches; ++k)
        text += "," + std::to_string(1e3 * seconds / launches * (launches == 1 ? 1 : 0.98 + 0.04 * k / (launches - 1)));
      text += ",1," + std::to_string(seconds) + "\n";
    }
    return write_file(folder_.path(), name, text);
  }
  /// Returns the scores of random and hyperband.
  std::pair<double, double> scores(const std::string& space) const {
    const Ran ran = run_program({"deplo", "compare", "--spaces", space, "--search", "random,hyperband", "--repeats",
                                 "60", "--quiet", "--json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const Json json = Json::parse(ran.out);
    const Json& standings = json.at("orders").at(0).at("standings");
    return {standings.at(0).at("score"), standings.at(1).at("score")};
  }
  measure::TemporaryFolder folder_;
};

TEST_F(HyperbandPrograms, ComparisonRewardsEffortThatIsSaved) {
  const auto [random, hyperband] = scores(table("launches.csv", 64));
  EXPECT_GT(hyperband, random + 0.5);
}

TEST_F(HyperbandPrograms, ComparisonSavesNothingWhereOneLaunchWasRecorded) {
  const auto [random, hyperband] = scores(table("single.csv", 1));
  EXPECT_LT(hyperband, random + 0.1) << "but for noise";
}

TEST_F(HyperbandPrograms, TuningStoresEveryEffortAndConfirmsTheBest) {
  const std::string store = folder_.file("s.db");
  const std::string config = write_file(folder_.path(), "tiny.yaml",
                                        "device: interpreter\nbudget: {time: 60, trials: 24}\nkernels:\n"
                                        "  - {kernel: matmul, symbols: {M: 5, N: 6, K: 7}}\n");
  const auto run = [&] {
    const Ran ran = run_program({"deplo-tune", "--store", store, "--config", config, "--search", "hyperband", "--set",
                                 "eta=2", "--set", "R=4", "--json", "--quiet"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out).at("kernels").at(0);
  };
  const auto query = [&](const std::string& sql) {
    measure::sqlite::Database database(store);
    measure::sqlite::Statement statement(database, sql);
    std::vector<std::string> rows;
    while (statement.step()) rows.push_back(statement.text(0));
    return rows;
  };
  const Json first = run();
  EXPECT_TRUE(first.at("confirmed").get<bool>());
  EXPECT_LE(first.at("best_us"), first.at("heuristic_us"));
  // The efforts are a quarter of the five samples, half of them, and all: rounded up, 2, 3 and 5 samples.
  EXPECT_THAT(query("SELECT DISTINCT substr(protocol, instr(protocol, 'samples='), 9) AS samples FROM trial "
                    "WHERE stage = 'screen' ORDER BY 1"),
              ElementsAre("samples=2", "samples=3", "samples=5"));
  EXPECT_THAT(query("SELECT id FROM trial WHERE status = 'ok' AND protocol NOT LIKE '% samples=5 %' AND NOT stopped"),
              IsEmpty());
  EXPECT_THAT(query("SELECT digest FROM trial WHERE stage = 'screen' GROUP BY digest, protocol HAVING count(*) > 1"),
              IsEmpty());
  EXPECT_GT(run().at("known"), 0);
  EXPECT_EQ(engine::read_store(store).size(), 1u) << "guesses are no space";
}

}  // namespace
}  // namespace deplo::testing
