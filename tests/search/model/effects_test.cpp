// Effects of knobs. The expected figures are computed by hand from the sums of squares.
#include "search/model/effects.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"

namespace deplo::search::model {
namespace {

Record timed(double log_time) { return {.outcome = {Status::ok, std::exp(log_time), ""}}; }

// Returns six log times with the mean 0.6333. The sums of squares are 1.7733 in total, 0.0667 within a, 1.71 within b.
Records six() {
  RecordsBuilder builder("test");
  builder.add_knob("a");
  builder.add_knob("b");
  builder.add_knob("always");
  const double logs[2][3] = {{0, 0.2, 0.1}, {1, 1.3, 1.2}};
  for (std::int64_t a = 0; a < 2; ++a)
    for (std::int64_t b = 0; b < 3; ++b) builder.add(std::vector<Value>{a, b, 7}, timed(logs[a][b]));
  builder.add(std::vector<Value>{5, 5, 7}, {.outcome = {Status::build_error, 0, "no"}});
  return builder.finish();
}

TEST(Effects, ShareIsCorrectedForTheNumberOfValues) {
  const std::vector<KnobEffect> effects = knob_effects(six());
  ASSERT_EQ(effects.size(), 2u);  // `always` has a single value, so it has no effect
  EXPECT_EQ(effects[0].knob, "a");
  EXPECT_NEAR(effects[0].share, 1 - 5.0 / 4 * (0.2 / 3) / (5.32 / 3), 1e-12);
  EXPECT_EQ(effects[1].knob, "b");
  EXPECT_EQ(effects[1].share, 0);  // 1 - 5/3 · 1.71/1.7733 is below 0
}

TEST(Effects, FactorsOfValues) {
  const KnobEffect a = knob_effects(six())[0];
  ASSERT_EQ(a.values.size(), 2u);  // the value of the failed record is left out
  EXPECT_EQ(a.values[0].value, Value(std::int64_t{0}));
  EXPECT_EQ(a.values[0].count, 3u);
  EXPECT_NEAR(a.values[0].factor, std::exp(0.1 - 3.8 / 6), 1e-12);
  EXPECT_NEAR(a.values[1].factor, std::exp(3.5 / 3 - 3.8 / 6), 1e-12);
}

TEST(Effects, RandomTimesAreNotExplainedByManyValues) {
  // There are 40 times and 20 values. Eta squared would be about 19/39. A share is never below 0, so the mean share is
  // the mean of the positive part of epsilon squared.
  double sum = 0;
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    RecordsBuilder builder("test");
    builder.add_knob("many");
    builder.add_knob("number");
    for (std::int64_t i = 0; i < 40; ++i) builder.add(std::vector<Value>{i % 20, i}, timed(rng.uniform()));
    for (const KnobEffect& effect : knob_effects(builder.finish()))
      if (effect.knob == "many") sum += effect.share;
  }
  EXPECT_LT(sum / 50, 0.2);
}

TEST(Effects, PairsThatOnlyWorkTogether) {
  RecordsBuilder builder("test");
  for (const char* knob : {"a", "b", "c"}) builder.add_knob(knob);
  for (std::int64_t i = 0; i < 40; ++i) {
    const std::int64_t a = i % 2, b = i / 2 % 2;
    builder.add(std::vector<Value>{a, b, i / 4}, timed(a == b ? 1 : -1));
  }
  const Records records = builder.finish();
  for (const KnobEffect& effect : knob_effects(records)) EXPECT_EQ(effect.share, 0) << effect.knob;
  const std::vector<PairEffect> pairs = pair_effects(records, 3);
  ASSERT_EQ(pairs.size(), 1u);  // pairs with c have only two records for each pair of values
  EXPECT_EQ(pairs[0].first, "a");
  EXPECT_EQ(pairs[0].second, "b");
  EXPECT_NEAR(pairs[0].share, 1, 1e-12);
}

TEST(Effects, NothingFromNothing) {
  RecordsBuilder builder("test");
  builder.add_knob("a");
  builder.add(std::vector<Value>{1}, {.outcome = {Status::hang, 0, ""}});
  EXPECT_TRUE(knob_effects(builder.finish()).empty());
  EXPECT_TRUE(knob_effects({}).empty());
  EXPECT_TRUE(pair_effects({}, 3).empty());
}

}  // namespace
}  // namespace deplo::search::model
