// Searches that begin with the analytic model: on a store whose times nearly follow it.
#include "apps/analytic_prior.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/kernel.h"
#include "apps/run_program.h"
#include "core/rng.h"
#include "measure/roofline.h"
#include "measure/store_fixture.h"
#include "rules/features.h"
#include "rules/lower.h"

namespace deplo::apps {
namespace {

using deplo::testing::Ran;
using deplo::testing::run_program;
using ::testing::HasSubstr;

constexpr int trails = 60;

double roofline_of(const rules::Lowering& lowering) {
  return measure::roofline_us(rules::features(lowering.program(), lowering.target()), lowering.target(), {});
}

class AnalyticPrior : public ::testing::Test {
 protected:
  AnalyticPrior() {
    auto store = measure::Store::open(path());
    measure::Ids ids = measure::add_context(store);
    const std::int64_t device = store.add_device(info_);
    ids.run =
        store.add_run({.device = device, .revision = "", .config = "", .searcher = "random", .seed = 0, .host = ""});
    ids.kernel = store.add_kernel({"matmul", print(loop_)});
    Rng rng(5);
    for (int i = 0; i < trails; ++i) {
      rules::Lowering lowering(loop_, target_);
      while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
      store.append(measure::some_trial(ids, i, print(lowering.trail()), roofline_of(lowering) * rng.uniform(1, 1.05)));
    }
    store.append(measure::some_trial(ids, trails, "no.such=1", 10.0));  // of rules that are gone
  }
  std::string path() const { return folder_.file("s.db"); }
  Ran compare(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"deplo", "compare", "--quiet"});
    return run_program(flags);
  }

  measure::TemporaryFolder folder_;
  const measure::DeviceInfo info_{"opencl", "a CPU", "vendor", "1", "platform", 2, 2000, 1 << 20, 64, true};
  const Target target_ = measure::target_of(info_);
  const ir::Program loop_ = load_kernel("matmul", {{"M", 64}, {"N", 96}, {"K", 80}}, "test");
};

TEST_F(AnalyticPrior, RecordsCarryTheModelsTimes) {
  const std::vector<StoredSpace> spaces = read_stored_spaces(path());
  ASSERT_EQ(spaces.size(), 1U);
  const search::Records& records = spaces[0].records;
  const auto analytic = analytic_records(spaces[0]);
  ASSERT_NE(analytic, nullptr);
  ASSERT_EQ(analytic->records.size() + 1, records.records.size()) << "one is of rules that are gone";
  for (std::size_t row = 0; row < analytic->records.size(); ++row) {
    EXPECT_TRUE(std::ranges::equal(analytic->options_of(row), records.options_of(row)));
    const double noise = records.records[row].outcome.microseconds / analytic->records[row].outcome.microseconds;
    EXPECT_GE(noise, 1 - 1e-9);
    EXPECT_LE(noise, 1.05);
  }
  StoredSpace imported = spaces[0];
  imported.kernel_text = "recorded other\nk 1 2\n";
  EXPECT_EQ(analytic_records(imported), nullptr);
}

TEST_F(AnalyticPrior, DrawsSchedulesAndTheHeuristics) {
  const KernelSpace space(loop_, target_);
  const search::Source source = analytic_source(space, {}, 20, 3);
  ASSERT_GT(source.size(), 15U);
  ASSERT_LE(source.size(), 21U);
  EXPECT_EQ(print(source[0].trail), print(search::heuristic(space)->trail()));
  for (const search::Experience& each : source)
    EXPECT_DOUBLE_EQ(each.microseconds, roofline_of(rules::follow(loop_, target_, each.trail)));
  EXPECT_NE(print(analytic_source(space, {}, 20, 4)[1].trail), print(source[1].trail));
}

TEST_F(AnalyticPrior, AModelThatBeginsWithATrueOneComesFarther) {
  const std::vector<std::string> flags{"--spaces", path(), "--search", "random,model", "--repeats", "10", "--json"};
  std::vector<std::string> with = flags;
  with.insert(with.end(), {"--analytic-prior", "40"});
  const Ran cold = compare(flags), warm = compare(with);
  ASSERT_EQ(cold.code, 0) << cold.err;
  ASSERT_EQ(warm.code, 0) << warm.err;
  const auto score = [](const Ran& ran, int strategy) {
    return nlohmann::json::parse(ran.out)["orders"][0]["standings"][strategy]["score"].get<double>();
  };
  EXPECT_EQ(score(cold, 0), score(warm, 0)) << "random does not learn";
  EXPECT_GT(score(warm, 1), score(cold, 1) + 0.2);
  EXPECT_THAT(warm.out, HasSubstr("s/matmul/analytic"));
  EXPECT_EQ(compare(with).out, warm.out);
}

TEST_F(AnalyticPrior, TuneBeginsWithItWhereNothingWarmerIsKnown) {
  const std::string file = deplo::testing::write_file(folder_.path(), "x.yaml",
                                                      "device: interpreter\ntarget: opencl-cpu\nbudget: {trials: 3}\n"
                                                      "kernels:\n  - {kernel: gelu, symbols: {M: 2, N: 6}}\n");
  const auto tune = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"deplo-tune", "-c", file, "--store", folder_.file("t.db"), "--analytic-prior", "4"});
    const Ran ran = run_program(flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(tune({}), HasSubstr("analytic prior: "));
  EXPECT_THAT(tune({"--search", "random"}), HasSubstr("analytic prior: random learns from none"));
  EXPECT_THAT(tune({"--warm-start", path()}), HasSubstr("analytic prior: ")) << "a store of other kernels alone";
  measure::Database store(folder_.file("t.db"));
  measure::Statement config(store, "SELECT config FROM run");
  ASSERT_TRUE(config.step());
  EXPECT_THAT(config.text(0), HasSubstr("--analytic-prior 4"));
}

TEST_F(AnalyticPrior, Mistakes) {
  const std::vector<std::string> flags{"--spaces", path(), "--analytic-prior", "40"};
  std::vector<std::string> both = flags;
  both.insert(both.end(), {"--warm-start", "3"});
  EXPECT_THAT(compare(both).err, HasSubstr("--analytic-prior: expected it without --warm-start"));
  const std::string table = deplo::testing::write_file(folder_.path(), "x.csv", "k,time (ms)\n1,2\n2,3\n3,5\n");
  const Ran none = compare({"--spaces", table, "--analytic-prior", "40"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("--analytic-prior: expected a store with schedules"));
}

}  // namespace
}  // namespace deplo::apps
