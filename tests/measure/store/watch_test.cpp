// Losses that show only in the contents of the files. For losses in a whole program, see
// tests/apps/db/lost_store_test.cpp.
#include "measure/store/file/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "measure/store/file/open.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

namespace fs = std::filesystem;

class CutLog : public ::testing::TestWithParam<int> {};  // percentage of the log that is left

TEST_P(CutLog, IsNoticedAfterItGrewAgain) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db"), log = path + "-wal";
  const auto database = open_database(path);
  database->execute("PRAGMA wal_autocheckpoint = 0");
  database->execute("CREATE TABLE lines (text TEXT)");
  const auto write = [&](int value) {
    database->execute("INSERT INTO lines VALUES ('line " + std::to_string(value) + "')");
  };
  StoreWatch watch(*database);
  for (int i = 0; i < 50; ++i) write(i);
  ASSERT_FALSE(watch.look());
  const std::uintmax_t size = fs::file_size(log);
  fs::resize_file(log, size * static_cast<std::uintmax_t>(GetParam()) / 100);
  write(50);
  ASSERT_GT(fs::file_size(log), size) << "SQLite writes behind what is gone";
  const auto loss = watch.look();
  ASSERT_TRUE(loss);
  EXPECT_THAT(loss->what, ::testing::HasSubstr("-wal, which was truncated"));
}

// A reader holds a snapshot from the time when the file grew. Pages that were written again since then stay in the log.
TEST(StoreWatch, ACheckpointThatAReaderCutsShortIsNoLoss) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  const auto database = open_database(path);
  database->execute("PRAGMA wal_autocheckpoint = 0");
  database->execute("PRAGMA wal_checkpoint(TRUNCATE)");
  StoreWatch watch(*database);
  database->execute("CREATE TABLE lines (text TEXT)");
  const auto write = [&](const char* text) {
    database->execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO "
        "lines SELECT '" +
        std::string(text) + "' FROM n");
  };
  write("some line of text");
  sqlite::Database reader(path);
  sqlite::Statement snapshot(reader, "SELECT * FROM lines");
  ASSERT_TRUE(snapshot.step());
  database->execute("UPDATE lines SET text = 'another line text'");
  const std::int64_t bytes = database->integer("PRAGMA page_size") * database->integer("PRAGMA page_count");
  database->execute("PRAGMA wal_checkpoint(PASSIVE)");
  ASSERT_LT(fs::file_size(path), bytes);
  const auto loss = watch.look();
  EXPECT_FALSE(loss) << loss->what;
  EXPECT_FALSE(watch.look());

  fs::resize_file(path, fs::file_size(path) / 2);  // removes pages that the log does not have
  const auto truncated = watch.look();
  ASSERT_TRUE(truncated);
  EXPECT_EQ(truncated->what, "was truncated");
}

INSTANTIATE_TEST_SUITE_P(Percent, CutLog, ::testing::Values(0, 1, 50));

}  // namespace
}  // namespace deplo::measure
