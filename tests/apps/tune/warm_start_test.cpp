#include "engine/tune/warm_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "apps/run_program.h"
#include "core/error.h"
#include "engine/compile/shape_distance.h"
#include "measure/store_fixture.h"
#include "search/records/table_space.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;

TEST(ShapeDistance, IsOfTheNumbersAlone) {
  using engine::shape_distance;
  EXPECT_EQ(shape_distance("for a0 < 64: x[a0*3]", "for a0 < 64: x[a0*3]"), 0);
  EXPECT_DOUBLE_EQ(shape_distance("for a0 < 64: x[a0*3]", "for a0 < 128: x[a0*12]"), std::log(2) + std::log(4));
  EXPECT_DOUBLE_EQ(shape_distance("pad 0", "pad 3"), 3);
  for (const char* other : {"for a0 < 64: y[a0*3]", "for a0 < 64: x[a0*3] ", "for a0 < n: x[a0*3]", ""})
    EXPECT_TRUE(std::isinf(shape_distance("for a0 < 64: x[a0*3]", other))) << other;
  EXPECT_TRUE(std::isinf(shape_distance("1e999", "1")));
  EXPECT_NEAR(shape_distance("divide(acc0, 1e+06)", "divide(acc0, 1000)"), std::log(1000), 1e-9);
}

class WarmStore : public ::testing::Test {
 protected:
  WarmStore() {
    auto store = measure::Store::open(path());
    measure::Ids ids = measure::add_context(store);
    add(store, ids, "far", "n < 4096", 3);
    add(store, ids, "same", "n < 64", 3);
    add(store, ids, "poor", "n < 65", 1);  // a single time gives no information
    add(store, ids, "near", "n < 128", 2);
    add(store, ids, "other", "m < 64", 3);
  }
  static void add(measure::Store& store, measure::Ids ids, const char* name, const char* text, int times) {
    ids.kernel = store.add_kernel({name, text});
    for (int i = 0; i < times; ++i) store.append(measure::some_trial(ids, i, "k=" + std::to_string(i), 10.0 + i));
    measure::TrialRecord failed = measure::some_trial(ids, times, "k=99", 0);
    failed.status = Status::hang;
    store.append(failed);
  }
  std::string path() const { return folder_.file("s.db"); }
  measure::TemporaryFolder folder_;
};

TEST_F(WarmStore, GivesTheSameKernelFirstThenTheNearestShapes) {
  const auto found = engine::warm_sources(path(), "n < 64", 4);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].kernel, "same");
  EXPECT_EQ(found[1].kernel, "near");
  EXPECT_EQ(found[2].kernel, "far");
  EXPECT_EQ(found[0].device, "cpu");
  ASSERT_EQ(found[0].trials.size(), 4u);
  EXPECT_EQ(print(found[0].trials[1].trail), "k=1");
  EXPECT_EQ(found[0].trials[1].microseconds, 11);
  EXPECT_EQ(found[0].trials[3].microseconds, std::numeric_limits<double>::infinity());
  EXPECT_EQ(engine::warm_sources(path(), "n < 64", 1).size(), 1u);
  EXPECT_TRUE(engine::warm_sources(path(), "k < 64", 4).empty());
  EXPECT_EQ(
      engine::describe(found),
      "4 trials of same on cpu; 3 trials of near in another shape on cpu; 4 trials of far in another shape on cpu");
}

TEST_F(WarmStore, MustBeThere) {
  EXPECT_THROW(engine::warm_sources(folder_.file("no.db"), "n < 64", 4), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("no.db")));
}

TEST_F(WarmStore, TheFastestOfEachComeFirstThatExistHere) {
  const auto found = engine::warm_sources(path(), "n < 64", 4);
  // Kernel near has trials of k=0 and k=1, far and same have trials of k=0 to k=2. The space has no k=2.
  search::RecordsBuilder builder("test");
  builder.add_knob("k");
  for (const std::int64_t k : {1, 0}) builder.add(std::array{Value{k}}, {});
  const search::TableSpace space(std::make_shared<search::Records>(builder.finish()));
  const auto first = engine::fastest(found, space, 3);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(print(first[0]->trail()), "k=0");
  EXPECT_EQ(print(first[1]->trail()), "k=1");
  EXPECT_EQ(engine::fastest(found, space, 1).size(), 1u);
  EXPECT_TRUE(engine::fastest({}, space, 3).empty());
}

std::vector<std::string> column(const std::string& store, const std::string& sql) {
  measure::sqlite::Database database(store);
  measure::sqlite::Statement rows(database, sql);
  std::vector<std::string> result;
  while (rows.step()) result.push_back(rows.text(0));
  return result;
}

TEST(TuneWarm, BeginsWithTheFastestOfAnotherShapeWhateverTheStrategy) {
  measure::TemporaryFolder folder;
  const auto experiment = [&](const char* name, int columns) {
    return write_file(folder.path(), name,
                      "device: interpreter\nrestrict: none\nbudget: {time: 60, trials: 8}\nkernels:\n  - {kernel: "
                      "matmul, symbols: {M: 5, N: " +
                          std::to_string(columns) + ", K: 7}}\n");
  };
  const std::string first = folder.file("first.db"), small = experiment("small.yaml", 8),
                    wide = experiment("wide.yaml", 16);
  ASSERT_EQ(run_program({"deplo-tune", "--config", small, "--store", first, "--search", "random"}).code, 0);
  const auto known =
      column(first, "SELECT replace(trail, ' persistent_blocks.blocks=0', '') FROM trial WHERE status = 'ok'");
  for (const char* strategy : {"model", "random"}) {
    const std::string second = folder.file(strategy);
    const Ran ran =
        run_program({"deplo-tune", "--config", wide, "--store", second, "--warm-start", first, "--search", strategy});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("in another shape"));
    EXPECT_THAT(ran.err, HasSubstr("of their schedules first"));
    EXPECT_EQ(ran.err.find("the model learns from all") != std::string::npos, std::string(strategy) == "model");
    // The fork persistent_blocks may exist only for the wider shape. Its option 0 changes nothing, so it is left out
    // here.
    const auto trails =
        column(second, "SELECT replace(trail, ' persistent_blocks.blocks=0', '') FROM trial ORDER BY id");
    ASSERT_GE(trails.size(), 5u);
    EXPECT_THAT(known, ::testing::Contains(trails[1]));  // trails[0] is the heuristic's
  }
}

TEST(TuneWarm, AStoreThatIsNotThereIsToldBeforeAnythingIsMeasured) {
  measure::TemporaryFolder folder;
  const std::string file = write_file(
      folder.path(), "e.yaml", "device: interpreter\nkernels:\n  - {kernel: matmul, symbols: {M: 5, N: 8, K: 7}}\n");
  const std::string store = folder.file("new.db"), missing = folder.file("none.db");
  const Ran ran = run_program({"deplo-tune", "--config", file, "--store", store, "--warm-start", missing});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr(missing + ": expected a store, found no such file"));
  EXPECT_FALSE(std::filesystem::exists(store));
}

}  // namespace
}  // namespace deplo::testing
