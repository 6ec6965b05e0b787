// Files that are not stores of deplo, or are damaged, give a clear error of one line and are not changed.
#include "measure/store/file/open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "measure/store/file/schema.h"
#include "measure/store/pack.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

using ::testing::HasSubstr;

TEST(StoreOpen, AnEmptyFileIsANewDatabase) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("a.db")).close();
  Store store = Store::open(folder.file("a.db"));
  add_context(store);
  EXPECT_TRUE(is_intact(folder.file("a.db")));
}

TEST(StoreOpen, BadPaths) {
  const TemporaryFolder folder;
  std::string message;
  EXPECT_EQ(exit_of_open("", message), 1);
  EXPECT_EQ(exit_of_open(folder.file("no/such/a.db"), message), 1);
  EXPECT_THAT(message, HasSubstr("does not exist"));
  EXPECT_EQ(exit_of_open(folder.path().string(), message), 1);
  EXPECT_THAT(message, HasSubstr("found a directory"));
  std::ofstream(folder.file("file")) << "x";
  EXPECT_EQ(exit_of_open(folder.file("file/a.db"), message), 1);
  EXPECT_THAT(message, HasSubstr("is not a directory"));
  EXPECT_EQ(exit_of_open("/dev/null", message), 1);
}

/// Returns whether another process sees a lock on the file. Locks are not inherited, so a child sees its parent's.
bool is_locked(const std::string& file) {
  const pid_t child = fork();
  if (child == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const int opened = open(file.c_str(), O_RDWR | O_CLOEXEC);
    const bool is_free = opened >= 0 && fcntl(opened, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
    _exit(is_free ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Without the lock, a program that closes the store last as far as it can see deletes the log that this process writes.
TEST(StoreOpen, LooksAtAFileWithoutReleasingTheLocksOfItsOtherConnections) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.db");
  EXPECT_EQ(sqlite::first_bytes(file, 4), "");
  EXPECT_EQ(sqlite::first_bytes(folder.path().string(), 4), "");
  Store store = Store::open(file);
  add_context(store);
  ASSERT_TRUE(is_locked(file));
  EXPECT_EQ(sqlite::first_bytes(file, 6), "SQLite");
  EXPECT_FALSE(is_pack(file));
  open_read_only(file);
  open_to_read(file);
  EXPECT_TRUE(is_locked(file));
  std::ofstream(folder.file("short")) << "abc";
  EXPECT_EQ(sqlite::first_bytes(folder.file("short"), 100), "abc");
  std::ofstream(folder.file("empty")).close();
  EXPECT_EQ(sqlite::first_bytes(folder.file("empty"), 100), "");
}

TEST(StoreOpen, NotADatabaseIsLeftAlone) {
  const TemporaryFolder folder;
  const std::string text(5000, 'x');
  std::ofstream(folder.file("a.db")) << text;
  std::string message;
  EXPECT_EQ(exit_of_open(folder.file("a.db"), message), 1);
  EXPECT_THAT(message, HasSubstr("expected a deplo database"));
  std::ifstream file(folder.file("a.db"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST(StoreOpen, AnotherProgramsDatabaseIsLeftAlone) {
  const TemporaryFolder folder;
  sqlite::Database(folder.file("a.db")).execute("CREATE TABLE songs (name TEXT)");
  std::string message;
  EXPECT_EQ(exit_of_open(folder.file("a.db"), message), 1);
  EXPECT_THAT(message, HasSubstr("another program's"));
  EXPECT_EQ(sqlite::Database(folder.file("a.db")).integer("SELECT count(*) FROM sqlite_schema"), 1);
}

// Regression test: SQLite takes a file of one byte for an empty one, and so a store replaced it.
TEST(StoreOpen, AFileOfOneByteIsNoEmptyStore) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.db");
  std::ofstream(file) << "x";
  std::string message;
  EXPECT_EQ(exit_of_open(file, message), 1);
  EXPECT_THAT(message, HasSubstr("a.db: expected a deplo database, found another kind of file"));
  EXPECT_EQ(std::filesystem::file_size(file), 1U);
}

TEST(StoreOpen, ANewerVersionIsRefused) {
  const TemporaryFolder folder;
  Store::open(folder.file("a.db"));
  sqlite::Database(folder.file("a.db")).execute("PRAGMA user_version = 99");
  std::string message;
  EXPECT_EQ(exit_of_open(folder.file("a.db"), message), 1);
  const std::size_t newest = migrations().size();
  EXPECT_THAT(message, HasSubstr(fmt::format("has version 99, this deplo knows versions up to {}", newest)));
}

TEST(StoreOpen, WithoutACurrentFolder) {
  const std::filesystem::path before = std::filesystem::current_path();
  {
    const TemporaryFolder removed;
    std::filesystem::current_path(removed.path());
  }
  std::string message;
  EXPECT_EQ(exit_of_open("a.db", message), 2);
  std::filesystem::current_path(before);
  EXPECT_THAT(message, HasSubstr("store a.db: cannot find the current folder: No such file or directory"));
}

// Regression test: for version -1, deplo looked for a migration before the first one. tests/attack found this.
TEST(StoreOpen, AVersionThatNoneHasIsRefused) {
  const TemporaryFolder folder;
  Store::open(folder.file("a.db"));
  sqlite::Database(folder.file("a.db")).execute("PRAGMA user_version = -1");
  std::string message;
  EXPECT_EQ(exit_of_open(folder.file("a.db"), message), 1);
  EXPECT_THAT(message, HasSubstr("expected a version from 0 on, found -1"));
}

TEST(StoreOpen, AQueryWithoutEndIsGivenUp) {
  const TemporaryFolder folder;
  const auto expect_given_up = [](sqlite::Database& database, const std::string& sql) {
    database.limit_statements(std::chrono::milliseconds(50));
    try {
      database.execute(sql);
      ADD_FAILURE() << sql;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::environment);
      EXPECT_THAT(error.what(), HasSubstr("a query took more than 0.05 s"));
    }
  };
  const std::string endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r";
  sqlite::Database database(folder.file("a.db"));
  expect_given_up(database, endless);
  database.execute("CREATE TABLE t (a); CREATE TRIGGER b AFTER INSERT ON t BEGIN SELECT (" + endless + "); END");
  expect_given_up(database, "INSERT INTO t VALUES (1)");
  EXPECT_EQ(database.integer("SELECT count(*) FROM t"), 0);
}

TEST(StoreOpen, ATruncatedDatabaseIsReported) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.db");
  {
    Store store = Store::open(file);
    const Ids ids = add_context(store);
    for (int i = 0; i < 200; ++i) store.append(some_trial(ids, i, "trail " + std::to_string(i), i));
  }
  const auto size = std::filesystem::file_size(file);
  ASSERT_GT(size, 20000U);
  for (const std::uintmax_t part :
       {size - 4096, size / 2, std::uintmax_t{4096}, std::uintmax_t{777}, std::uintmax_t{100}}) {
    const std::string copy = folder.file("copy.db");
    std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(copy, part);
    std::string message;
    EXPECT_NE(exit_of_open(copy, message), 0) << part;
    EXPECT_THAT(message, HasSubstr("database")) << part;
  }
}

}  // namespace
}  // namespace deplo::measure
