// `deplo model eval` as a user runs it, on a store whose times follow the roofline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/run_program.h"
#include "core/rng.h"
#include "engine/learn/labelled.h"
#include "engine/loop/kernel.h"
#include "measure/store_fixture.h"
#include "rules/cost/features.h"
#include "rules/cost/roofline.h"
#include "rules/lower.h"
#include "search/compare/rank_quality.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;

constexpr int trails = 40;

class ModelEval : public ::testing::Test {
 protected:
  ModelEval() {
    auto store = measure::Store::open(path());
    measure::DeviceInfo info{"opencl", "a CPU", "vendor", "1", "platform", 2, 2000, 1 << 20, 64, true};
    measure::Ids ids = measure::add_context(store);
    const std::int64_t device = store.add_device(info);
    ids.run =
        store.add_run({.device = device, .revision = "", .config = "", .searcher = "random", .seed = 0, .host = ""});
    const std::pair<const char*, ir::Symbols> kernels[] = {{"matmul", {{"M", 64}, {"N", 96}, {"K", 80}}},
                                                           {"rmsnorm", {{"M", 64}, {"D", 512}}},
                                                           {"softmax", {{"M", 48}, {"N", 256}}}};
    const Target target = measure::target_of(info);
    for (const auto& [name, symbols] : kernels) {
      const ir::Program loop = engine::load_kernel(name, symbols, "test");
      ids.kernel = store.add_kernel({name, print(loop)});
      Rng rng(6);
      for (int i = 0; i < trails; ++i) {
        rules::Lowering lowering(loop, target);
        while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
        const double us = rules::roofline_us(rules::features(lowering.program(), target), target, {});
        store.append(measure::some_trial(ids, i, print(lowering.trail()), us * rng.uniform(1, 1.05)));
      }
    }
    // a trail of a rule that does not exist any more
    store.append(measure::some_trial(ids, trails, "no.such=1", 10.0));
  }
  std::string path() const { return folder_.file("s.db"); }
  measure::TemporaryFolder folder_;
};

TEST_F(ModelEval, EachKernelIsLeftOutOnce) {
  const Ran ran = run_program({"deplo", "model", "eval", "--store", path(), "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto rows = nlohmann::json::parse(ran.out);
  ASSERT_EQ(rows.size(), 12U);  // three kernels and the mean, for each of three models
  std::set<std::string> names;
  for (const auto& row : rows) {
    names.insert(row["left out"]);
    if (row["left out"] != "mean") {
      EXPECT_EQ(row["learned from"], 2);
    }
    EXPECT_GT(row["spearman"], 0.9) << row;  // the times are those of the roofline with up to 5 % of noise
    EXPECT_GE(row["90 % covers"], 0.5) << row;
  }
  EXPECT_EQ(names, (std::set<std::string>{"matmul", "rmsnorm", "softmax", "mean"}));
  EXPECT_EQ(run_program({"deplo", "model", "eval", "--store", path(), "--json"}).out, ran.out);
  const Ran table = run_program({"deplo", "model", "eval", "--store", path(), "--top", "5"});
  EXPECT_THAT(table.out, HasSubstr("top-5 recall"));
}

TEST_F(ModelEval, ANarrowWindowHasFewerColumns) {
  How how;
  how.terminal = 80;
  const Ran ran = run_program({"deplo", "model", "eval", "--store", path()}, how);
  const std::vector<std::string> lines = screen(ran.out, 80);
  const auto heads = std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("left out  "); });
  ASSERT_EQ(lines.end() - heads, 13) << ran.out;  // three kernels and the mean, for each of three models
  EXPECT_THAT(*heads, ::testing::AllOf(HasSubstr("  spearman  "), ::testing::Not(HasSubstr("learned from"))));
}

TEST_F(ModelEval, PointsAreATable) {
  const std::string file = folder_.file("points.csv");
  ASSERT_EQ(run_program({"deplo", "model", "eval", "--store", path(), "--points", file}).code, 0);
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  EXPECT_THAT(line, HasSubstr("kernel,device,us,analytic_us,blocks,threads"));
  const auto columns = std::ranges::count(line, ',');
  int rows = 0;
  for (; std::getline(stream, line); ++rows) EXPECT_EQ(std::ranges::count(line, ','), columns);
  std::size_t records = 0;
  for (const search::model::Labelled& set : engine::label_store(path(), 1)) records += set.logs.size();
  EXPECT_EQ(rows, static_cast<int>(records));
  EXPECT_GT(records, 2U * trails);  // equal trails count once
}

TEST_F(ModelEval, MistakesAreNamed) {
  EXPECT_THAT(run_program({"deplo", "model", "eval"}).err, HasSubstr("expected --store or --spaces, found none"));
  EXPECT_THAT(run_program({"deplo", "model", "eval", "--store", "/no/such.db"}).err, HasSubstr("found no such file"));
  EXPECT_THAT(run_program({"deplo", "model", "eval", "--store", path(), "--leave-out", "x"}).err,
              HasSubstr("kernel or device"));
  auto store = measure::Store::open(folder_.file("hollow.db"));  // Loop IR without an output, which is not a kernel
  store.append(measure::some_trial(measure::add_context(store), 0, "", 1));
  const Ran hollow = run_program({"deplo", "model", "eval", "--store", folder_.file("hollow.db")});
  EXPECT_EQ(hollow.code, 1);
  EXPECT_EQ(hollow.err, "deplo: matmul 4x4x4: expected at least one output, found none\n");
  const Ran alone = run_program({"deplo", "model", "eval", "--store", path(), "--leave-out", "device"});
  EXPECT_EQ(alone.code, 1);
  EXPECT_THAT(alone.err, HasSubstr("--leave-out device: expected a device to leave out"));
  EXPECT_THAT(alone.err, HasSubstr(" on 1 device\n"));
}

// Times that were measured on PoCL: the roofline, which was not fitted to them, must roughly order each kernel's
// schedules. A perfect order is not expected. When the file was made, some kernels had one accumulator and were slower.
// They have four now, which the roofline takes into account.
TEST(Roofline, OrdersWhatWasMeasured) {
  const measure::TemporaryFolder folder;
  const std::string file = folder.file("s.db");
  std::filesystem::copy_file(DEPLO_SOURCE_DIR "/experiments/results/kernel_spaces.db", file);
  const auto sets = engine::label_store(file, 50);
  if (sets.empty()) GTEST_SKIP() << "the rules have changed since: no trail fits";
  for (const search::model::Labelled& set : sets)
    EXPECT_GT(search::compare::spearman(set.logs, set.analytic), 0.45) << set.kernel;
}

// 7 * 6 records with two knobs. Their features are log2 of each knob, the product and the ratio.
TEST(Labelled, RecordsOfOtherProgramsHaveTheirKnobsAndPairs) {
  search::RecordsBuilder builder("test");
  builder.add_knob("x");
  builder.add_knob("y");
  for (std::int64_t x = 1; x <= 64; x *= 2)
    for (std::int64_t y = 1; y <= 6; ++y) {
      search::Record record;
      record.outcome = {Status::ok, static_cast<double>(x + y), ""};
      builder.add(std::vector<Value>{x, y}, record);
    }
  const auto sets = engine::label_records(builder.finish(), 20);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].points.dimensions, 4U);
  EXPECT_EQ(sets[0].logs.size(), 42U);
  const float* const last = &sets[0].points.values[41 * 4];  // the last record: x = 64, y = 6
  EXPECT_FLOAT_EQ(last[0], 6);
  EXPECT_FLOAT_EQ(last[2], 6 + std::log2(6.0F));
  EXPECT_FLOAT_EQ(last[3], 6 - std::log2(6.0F));
  EXPECT_TRUE(sets[0].analytic.empty());
}

// log2(1) is 0, too. So a switch, and a knob with numbers and text, must keep one value for each option.
TEST(Labelled, OptionsNeverShareAValue) {
  search::RecordsBuilder builder("test");
  builder.add_knob("switch");
  builder.add_knob("mixed");
  const std::vector<Value> mixed = {std::int64_t{1}, std::string("none"), std::int64_t{2}};
  for (std::int64_t on = 0; on < 2; ++on)
    for (const Value& other : mixed) {
      search::Record record;
      record.outcome = {Status::ok, 1, ""};
      builder.add(std::vector<Value>{on, other}, record);
    }
  const auto sets = engine::label_records(builder.finish(), 6);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].points.dimensions, 2U) << "a knob that is not of numbers only has no products";
  std::set<std::pair<float, float>> points;
  for (std::size_t i = 0; i < 6; ++i) points.emplace(sets[0].points.values[2 * i], sets[0].points.values[2 * i + 1]);
  EXPECT_EQ(points.size(), 6U);
}

}  // namespace
}  // namespace deplo::testing
