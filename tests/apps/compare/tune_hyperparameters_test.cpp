#include "apps/compare/tune_hyperparameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/run_program.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SingleChanges, AreTheGridWithoutWhatIsSet) {
  const search::SearcherKind& kind = search::find_searcher("mcts");
  std::size_t values = 0;
  for (const search::Hyperparameter& parameter : kind.parameters) values += grid(parameter).size();
  const auto changes = apps::single_changes(kind, {});
  EXPECT_EQ(changes.size(), values - kind.parameters.size());  // each grid contains the parameter's default
  EXPECT_THAT(changes, Contains(apps::Parameters{{"backup", "mean"}}));
  const auto further = apps::single_changes(kind, {{"backup", "mean"}});
  EXPECT_THAT(further, Contains(apps::Parameters{}));  // the change back to the default
  EXPECT_THAT(further, Not(Contains(apps::Parameters{{"backup", "mean"}})));
  EXPECT_EQ(apps::label("mcts", {{"c", "1"}, {"backup", "mean"}}), "mcts:backup=mean:c=1");
}

class TuneHyperparameters : public ::testing::Test {
 protected:
  /// Writes a table whose times form a valley: neighbours have similar times, so parameters of local search matter.
  std::string table(const std::string& name, int shift) const {
    std::string text = "a,b,c,time (ms)\n";
    for (int a = 0; a < 16; ++a)
      for (int b = 0; b < 16; ++b)
        for (int c = 0; c < 4; ++c) {
          const double away = std::pow(a - 9 - shift, 2) + std::pow(b - 5, 2);
          text += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(c) + "," +
                  std::to_string(1 + away + 3 * ((c * 3 + a) % 4)) + "\n";
        }
    return write_file(folder_.path(), name, text);
  }
  Ran run(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"deplo", "compare", "--tune-hyperparameters", "--repeats", "4", "--quiet"});
    return run_program(flags);
  }
  measure::TemporaryFolder folder_;
};

TEST_F(TuneHyperparameters, TakesTheBestOfTheGridAndScoresItElsewhere) {
  const Ran ran = run({"--spaces", table("a.csv", 0), table("b.csv", 2), "--score-on", table("c.csv", 1), "--search",
                       "ils", "--rounds", "2"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("round 1: mean score on the training spaces, 4 repeats\n"));
  EXPECT_THAT(ran.out, HasSubstr("ils:perturbation="));
  EXPECT_THAT(ran.out, HasSubstr("best: "));
  EXPECT_THAT(ran.out, HasSubstr("on the spaces of --score-on"));
  const Ran again = run({"--spaces", folder_.file("a.csv"), folder_.file("b.csv"), "--score-on", folder_.file("c.csv"),
                         "--search", "ils", "--rounds", "2", "--jobs", "1"});
  EXPECT_EQ(again.out, ran.out);
}

TEST_F(TuneHyperparameters, RefusesWhatWouldBeNoTest) {
  const std::string a = table("a.csv", 0), b = table("b.csv", 2);
  EXPECT_THAT(run({"--spaces", a, b, "--score-on", b, "--search", "ils"}).err,
              HasSubstr("--score-on must name spaces that --spaces does not"));
  EXPECT_THAT(run({"--spaces", a, "--search", "ils,mcts"}).err, HasSubstr("expected one strategy"));
  EXPECT_THAT(run({"--spaces", a, "--search", "random"}).err, HasSubstr("that has parameters"));
  EXPECT_THAT(run({"--spaces", a, "--search", "exec:true"}).err,
              HasSubstr("expected a strategy of deplo, whose values are known, found 'exec:true'"));
  EXPECT_THAT(run({"--spaces", a, "--search", "ils", "--json"}).err,
              HasSubstr("--tune-hyperparameters cannot be combined with --json"));
}

}  // namespace
}  // namespace deplo::testing
