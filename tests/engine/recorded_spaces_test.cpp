// Checks experiments/results/recorded_spaces.db.gz, which docs/comparing.md and experiments/results/recorded_spaces.md
// describe.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "core/file.h"
#include "engine/learn/prior.h"
#include "engine/learn/recorded.h"

namespace deplo::engine {
namespace {

TEST(RecordedSpaces, AreWholeAndKnowTheUntunedSchedule) {
  const std::string file = (data_folder() / "experiments/results/recorded_spaces.db.gz").string();
  ASSERT_TRUE(is_store(file));
  std::vector<StoredSpace> spaces = read_stored_spaces(file);
  EXPECT_EQ(spaces.size(), 18U);
  std::set<std::string> names;
  std::size_t schedules = 0;
  for (const StoredSpace& space : spaces) {
    const search::Records& records = space.records;
    names.insert(records.kernel);
    schedules += records.records.size();
    EXPECT_GE(records.records.size(), 56U) << records.kernel;
    EXPECT_TRUE(untuned_record(space)) << records.kernel;
    EXPECT_FALSE(records.launches.empty()) << records.kernel;
    for (const search::Record& record : records.records) EXPECT_TRUE(record.outcome.ok()) << records.kernel;
  }
  EXPECT_EQ(names.size(), spaces.size());
  EXPECT_EQ(schedules, 9077U);
}

// The times are the recorded ones, so this tests the heuristic's choices and not the machine. Worse choices once made a
// convolution eight times as slow, which no other test noticed.
TEST(RecordedSpaces, SayThatTheUntunedScheduleIsNotFarFromTheBest) {
  const std::string file = (data_folder() / "experiments/results/recorded_spaces.db.gz").string();
  double logs = 0;
  int count = 0;
  for (const StoredSpace& space : read_stored_spaces(file)) {
    const auto& records = space.records.records;
    const auto untuned = untuned_record(space);
    ASSERT_TRUE(untuned) << space.records.kernel;
    const auto time = [](const search::Record& record) { return record.outcome.microseconds; };
    const double ratio = time(records[*untuned]) / time(std::ranges::min(records, {}, time));
    EXPECT_LT(ratio, 1.5) << space.records.kernel;
    logs += std::log(ratio);
    ++count;
  }
  EXPECT_LT(std::exp(logs / count), 1.16) << "geometric mean";
}

}  // namespace
}  // namespace deplo::engine
