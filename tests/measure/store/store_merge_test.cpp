// Merges of stores, compared with the union of their rows.
#include "measure/store/upkeep/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/rng.h"
#include "drawn_seeds.h"
#include "measure/store/file/open.h"
#include "measure/store/upkeep/report.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

using ::testing::HasSubstr;
using Facts = std::multiset<std::vector<sqlite::Cell>>;

/// Returns every trial and baseline with its run, device and kernel, and every run, all without ids.
Facts facts(const std::string& file) {
  sqlite::Database database(file);
  const std::string run = "d.backend, d.name, d.driver, r.revision, r.config, r.searcher, r.seed, r.host, r.started ";
  const std::string of = "JOIN run r ON r.id = x.run JOIN device d ON d.id = r.device JOIN kernel k ON k.id = x.kernel";
  Facts all;
  for (const std::string& sql :
       {"SELECT 'trial', x.ordinal, x.trail, x.digest, x.status, x.message, x.build_ms, x.median_us, x.samples, "
        "x.stage, x.batch, x.registers, x.created, k.key, k.text, " +
            run + "FROM trial x " + of,
        "SELECT 'baseline', x.library, x.version, x.median_us, x.samples, x.created, k.key, " + run +
            "FROM baseline x " + of,
        "SELECT 'run', " + run + "FROM run r JOIN device d ON d.id = r.device"})
    for (const auto& row : query(database, sql).rows) all.insert(row);
  return all;
}

std::int64_t added(const std::string& into, const std::string& from) {
  std::int64_t sum = 0;
  for (const upkeep::MergedTable& table : upkeep::merge_store(into, from)) sum += table.added;
  return sum;
}

/// Returns the time stamp of the n-th millisecond of a day.
std::string moment(std::uint64_t n) {
  char text[64];
  std::snprintf(text, sizeof text, "2026-11-21T%02d:%02d:%02d.%03dZ", static_cast<int>(n / 3'600'000 % 24),
                static_cast<int>(n / 60'000 % 60), static_cast<int>(n / 1000 % 60), static_cast<int>(n % 1000));
  return text;
}

TrialRecord random_trial(Rng& rng, std::int64_t run, std::int64_t kernel, std::int64_t ordinal) {
  constexpr Status statuses[] = {Status::ok, Status::ok, Status::ok, Status::wrong_result, Status::hang};
  TrialRecord trial = some_trial({0, run, kernel}, ordinal, "bm=" + std::to_string(rng.below(4)),
                                 static_cast<double>(1 + rng.below(1000)) / 8);
  trial.status = statuses[rng.below(5)];
  trial.digest = "digest " + std::to_string(rng.below(2));
  trial.stage = rng.below(4) == 0 ? Stage::confirm : Stage::screen;
  if (rng.below(2) == 0) trial.resources.registers = static_cast<std::int64_t>(rng.below(256));
  return trial;
}

/// Adds a run of some machine. All machines share `clock`, so that no two trials have the same time stamp.
void grow(const std::string& file, Rng& rng, std::uint64_t& clock) {
  Store store = Store::open(file);
  DeviceInfo device = some_device();
  device.driver = std::to_string(rng.below(2));
  device.clock_mhz = static_cast<std::int64_t>(1000 + rng.below(1000));
  const std::int64_t run = store.add_run({.device = store.add_device(device),
                                          .revision = "v" + std::to_string(rng.below(2)),
                                          .config = "kernels: []",
                                          .searcher = "random",
                                          .seed = rng.next(),
                                          .host = "host" + std::to_string(rng.below(3))});
  for (std::int64_t i = 0, n = static_cast<std::int64_t>(rng.below(12)); i < n; ++i) {
    const std::string text = "text " + std::to_string(rng.below(3));
    const std::int64_t kernel = store.add_kernel({rng.below(2) == 0 ? text : "another name", text});
    const std::int64_t id = store.append(random_trial(rng, run, kernel, i));
    sqlite::Database(file).execute("UPDATE trial SET created = '" + moment(clock += 1 + rng.below(1000)) +
                                   "' WHERE id = " + std::to_string(id));
    if (rng.below(4) > 0) continue;
    BaselineRecord baseline;
    baseline.run = run;
    baseline.kernel = kernel;
    baseline.library = "eigen";
    baseline.median_us = static_cast<double>(1 + rng.below(100));
    baseline.samples = {baseline.median_us};
    store.append(baseline);
  }
}

void copy(const std::string& from, const std::string& to) {
  sqlite::Database(from).execute("PRAGMA wal_checkpoint(TRUNCATE)");
  std::filesystem::copy_file(from, to);
}

Facts union_of(const Facts& a, const Facts& b) {
  std::set<std::vector<sqlite::Cell>> all(a.begin(), a.end());
  all.insert(b.begin(), b.end());
  return {all.begin(), all.end()};
}

sqlite::Rows bests(const std::string& file) {
  sqlite::Rows rows = upkeep::best_schedules(*open_read_only(file), {});
  std::ranges::sort(rows.rows);
  return rows;
}

TEST(StoreMerge, IsTheUnionInAnyOrderAndTwiceIsOnce) {
  for (const std::uint64_t seed : drawn_seeds(12)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const TemporaryFolder folder;
    const std::string a = folder.file("a.db"), b = folder.file("b.db"), ab = folder.file("ab.db"),
                      ba = folder.file("ba.db");
    std::uint64_t clock = 0;
    for (std::uint64_t n = rng.below(4); n > 0; --n) grow(a, rng, clock);
    Store::open(a);
    if (rng.below(2) == 0) copy(a, b);  // b begins as a copy of a
    Store::open(b);
    for (std::uint64_t n = rng.below(8); n > 0; --n) grow(rng.below(2) == 0 ? a : b, rng, clock);
    const Facts whole = union_of(facts(a), facts(b));
    added(ab, a), added(ab, b);
    added(ba, b), added(ba, a);
    EXPECT_EQ(facts(ab), whole);
    EXPECT_EQ(facts(ba), whole);
    EXPECT_EQ(bests(ab).rows, bests(ba).rows);
    for (const std::string& from : {a, b, ba}) EXPECT_EQ(added(ab, from), 0);
    EXPECT_EQ(facts(ab), whole);
    EXPECT_TRUE(is_intact(ab));
    added(a, b);  // merging into an existing store gives the same
    EXPECT_EQ(facts(a), whole);
    EXPECT_EQ(bests(a).rows, bests(ab).rows);
  }
}

// One store has a fast trial. In the other store, a later trial of the same schedule gave a wrong result.
TEST(StoreMerge, TheLatestTrialCountsWhateverStoreItCameFrom) {
  const TemporaryFolder folder;
  for (const bool wrong_first : {false, true}) {
    const std::string a = folder.file(wrong_first ? "a1.db" : "a0.db"),
                      b = folder.file(wrong_first ? "b1.db" : "b0.db");
    for (const bool wrong : {false, true}) {
      const std::string& file = wrong == wrong_first ? a : b;
      Store store = Store::open(file);
      const Ids ids = add_context(store);
      TrialRecord trial = some_trial(ids, 0, "fast", 1);
      if (wrong) trial.status = Status::wrong_result;
      store.append(trial);
      if (!wrong) store.append(some_trial(ids, 1, "slow", 2));
      sqlite::Database(file).execute(wrong ? "UPDATE trial SET created = '2026-02-01T00:00:00.000Z'"
                                           : "UPDATE trial SET created = '2026-01-01T00:00:00.000Z'");
    }
    upkeep::merge_store(a, b);
    Store store = Store::open(a);
    EXPECT_EQ(store.best(1, 1).value().trail, "slow") << wrong_first;
  }
}

TEST(StoreMerge, WhatIsBeingMeasuredStaysWhereItIs) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  store.begin(some_trial(ids, 0, "a", 1));
  upkeep::merge_store(folder.file("b.db"), folder.file("a.db"));
  sqlite::Database merged(folder.file("b.db"));
  EXPECT_EQ(merged.integer("SELECT count(*) FROM running"), 0);
  EXPECT_EQ(merged.integer("SELECT count(*) FROM run"), 1);
}

// Tables of a later version are merged according to their schema.
TEST(StoreMerge, TablesThatItDoesNotKnow) {
  const TemporaryFolder folder;
  const std::string a = folder.file("a.db"), b = folder.file("b.db");
  for (const std::string& file : {a, b}) {
    Store store = Store::open(file);
    DeviceInfo other = some_device();
    other.backend = "another";
    if (file == b) store.add_device(other);  // so that ids differ
    add_context(store);
    sqlite::Database(file).execute(
        "CREATE TABLE note (id INTEGER PRIMARY KEY, run INTEGER REFERENCES run (id), text TEXT)");
    sqlite::Database(file).execute("INSERT INTO note (run, text) VALUES ((SELECT max(id) FROM run), '" + file + "')");
    sqlite::Database(file).execute("UPDATE run SET host = '" + file + "'");
  }
  upkeep::merge_store(a, b);
  EXPECT_EQ(added(a, b), 0);
  sqlite::Database merged(a);
  EXPECT_EQ(merged.integer("SELECT count(*) FROM note n JOIN run r ON r.id = n.run WHERE r.host = n.text"), 2);
}

TEST(StoreMerge, RefusesItselfAndWhatIsNoStore) {
  const TemporaryFolder folder;
  const std::string a = folder.file("a.db");
  Store::open(a);
  for (const std::string& from : {a, folder.file("none.db"), folder.path().string()})
    EXPECT_THROW(upkeep::merge_store(a, from), Error) << from;
  EXPECT_THROW(upkeep::merge_store(folder.file("new.db"), folder.file("none.db")), Error);
  EXPECT_FALSE(std::filesystem::exists(folder.file("new.db")));
}

TEST(StoreFailures, NumbersAreMasked) {
  EXPECT_EQ(upkeep::mask_numbers("expected 12 found -1.5e-06 at 0x7fff12, id d41d8cd98f00b204"),
            "expected # found # at #, id #");
  EXPECT_EQ(upkeep::mask_numbers("c[3, 4] is 1.25, not 1."), "c[#, #] is #, not #.");
  EXPECT_EQ(upkeep::mask_numbers("a-b accede deadline"), "a-b accede deadline");
  EXPECT_EQ(upkeep::mask_numbers("bm64 of 3e"), "bm# of #e");
  EXPECT_EQ(upkeep::mask_numbers(""), "");
}

TEST(StoreMerge, IntoTablesThatReferInACircle) {
  const TemporaryFolder folder;
  const std::string into = folder.file("into.db"), from = folder.file("from.db");
  Store::open(from);
  {
    Store::open(into);
    sqlite::Database database(into);
    database.execute(
        "CREATE TABLE egg (hen INTEGER REFERENCES hen (id)); CREATE TABLE hen (egg INTEGER REFERENCES egg)");
  }
  try {
    upkeep::merge_store(into, from);
    FAIL() << "it was merged";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected the tables of a deplo database, found 'egg' with references"));
  }
}

}  // namespace
}  // namespace deplo::measure
