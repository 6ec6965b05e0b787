// Checks experiments/results/recorded_spaces.db.gz, which docs/comparing.md and experiments/results/recorded_spaces.md
// describe.
#include <gtest/gtest.h>

#include <algorithm>
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

}  // namespace
}  // namespace deplo::engine
