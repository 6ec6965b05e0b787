// Stores of every earlier version are migrated to the newest version. deplo wrote them at these versions
// (tests/fixtures).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "measure/store/file/open.h"
#include "measure/store/file/schema.h"
#include "measure/store/upkeep/check.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

const int newest = static_cast<int>(migrations().size());

/// Creates a store of this version. Version 0 is an empty database.
void copy_fixture(int version, const std::string& file) {
  if (version == 0) {
    sqlite::Database(file).execute("PRAGMA user_version = 0; VACUUM");
    return;
  }
  std::filesystem::copy_file(
      std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/fixtures" / ("store_v" + std::to_string(version) + ".sqlite"),
      file);
}

std::vector<std::string> texts(sqlite::Database& database, const std::string& sql) {
  sqlite::Statement row(database, sql);
  std::vector<std::string> all;
  while (row.step()) all.push_back(row.text(0));
  return all;
}

/// Returns every column of every table and index.
std::vector<std::string> schema(sqlite::Database& database) {
  return texts(database,
               "SELECT m.type || ' ' || m.name || '.' || c.name || ' ' || c.type || ' ' || c.\"notnull\" FROM "
               "sqlite_schema m, pragma_table_xinfo(m.name) c ORDER BY 1");
}

/// Returns the rows of each table. `columns`: the columns of each table in the older version.
std::map<std::string, std::vector<std::string>> contents(sqlite::Database& database,
                                                         const std::map<std::string, std::string>& columns) {
  std::map<std::string, std::vector<std::string>> rows;
  for (const auto& [table, names] : columns)
    rows[table] = texts(database, "SELECT json_array(" + names + ") FROM " + table + " ORDER BY id");
  return rows;
}

std::map<std::string, std::string> columns(sqlite::Database& database) {
  std::map<std::string, std::string> all;
  for (const std::string& table : texts(database, "SELECT name FROM sqlite_schema WHERE type = 'table'"))
    all[table] = texts(database, "SELECT group_concat(name) FROM pragma_table_info('" + table + "')").at(0);
  return all;
}

// This test fails if a version that a released deplo wrote has no fixture.
TEST(StoreMigration, EveryEarlierVersionKeepsItsRowsAndGetsTheNewSchema) {
  const TemporaryFolder folder;
  Store::open(folder.file("new.db"));
  sqlite::Database fresh(folder.file("new.db"));
  for (int version = 0; version <= newest; ++version) {
    SCOPED_TRACE(version);
    const std::string file = folder.file("v" + std::to_string(version) + ".db");
    copy_fixture(version, file);
    std::map<std::string, std::string> known;
    std::map<std::string, std::vector<std::string>> before;
    {
      sqlite::Database old(file);
      ASSERT_EQ(old.integer("PRAGMA user_version"), version);
      known = columns(old);
      before = contents(old, known);
    }
    Store::open(file);
    EXPECT_TRUE(is_intact(file));
    const auto database = open_read_only(file);  // accepts only the newest version
    EXPECT_EQ(database->integer("PRAGMA user_version"), newest);
    EXPECT_EQ(schema(*database), schema(fresh));
    EXPECT_EQ(contents(*database, known), before);
    EXPECT_EQ(upkeep::check_store(*database).rows.size(), 0U);
    EXPECT_EQ(database->integer("SELECT count(*) > 0 FROM trial"), version > 0);
  }
}

// deplo wrote this store at version 1. Two of its rows were made by hand (an old status, a failure).
TEST(StoreMigration, AStoreOfVersion1) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.db");
  copy_fixture(1, file);
  const std::string protocol =
      "v1 device-events warm-operands samples=5 sample_us=200 confirm_us=1000 batch=64 stop=1.1 full_ms=100 "
      "slow=3x200us rounds=15";
  for (int i = 0; i < 2; ++i) {
    Store store = Store::open(file);
    const auto trials = store.known_trials(1, 1, protocol);
    ASSERT_EQ(trials.size(), 5U) << "of nine, three are of the other kernel or confirm one";
    EXPECT_EQ(trials.back().trial.trail, "made.up=wrong_result");
    EXPECT_EQ(trials.back().trial.message, "c[0, 0]: is NaN");
    EXPECT_EQ(trials.back().trial.resources.registers, -1);
    EXPECT_DOUBLE_EQ(store.best(1, 1).value().timing.median_us, 18.143346153846153);
    EXPECT_EQ(store.settle_lost("elsewhere"), 0);
  }
  Store store = Store::open(file);
  const Ids ids = add_context(store);
  store.append(some_trial(ids, 0, "new", 1));
  EXPECT_TRUE(is_intact(file));
  sqlite::Database database(file);
  EXPECT_EQ(database.integer("SELECT count(*) FROM trial"), 10);
}

// deplo wrote this store at version 2. It had no baseline, so one was added by hand.
TEST(StoreMigration, AStoreOfVersion2) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.db");
  copy_fixture(2, file);
  for (int i = 0; i < 2; ++i) {
    Store store = Store::open(file);
    EXPECT_DOUBLE_EQ(store.best(1, 1).value().timing.median_us, 2.22934375);
    EXPECT_EQ(store.best(1, 1).value().timing.sets, 64);
    const auto baselines = store.baselines(1, 1);
    ASSERT_EQ(baselines.size(), 1U);
    EXPECT_EQ(baselines[0].created, "2026-11-21T00:00:00.000Z");
    EXPECT_EQ(baselines[0].samples, (std::vector<double>{7, 7.5, 8}));
    EXPECT_EQ(baselines[0].batch, 0) << "not known";
    EXPECT_EQ(store.ceilings(1), rules::Ceilings{});
  }
  Store::open(file).add_ceilings(1, {1, 2, 3});
  EXPECT_EQ(Store::open(file).ceilings(1), (rules::Ceilings{1, 2, 3}));
  EXPECT_TRUE(is_intact(file));
}

// deplo wrote this store at version 3. It was cut to three kernels, and a baseline was added by hand.
TEST(StoreMigration, AStoreOfVersion3) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.db");
  copy_fixture(3, file);
  Store store = Store::open(file);
  EXPECT_DOUBLE_EQ(store.best(2, 1).value().timing.median_us, 5472.738);
  EXPECT_EQ(store.best(2, 1).value().stage, Stage::confirm);
  const auto found = store.schedules("96754cab399e74f6b6f2202df21987c6", 1);
  ASSERT_EQ(found.size(), 1U) << "by its structural key";
  EXPECT_EQ(found[0].kernel.name, "tinyllama-1.1b.layer0.s32.q_proj");
  const auto baselines = store.baselines(2, 1);
  ASSERT_EQ(baselines.size(), 1U);
  EXPECT_EQ(baselines[0].sets, 0) << "not known";
  EXPECT_EQ(store.ceilings(1), rules::Ceilings{});
}

}  // namespace
}  // namespace deplo::measure
