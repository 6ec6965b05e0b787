#include "measure/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "measure/schema.h"
#include "store_fixture.h"

namespace deplo::measure {
namespace {

using testing::HasSubstr;

TEST(Store, KeepsEveryFieldAcrossReopening) {
  const TemporaryFolder folder;
  Ids ids{};
  TrialRecord written;
  {
    Store store = Store::open(folder.file("a.db"));
    ids = add_context(store);
    written = some_trial(ids, 7, "blockify_launch.bm=64 register_tile.fm=12", 123.456789012345678);
    written.message = "odd 'quotes' and \n lines";
    written.fidelity = 0.25;
    written.stage = Stage::confirm;
    written.id = store.append(written);
  }
  Store store = Store::open(folder.file("a.db"));
  const auto trials = store.known_trials(ids.kernel, ids.device, "p1");
  ASSERT_EQ(trials.size(), 1U);
  const TrialRecord& read = trials[0];
  EXPECT_EQ(read.id, written.id);
  EXPECT_EQ(read.run, ids.run);
  EXPECT_EQ(read.ordinal, 7);
  EXPECT_EQ(read.kernel, ids.kernel);
  EXPECT_EQ(read.trail, written.trail);
  EXPECT_EQ(read.digest, written.digest);
  EXPECT_EQ(read.status, Status::ok);
  EXPECT_EQ(read.message, written.message);
  EXPECT_EQ(read.build_ms, written.build_ms);
  EXPECT_EQ(read.median_us, written.median_us);
  EXPECT_EQ(read.fidelity, 0.25);
  EXPECT_EQ(read.samples, written.samples);
  EXPECT_EQ(read.protocol, "p1");
  EXPECT_EQ(read.stage, Stage::confirm);
  EXPECT_THAT(read.created, testing::MatchesRegex("....-..-..T..:..:......Z"));
}

TEST(Store, TheSameDeviceAndKernelAreOneRow) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  DeviceInfo info = some_device();
  const std::int64_t device = store.add_device(info);
  info.clock_mhz = 1200;  // a CPU says its momentary clock: no other device
  EXPECT_EQ(store.add_device(info), device);
  info.driver = "4.0";
  EXPECT_NE(store.add_device(info), device);
  const std::int64_t kernel = store.add_kernel({"a", "text"});
  EXPECT_EQ(store.add_kernel({"another name", "text"}), kernel);
  EXPECT_NE(store.add_kernel({"a", "other text"}), kernel);
}

TEST(Store, FailuresAndOddSamples) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  TrialRecord trial = some_trial(ids, 0, "a", 1);
  trial.status = Status::implausible;
  trial.samples = {std::nan(""), HUGE_VAL, -1, 1e-300, 0.1};
  store.append(trial);
  trial.samples.clear();
  trial.trail = "b";
  store.append(trial);
  const auto trials = store.known_trials(ids.kernel, ids.device, "p1");
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].status, Status::implausible);
  EXPECT_THAT(trials[0].samples, testing::ElementsAre(testing::IsNan(), testing::IsNan(), -1, 1e-300, 0.1));
  EXPECT_TRUE(trials[1].samples.empty());
  EXPECT_FALSE(store.best(ids.kernel, ids.device).has_value());
}

TEST(Store, KnownAreTheLatestOfEachTrailOldestFirst) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  store.append(some_trial(ids, 0, "a", 1));
  store.append(some_trial(ids, 1, "b", 2));
  store.append(some_trial(ids, 2, "a", 3));
  TrialRecord other = some_trial(ids, 3, "c", 4);
  other.protocol = "p2";
  store.append(other);
  const auto trials = store.known_trials(ids.kernel, ids.device, "p1");
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].trail, "b");
  EXPECT_EQ(trials[1].median_us, 3);
  EXPECT_TRUE(store.known_trials(ids.kernel, ids.device + 1, "p1").empty());
  EXPECT_TRUE(store.known_trials(ids.kernel + 1, ids.device, "p1").empty());
}

TEST(Store, BestPrefersConfirmedThenFullThenFast) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  const auto best = [&] { return store.best(ids.kernel, ids.device).value().trail; };
  TrialRecord prefix = some_trial(ids, 0, "prefix", 1);
  prefix.fidelity = 0.5;
  store.append(prefix);
  EXPECT_EQ(best(), "prefix");
  store.append(some_trial(ids, 1, "full", 5));
  store.append(some_trial(ids, 2, "slower", 6));
  EXPECT_EQ(best(), "full");
  TrialRecord confirmed = some_trial(ids, 3, "confirmed", 7);
  confirmed.stage = Stage::confirm;
  store.append(confirmed);
  EXPECT_EQ(best(), "confirmed");
  confirmed.status = Status::wrong_result;  // found out later: no longer a candidate
  store.append(confirmed);
  EXPECT_EQ(best(), "full");
}

TEST(Store, ABatchIsAllOrNothing) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  std::vector<TrialRecord> batch = {some_trial(ids, 0, "a", 1), some_trial(ids, 1, "b", 2)};
  store.append(batch);
  batch[0].trail = "c";
  batch[1].kernel = 999;  // no such kernel
  EXPECT_THROW(store.append(batch), Error);
  EXPECT_EQ(store.known_trials(ids.kernel, ids.device, "p1").size(), 2U);
  store.append(some_trial(ids, 2, "d", 3));  // and the connection still works
  EXPECT_EQ(store.known_trials(ids.kernel, ids.device, "p1").size(), 3U);
}

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
  Database(folder.file("a.db")).execute("CREATE TABLE songs (name TEXT)");
  std::string message;
  EXPECT_EQ(exit_of_open(folder.file("a.db"), message), 1);
  EXPECT_THAT(message, HasSubstr("another program's"));
  EXPECT_EQ(Database(folder.file("a.db")).integer("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST(StoreOpen, ANewerVersionIsRefused) {
  const TemporaryFolder folder;
  Store::open(folder.file("a.db"));
  Database(folder.file("a.db")).execute("PRAGMA user_version = 99");
  std::string message;
  EXPECT_EQ(exit_of_open(folder.file("a.db"), message), 1);
  EXPECT_THAT(message, HasSubstr("has version 99, this deplo knows versions up to 1"));
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
