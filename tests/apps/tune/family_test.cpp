// Families of shapes: the command line tunes them and uses their rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class TuneFamily : public ::testing::Test {
 protected:
  Json tune(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"deplo", "tune", "--device", "interpreter", "--store", store(), "--time", "60",
                                 "--trials", "4", "--search", "random", "--quiet", "--json"});
    const Ran ran = run_program(flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out);
  }
  std::string refusal(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"deplo", "tune", "--store", store()});
    const Ran ran = run_program(flags);
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  }
  /// Returns the kernel that `deplo bench` reports.
  Json bench(std::vector<std::string> flags) const {
    flags.insert(flags.begin(),
                 {"deplo", "bench", "--device", "interpreter", "--tuned", store(), "--time", "0", "--json"});
    const Ran ran = run_program(flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out)["kernels"][0];
  }
  std::string store() const { return folder_.file("s.db"); }

  measure::TemporaryFolder folder_;
};

TEST_F(TuneFamily, KeepsFewSchedulesAndEveryCommandFollowsTheRule) {
  const Json summary = tune({"-k", "softmax", "-s", "N=12", "--shapes", "M=2..16:pow2", "--held-out", "M=3,11"});
  ASSERT_EQ(summary["families"].size(), 1U);
  const Json& family = summary["families"][0];
  EXPECT_EQ(family["family"], "softmax.N12");
  ASSERT_EQ(family["shapes"].size(), 6U);
  EXPECT_LE(family["schedules"].size(), family["candidates"]);
  EXPECT_LE(family["between"], 4) << "of two gaps";
  for (const Json& shape : family["shapes"]) {
    EXPECT_TRUE(shape["us"].is_number()) << shape;
    EXPECT_LE(shape["best_us"], shape["us"]) << shape;
    if (!shape["held_out"].get<bool>()) {
      EXPECT_LE(shape["loss"], 0.05) << shape;
    }
  }
  EXPECT_EQ(family["shapes"][5]["shape"], "M=11");
  EXPECT_TRUE(family["shapes"][5]["held_out"]);

  // The measured schedules are used, and shapes that were never measured get a schedule, too.
  for (const char* size : {"M=8", "M=11", "M=13"}) {
    const Json kernel = bench({"-k", "softmax", "-s", "N=12", "-s", size, "--require-tuned"});
    EXPECT_EQ(kernel["schedule"], "family") << kernel;
    for (const Json& shape : family["shapes"])
      if (shape["shape"] == size) {
        EXPECT_DOUBLE_EQ(kernel["microseconds"].get<double>(), shape["us"].get<double>());
      }
  }
  EXPECT_EQ(bench({"-k", "softmax", "-s", "N=12", "-s", "M=17"})["schedule"], "heuristic");
  const Ran outside = run_program({"deplo", "bench", "-k", "softmax", "-s", "N=12", "-s", "M=17", "--device",
                                   "interpreter", "--tuned", store(), "--time", "0"});
  EXPECT_THAT(outside.out, HasSubstr("the sizes are outside the family softmax.N12"));
  EXPECT_EQ(bench({"-k", "softmax", "-s", "N=13", "-s", "M=8"})["schedule"], "heuristic");
  const Ran run = run_program({"deplo", "run", "-c", "F.softmax(torch.randn(M, 12), dim=-1)", "-s", "M=5", "--device",
                               "interpreter", "--tuned", store()});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1 family"));

  // A pack contains the rule, too.
  ASSERT_EQ(run_program({"deplo", "db", "export", "--store", store(), "--pack", folder_.file("f.pack")}).code, 0);
  const Ran packed = run_program({"deplo", "bench", "-k", "softmax", "-s", "N=12", "-s", "M=13", "--device",
                                  "interpreter", "--tuned", folder_.file("f.pack"), "--time", "0"});
  EXPECT_THAT(packed.out, HasSubstr("family"));

  // `deplo db families` shows the family, also for a store into which the pack was merged.
  ASSERT_EQ(run_program({"deplo", "db", "merge", folder_.file("m.db"), folder_.file("f.pack")}).code, 0);
  for (const std::string& file : {store(), folder_.file("m.db")}) {
    const Json rows = Json::parse(run_program({"deplo", "db", "families", file, "--json"}).out);
    ASSERT_EQ(rows.size(), family["schedules"].size());
    EXPECT_EQ(rows[0]["family"], "softmax.N12");
    EXPECT_EQ(rows[0]["sizes"], "M=2..16");
    EXPECT_EQ(rows[0]["state"], "current");
    EXPECT_EQ(rows[0]["schedule"], "A");
    EXPECT_LE(rows[0]["loss_percent"], 5);
  }

  // A shape that is tuned on its own afterwards uses its own schedule again. If deplo's rules have changed, the
  // family's rule is not used any more.
  tune({"-k", "softmax", "-s", "N=12", "-s", "M=8", "--retry-failed", "--seed", "1"});
  EXPECT_EQ(bench({"-k", "softmax", "-s", "N=12", "-s", "M=8"})["schedule"], "tuned");
  measure::sqlite::Database(store()).execute("UPDATE run SET pipeline = 'older'");
  EXPECT_EQ(bench({"-k", "softmax", "-s", "N=12", "-s", "M=15"})["schedule"], "heuristic") << "nothing measured it";
}

TEST_F(TuneFamily, EachKernelOfAnExpressionIsAFamily) {
  const Json summary = tune({"-c", "torch.exp(torch.randn(B, 4)) @ torch.randn(4, W)", "-s", "W=6", "--shapes", "B=2,4",
                             "--held-out", "0", "--max-loss", "1000", "--loss-over", "mean"});
  ASSERT_GE(summary["families"].size(), 1U);
  for (const Json& family : summary["families"]) {
    EXPECT_EQ(family["goal"], "mean");
    EXPECT_EQ(family["max_loss"], 10);
    EXPECT_EQ(family["schedules"].size(), 1U) << "any schedule will do";
    EXPECT_EQ(family["shapes"].size(), 2U);
  }
}

TEST_F(TuneFamily, MistakesAreToldInOneLine) {
  EXPECT_THAT(refusal({"-k", "softmax", "--shapes", "M=1,2"}), HasSubstr("N"));
  EXPECT_THAT(refusal({"-k", "softmax", "-s", "N=4", "--shapes", "M"}), HasSubstr("--shapes: expected NAME=SIZES"));
  EXPECT_THAT(refusal({"-k", "softmax", "-s", "N=4", "--shapes", "M=1,2", "--held-out", "M=x"}),
              HasSubstr("--held-out: expected sizes such as"));
  for (const char* number : {"3", "-1", "x", "1.5"})
    EXPECT_THAT(
        refusal({"-k", "softmax", "-s", "N=4", "--shapes", "M=1,2", "--held-out", number}),
        HasSubstr(std::string("--held-out: expected shapes such as M=3, or their number, between 0 and 2, found '") +
                  number + "'"));
  EXPECT_THAT(refusal({"--config", "e.yaml", "--shapes", "M=1"}), HasSubstr("--shapes"));
  EXPECT_THAT(refusal({"-k", "softmax", "-s", "N=4", "-s", "M=2", "--held-out", "M=1"}),
              HasSubstr("--held-out requires --shapes"));
  EXPECT_THAT(refusal({"-k", "softmax", "-s", "N=4", "--shapes", "M=1,2", "--shard", "1/2"}), HasSubstr("--shard"));
  EXPECT_THAT(refusal({"-k", "softmax", "-s", "N=4", "--shapes", "M=1,2", "--loss-over", "sum"}),
              HasSubstr("expected one of worst, mean"));
}

}  // namespace
}  // namespace deplo::testing
