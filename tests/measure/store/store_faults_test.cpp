// What happens to a store when processes share it, are killed, or the disk is full or read-only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "core/rng.h"
#include "measure/mount.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

using ::testing::HasSubstr;

/// Runs `work` in a child process, which ends without running any destructor of the test program.
template <class F>
pid_t in_child(F work) {
  const pid_t child = fork();
  if (child != 0) return child;
  int code = 0;
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
    code = 1;
  }
  _exit(code);
}

int exit_code(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StoreFaults, ProcessesShareAFile) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.db");  // created by the first process that opens it
  constexpr int processes = 4, trials = 50;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p)
    children.push_back(in_child([&] {
      Store store = Store::open(file);
      const Ids ids = add_context(store);
      for (int i = 0; i < trials; ++i) store.append(some_trial(ids, i, std::to_string(p) + "." + std::to_string(i), 1));
    }));
  for (const pid_t child : children) EXPECT_EQ(exit_code(child), 0);
  Store store = Store::open(file);
  const Ids ids = add_context(store);
  EXPECT_EQ(ids.device, 1);
  EXPECT_EQ(ids.kernel, 1);
  EXPECT_EQ(store.known_trials(ids.kernel, ids.device, "p1").size(), std::size_t{processes * trials});
  EXPECT_TRUE(is_intact(file));
}

TEST(StoreFaults, AReaderDoesNotBlockTheWriter) {
  const TemporaryFolder folder;
  Store store = Store::open(folder.file("a.db"));
  const Ids ids = add_context(store);
  store.append(some_trial(ids, 0, "a", 1));
  sqlite::Database reader(folder.file("a.db"));
  sqlite::Statement rows(reader, "SELECT id FROM trial");
  ASSERT_TRUE(rows.step());  // a snapshot is held open
  store.append(some_trial(ids, 1, "b", 1));
  EXPECT_EQ(store.known_trials(ids.kernel, ids.device, "p1").size(), 2U);
}

/// Appends trials forever. After each trial is stored, writes its ordinal to the pipe.
void append_and_report(const std::string& file, int pipe) {
  Store store = Store::open(file);
  const Ids ids = add_context(store);
  for (std::int64_t i = 0;; ++i) {
    store.append(some_trial(ids, i, "trail " + std::to_string(i), 1));
    if (write(pipe, &i, sizeof i) != sizeof i) return;
  }
}

TEST(StoreFaults, KilledAtAnyMoment) {
  Rng rng(11);
  for (int round = 0; round < 20; ++round) {
    const TemporaryFolder folder;
    const std::string file = folder.file("a.db");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = in_child([&] { append_and_report(file, ends[1]); });
    close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(40'000)));
    kill(child, SIGKILL);
    EXPECT_EQ(exit_code(child), -1);
    std::int64_t last = -1;
    for (std::int64_t reported; read(ends[0], &reported, sizeof reported) == sizeof reported;) last = reported;
    close(ends[0]);
    Store store = Store::open(file);
    const Ids ids = add_context(store);
    const auto trials = static_cast<std::int64_t>(store.known_trials(ids.kernel, ids.device, "p1").size());
    EXPECT_GE(trials, last + 1);  // all trials that were reported
    EXPECT_LE(trials, last + 2);  // and at most the trial in flight
    EXPECT_TRUE(is_intact(file));
  }
}

TEST(StoreFaults, FullDiskWhileAppending) {
  const Mount disk("256k");
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a tmpfs";
  const std::string file = disk.file("a.db");
  std::int64_t stored = 0;
  std::string message;
  {
    Store store = Store::open(file);
    const Ids ids = add_context(store);
    try {
      for (; stored < 100'000; ++stored) store.append(some_trial(ids, stored, "t" + std::to_string(stored), 1));
    } catch (const Error& error) {
      message = error.what();
      EXPECT_EQ(error.exit(), Exit::environment);
    }
    EXPECT_THAT(message, HasSubstr("no space left on its disk"));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    const std::vector<TrialRecord> batch(5000, some_trial(ids, 0, "batch", 1));
    EXPECT_THROW(store.append(batch), Error);
  }
  ASSERT_LT(stored, 100'000);
  EXPECT_GT(stored, 0);
  EXPECT_TRUE(is_intact(file));
  sqlite::Database database(file);
  EXPECT_EQ(database.integer("SELECT count(*) FROM trial WHERE trail <> 'batch'"), stored);
  EXPECT_EQ(database.integer("SELECT count(*) FROM trial WHERE trail = 'batch'"), 0);
}

TEST(StoreFaults, FullDiskFromTheStart) {
  for (const char* size : {"4k", "8k", "16k", "32k", "48k", "64k"}) {
    const Mount disk(size);
    if (!disk.mounted()) GTEST_SKIP() << "no right to mount a tmpfs";
    std::string message;
    EXPECT_EQ(exit_of_open(disk.file("a.db"), message), 2) << size;
    EXPECT_THAT(message, HasSubstr("no space left on its disk")) << size;
  }
}

TEST(StoreFaults, ReadOnlyFileSystem) {
  const Mount disk("1m");
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a tmpfs";
  Store::open(disk.file("a.db"));
  if (!disk.make_read_only()) GTEST_SKIP() << "no right to remount";
  for (const char* name : {"a.db", "new.db"}) {
    std::string message;
    EXPECT_EQ(exit_of_open(disk.file(name), message), 2);
    EXPECT_THAT(message, HasSubstr("is not writable: Read-only file system"));
  }
}

TEST(StoreFaults, NoRightToWrite) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  std::string message;
  EXPECT_EQ(exit_of_open(folder.file("a.db"), message), 2);
  EXPECT_THAT(message, HasSubstr("is not writable: Permission denied"));
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace deplo::measure
