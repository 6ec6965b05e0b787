#include "apps/warm_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/run_program.h"
#include "core/error.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;

TEST(ShapeDistance, IsOfTheNumbersAlone) {
  using apps::shape_distance;
  EXPECT_EQ(shape_distance("for a0 < 64: x[a0*3]", "for a0 < 64: x[a0*3]"), 0);
  EXPECT_DOUBLE_EQ(shape_distance("for a0 < 64: x[a0*3]", "for a0 < 128: x[a0*12]"), std::log(2) + std::log(4));
  EXPECT_DOUBLE_EQ(shape_distance("pad 0", "pad 3"), 3);
  for (const char* other : {"for a0 < 64: y[a0*3]", "for a0 < 64: x[a0*3] ", "for a0 < n: x[a0*3]", ""})
    EXPECT_TRUE(std::isinf(shape_distance("for a0 < 64: x[a0*3]", other))) << other;
  EXPECT_TRUE(std::isinf(shape_distance("99999999999999999999999", "1")));
}

class WarmStore : public ::testing::Test {
 protected:
  WarmStore() {
    auto store = measure::Store::open(path());
    measure::Ids ids = measure::add_context(store);
    add(store, ids, "far", "n < 4096", 3);
    add(store, ids, "same", "n < 64", 3);
    add(store, ids, "poor", "n < 65", 1);  // one time says nothing
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
  const auto found = apps::warm_sources(path(), "n < 64", 4);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].kernel, "same");
  EXPECT_EQ(found[1].kernel, "near");
  EXPECT_EQ(found[2].kernel, "far");
  EXPECT_EQ(found[0].device, "cpu");
  ASSERT_EQ(found[0].trials.size(), 4u);
  EXPECT_EQ(print(found[0].trials[1].trail), "k=1");
  EXPECT_EQ(found[0].trials[1].microseconds, 11);
  EXPECT_EQ(found[0].trials[3].microseconds, std::numeric_limits<double>::infinity());
  EXPECT_EQ(apps::warm_sources(path(), "n < 64", 1).size(), 1u);
  EXPECT_TRUE(apps::warm_sources(path(), "k < 64", 4).empty());
  EXPECT_EQ(
      apps::describe(found),
      "4 trials of same on cpu; 3 trials of near in another shape on cpu; 4 trials of far in another shape on cpu");
}

TEST_F(WarmStore, MustBeThere) {
  EXPECT_THROW(apps::warm_sources(folder_.file("no.db"), "n < 64", 4), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("no.db")));
}

TEST(TuneWarm, BeginsFromAnotherShapeAndRefusesStrategiesWithoutAModel) {
  measure::TemporaryFolder folder;
  const auto experiment = [&](const char* name, int columns) {
    return write_file(
        folder.path(), name,
        "device: interpreter\nbudget: {time: 60, trials: 6}\nkernels:\n  - {kernel: matmul, symbols: {M: 5, N: " +
            std::to_string(columns) + ", K: 7}}\n");
  };
  const std::string first = folder.file("first.db"), small = experiment("small.yaml", 6),
                    wide = experiment("wide.yaml", 9);
  ASSERT_EQ(run_program({"deplo-tune", "--config", small, "--store", first, "--search", "random"}).code, 0);
  const std::vector<std::string> warm = {"deplo-tune",   "--config", wide, "--store", folder.file("second.db"),
                                         "--warm-start", first};
  const Ran ran = run_program(warm);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("in another shape"));
  std::vector<std::string> random = warm;
  random.insert(random.end(), {"--search", "random"});
  const Ran refused = run_program(random);
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("found random"));
}

}  // namespace
}  // namespace deplo::testing
