// The candidates that a model is given to rank.
#include "search/model/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "search/records/table_space.h"
#include "search/strategies/model_parameters.h"
#include "search/tables.h"

namespace deplo::search::model {
namespace {

constexpr std::array parameters = {strategies::pool_parameter, strategies::mutants_parameter,
                                   strategies::design_parameter, strategies::climb_parameter};

Trail trail_of(const std::vector<std::int64_t>& values) {
  Trail trail;
  for (std::size_t i = 0; i < values.size(); ++i) trail.push_back({"p" + std::to_string(i), Value{values[i]}});
  return trail;
}

class PoolOfFive : public ::testing::Test {
 protected:
  // 100,000 configurations.
  static std::shared_ptr<const Records> records() {
    static const auto all = tables::grid({10, 10, 10, 10, 10}, [](const tables::Options&) { return 1.0; });
    return all;
  }
  Pool make(const char* size, const char* mutants) {
    return Pool(space_, Settings("toy", parameters, {.seed = 1, .parameters = {{"pool", size}, {"mutants", mutants}}}),
                encoding_, rng_);
  }
  // Returns the number of samples for each number of choices in which they differ from the trail.
  std::map<std::size_t, std::size_t> distances(const std::vector<SamplePtr>& samples, const Trail& from) {
    std::map<std::size_t, std::size_t> counts;
    for (const SamplePtr& sample : samples) {
      const Trail trail = follow(space_, *sample)->trail();
      std::size_t different = 0;
      for (std::size_t i = 0; i < trail.size(); ++i) different += trail[i] != from[i] ? 1 : 0;
      ++counts[different];
    }
    return counts;
  }
  TableSpace space_{records()};
  Encoding encoding_;
  Rng rng_{7};
  const Trail fastest_ = trail_of({3, 1, 4, 1, 5});
};

TEST_F(PoolOfFive, WithoutAnythingToldIsRandom) {
  Pool pool = make("100", "80");
  EXPECT_EQ(pool.candidates({}).size(), 50U);
  EXPECT_LE(distances(pool.candidates({}), fastest_)[1], 3U);  // only 45 of 100,000 configurations are that near
}

TEST_F(PoolOfFive, HasAllNeighboursOfTheFastestAndMutantsOfTwoToFourChoices) {
  Pool pool = make("2", "80");
  pool.asked(encoding_.codes(fastest_));
  auto counts = distances(pool.candidates({fastest_}), fastest_);
  EXPECT_EQ(counts[0], 0U);
  EXPECT_EQ(counts[1], 5U * 9U);
  for (const std::size_t changes : {2, 3, 4}) EXPECT_GE(counts[changes], 3U) << changes;
  EXPECT_GE(counts[2] + counts[3] + counts[4], 40U);
  EXPECT_LE(counts[2] + counts[3] + counts[4] + counts[5], 41U);
  Pool none = make("2", "0");
  counts = distances(none.candidates({fastest_}), fastest_);
  EXPECT_LE(counts[2] + counts[3] + counts[4] + counts[5], 1U);
}

// There are 40 mutants and a random candidate. None of them is asked for, because another one would be drawn in its
// place.
TEST_F(PoolOfFive, ATwentiethIsNewForEachEvaluationAndAQuarterAtMost) {
  Pool pool = make("2", "80");
  std::int64_t other = 0;
  const auto fresh_after = [&](int asked) {
    std::set<Codes> before;
    for (const SamplePtr& sample : pool.candidates({fastest_})) before.insert(sample->codes);
    for (; asked > 0; --asked, ++other) pool.asked(encoding_.codes(trail_of({other % 10, 9, 9, 9, other / 10})));
    std::size_t fresh = 0;
    for (const SamplePtr& sample : pool.candidates({fastest_})) fresh += before.contains(sample->codes) ? 0 : 1;
    return fresh;
  };
  EXPECT_EQ(fresh_after(0), 0U);
  EXPECT_EQ(fresh_after(1), 2U + 1U);
  EXPECT_EQ(fresh_after(3), 6U + 1U);
  EXPECT_EQ(fresh_after(9), 10U + 1U);
}

TEST_F(PoolOfFive, HalfUntil200AllFrom400) {
  Pool pool = make("100", "0");
  std::int64_t asked = 0;
  const auto size_after = [&](std::int64_t count) {
    for (; asked < count; ++asked)
      pool.asked(encoding_.codes(trail_of({9, 9, asked / 100, asked / 10 % 10, asked % 10})));
    return pool.candidates({}).size();
  };
  EXPECT_EQ(size_after(0), 50U);
  EXPECT_EQ(size_after(200), 50U);
  EXPECT_EQ(size_after(300), 75U);
  EXPECT_EQ(size_after(400), 100U);
  EXPECT_EQ(size_after(500), 100U);
}

TEST_F(PoolOfFive, NewOnesComeForTheWorst) {
  Pool pool = make("80", "0");
  const std::vector<SamplePtr> first = pool.candidates({});
  ASSERT_EQ(first.size(), 40U);
  std::vector<double> bounds;
  for (std::size_t i = 0; i < first.size(); ++i) bounds.push_back(i % 4 == 1 ? 1 : -static_cast<double>(i));
  pool.ranked(bounds);
  for (std::int64_t i = 0; i < 5; ++i) pool.asked(encoding_.codes(trail_of({9, 9, 9, 9, i})));
  std::set<SamplePtr> left;
  for (const SamplePtr& sample : pool.candidates({})) left.insert(sample);
  EXPECT_EQ(left.size(), 40U);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(left.contains(first[i]), i % 4 != 1) << i;
}

TEST_F(PoolOfFive, NothingSeenStays) {
  Pool pool = make("2", "80");
  for (const SamplePtr& sample : pool.candidates({fastest_})) pool.asked(sample->codes);
  for (const SamplePtr& sample : pool.candidates({fastest_})) EXPECT_FALSE(pool.seen(*sample));
}

// A design draws until hardly any candidate is new: hundreds of its draws lead to known ones.
TEST(Pool, ListsASmallSpaceOnceDrawsAreInVain) {
  const auto records = tables::grid({5, 5, 5}, [](const tables::Options&) { return 1.0; });
  const TableSpace space(records);
  Encoding encoding;
  Rng rng(7);
  Pool pool(space, Settings("toy", parameters, {.seed = 1, .parameters = {{"pool", "20"}, {"mutants", "0"}}}), encoding,
            rng);
  EXPECT_EQ(pool.candidates({}).size(), 10U);
  for (int i = 0; i < 10; ++i) pool.design(1);
  const std::vector<SamplePtr> all = pool.candidates({});
  EXPECT_EQ(all.size(), 125U);
  pool.ranked(std::vector<double>(all.size()));
  pool.asked(all[0]->codes);
  EXPECT_EQ(pool.candidates({}).size(), 124U);
}

TEST_F(PoolOfFive, KeepsAWishUntilItIsAsked) {
  Pool pool = make("1", "0");
  const Trail wish = trail_of({9, 9, 9, 9, 9});
  pool.keep(wish);
  const Codes codes = encoding_.codes(wish);
  const auto has = [&] {
    const std::vector<SamplePtr> samples = pool.candidates({});
    return std::ranges::count(samples, codes, [](const SamplePtr& sample) { return sample->codes; }) == 1;
  };
  EXPECT_TRUE(has());
  EXPECT_TRUE(has());
  pool.asked(codes);
  EXPECT_FALSE(has());
}

}  // namespace
}  // namespace deplo::search::model
