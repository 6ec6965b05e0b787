// Searches that begin with a model's times. The measured times in the store nearly follow the model.
#include "engine/learn/prior.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "core/rng.h"
#include "engine/loop/kernel.h"
#include "measure/store_fixture.h"
#include "rules/cost/features.h"
#include "rules/cost/roofline.h"
#include "rules/lower.h"
#include "search/compare/rank_quality.h"

namespace deplo::apps {
namespace {

using deplo::testing::Ran;
using deplo::testing::run_program;
using ::testing::HasSubstr;

constexpr int trails = 60;

double roofline_of(const rules::Lowering& lowering) {
  return rules::roofline_us(rules::features(lowering.program(), lowering.target()), lowering.target(), {});
}

class Priors : public ::testing::Test {
 protected:
  Priors() {
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
    // a trail of a rule that does not exist any more
    store.append(measure::some_trial(ids, trails, "no.such=1", 10.0));
  }
  std::string path() const { return folder_.file("s.db"); }
  Ran compare(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"deplo", "compare", "--quiet"});
    return run_program(flags);
  }

  measure::TemporaryFolder folder_;
  const measure::DeviceInfo info_{"opencl", "a CPU", "vendor", "1", "platform", 2, 2000, 1 << 20, 64, true};
  const Target target_ = measure::target_of(info_);
  const ir::Program loop_ = engine::load_kernel("matmul", {{"M", 64}, {"N", 96}, {"K", 80}}, "test");
};

TEST_F(Priors, RecordsCarryTheModelsTimes) {
  const std::vector<engine::StoredSpace> spaces = engine::read_stored_spaces(path());
  ASSERT_EQ(spaces.size(), 1U);
  const search::Records& records = spaces[0].records;
  const auto analytic = engine::prior_records(spaces[0], engine::analytic_prior(), "analytic");
  ASSERT_NE(analytic, nullptr);
  ASSERT_EQ(analytic->records.size() + 1, records.records.size()) << "one is of rules that are gone";
  for (std::size_t row = 0; row < analytic->records.size(); ++row) {
    EXPECT_TRUE(std::ranges::equal(analytic->options_of(row), records.options_of(row)));
    const double noise = records.records[row].outcome.microseconds / analytic->records[row].outcome.microseconds;
    EXPECT_GE(noise, 1 - 1e-9);
    EXPECT_LE(noise, 1.05);
  }
  engine::StoredSpace imported = spaces[0];
  imported.kernel_text = "recorded other\nk 1 2\n";
  EXPECT_EQ(engine::prior_records(imported, engine::analytic_prior(), "analytic"), nullptr);
}

TEST_F(Priors, DrawsSchedulesAndTheHeuristics) {
  const engine::KernelSpace space(loop_, target_);
  const search::SourceTask source = engine::prior_source(space, {}, 20, 3, engine::analytic_prior());
  ASSERT_GT(source.size(), 15U);
  ASSERT_LE(source.size(), 21U);
  EXPECT_EQ(print(source[0].trail), print(search::heuristic(space)->trail()));
  for (const search::Experience& each : source)
    EXPECT_DOUBLE_EQ(each.microseconds, roofline_of(rules::follow(loop_, target_, each.trail).value()));
  EXPECT_NE(print(engine::prior_source(space, {}, 20, 4, engine::analytic_prior())[1].trail), print(source[1].trail));
}

TEST_F(Priors, AModelThatBeginsWithATrueOneComesFarther) {
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

TEST_F(Priors, TuneBeginsWithItWhereNothingWarmerIsKnown) {
  const std::string file = deplo::testing::write_file(folder_.path(), "x.yaml",
                                                      "device: interpreter\ntarget: opencl-cpu\nbudget: {trials: 3}\n"
                                                      "kernels:\n  - {kernel: gelu, symbols: {M: 2, N: 6}}\n");
  const auto tune = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(),
                 {"deplo-tune", "--config", file, "--store", folder_.file("t.db"), "--analytic-prior", "4"});
    const Ran ran = run_program(flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(tune({}), HasSubstr("analytic prior: "));
  EXPECT_THAT(tune({"--search", "random"}), HasSubstr("analytic prior: random does not learn"));
  EXPECT_THAT(tune({"--warm-start", path(), "--search", "random"}),
              HasSubstr("has no trials of this kernel; cold start"));
  measure::sqlite::Database store(folder_.file("t.db"));
  measure::sqlite::Statement config(store, "SELECT config FROM run");
  ASSERT_TRUE(config.step());
  EXPECT_THAT(config.text(0), HasSubstr("--analytic-prior 4"));
}

// The prior of 100,000 schedules alone would take longer than the budget.
TEST_F(Priors, NothingIsLoweredForAStrategyThatDoesNotLearn) {
  const std::string file =
      deplo::testing::write_file(folder_.path(), "x.yaml",
                                 "device: interpreter\ntarget: opencl-cpu\nbudget: {time: 20, "
                                 "trials: 3}\nkernels:\n  - {kernel: gelu, symbols: {M: 2, N: 6}}\n");
  const Ran ran = run_program({"deplo-tune", "--config", file, "--store", folder_.file("t.db"), "--analytic-prior",
                               "100000", "--search", "random", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("analytic prior: random does not learn"));
  EXPECT_EQ(nlohmann::json::parse(ran.out)["kernels"][0]["trials"], 3);
}

TEST_F(Priors, TuneLearnsFromTheOtherKernelsOfAStore) {
  const std::string file = deplo::testing::write_file(folder_.path(), "x.yaml",
                                                      "device: interpreter\ntarget: opencl-cpu\nbudget: {trials: 3}\n"
                                                      "kernels:\n  - {kernel: gelu, symbols: {M: 2, N: 6}}\n");
  const Ran ran =
      run_program({"deplo-tune", "--config", file, "--store", folder_.file("t.db"), "--warm-start", path()});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("has no trials of this kernel; trees trained on its other kernels"));
}

/// Returns a kernel whose times are the first number of each point, which the analytic model does not know.
search::model::Labelled set_of(const std::string& kernel, int seed) {
  search::model::Labelled set{kernel, "d", kernel, {3, {}}, {}, {}};
  Rng rng(static_cast<std::uint64_t>(seed));
  for (int i = 0; i < 80; ++i) {
    float* const point = set.points.add();
    for (int k = 0; k < 3; ++k) point[k] = static_cast<float>(rng.uniform(0, 4));
    set.logs.push_back(point[0]);
    set.analytic.push_back(rng.uniform(0, 0.5));
  }
  return set;
}

TEST_F(Priors, ALearnedOneKnowsWhatTheAnalyticModelDoesNot) {
  const search::model::Labelled asked = set_of("c", 3);
  const engine::Prior prior = engine::learned_prior({set_of("a", 1), set_of("b", 2)}, 0);
  EXPECT_GT(search::compare::spearman(asked.logs, prior(asked)), 0.9);
  EXPECT_LT(search::compare::spearman(asked.logs, engine::analytic_prior()(asked)), 0.5);
  EXPECT_TRUE(engine::learned_prior({set_of("c", 1)}, 0)(asked).empty()) << "its own times tell nothing new";
}

TEST_F(Priors, Mistakes) {
  const std::vector<std::string> flags{"--spaces", path(), "--analytic-prior", "40"};
  std::vector<std::string> both = flags;
  both.insert(both.end(), {"--warm-start", "3"});
  EXPECT_THAT(compare(both).err, HasSubstr("--warm-start, --analytic-prior and --learned-prior cannot be combined"));
  EXPECT_THAT(compare({"--spaces", path(), "--learned-prior", "40"}).err, HasSubstr("and other kernels to learn from"));
  const std::string table = deplo::testing::write_file(folder_.path(), "x.csv", "k,time (ms)\n1,2\n2,3\n3,5\n");
  const Ran none = compare({"--spaces", table, "--analytic-prior", "40"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("--analytic-prior: expected a store among --spaces with schedules"));
}

}  // namespace
}  // namespace deplo::apps
