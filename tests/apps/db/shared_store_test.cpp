// Stores that other users own, or that other processes lock or create. Reading requires only the right to read. Writing
// waits for locks.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/mount.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;
constexpr const char* code = "torch.randn(8, 9) @ torch.randn(9, 10)";
constexpr unsigned nobody = 65534;

/// Returns why this build's programs cannot run as another user, or null if they can.
const char* no_other_user() {
  if (geteuid() != 0) return "cannot become another user";
  const Ran ran = run_program({"deplo", "--version"}, {.user = nobody});
  return ran.code == 0 ? nullptr : "other users may not read the build folder";
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

class SharedStore : public ::testing::Test {
 protected:
  SharedStore() {
    fs::permissions(folder_.path(), fs::perms(0755));
    tune(store_);
  }
  ~SharedStore() override { fs::permissions(folder_.path(), fs::perms(0755)); }
  Ran tune(const std::string& store, const How& how = {}) const {
    return run_program({"deplo-tune", "--quiet", "--store", store, "--config", config_, "--retry-failed"}, how);
  }

  /// Expects that a user who may only read the store can run all commands that read.
  void expect_readable(const std::string& store, unsigned user) {
    const measure::TemporaryFolder own;
    ASSERT_EQ(user != 0 ? chown(own.path().c_str(), user, user) : 0, 0);
    const How how{.environment = {"XDG_CACHE_HOME=" + own.path().string()}, .user = user};
    const auto expect = [&](const Words& words, const std::string& text) {
      const Ran ran = run_program(words, how);
      EXPECT_EQ(ran.code, 0) << words[1] << ": " << ran.err;
      EXPECT_THAT(ran.out, HasSubstr(text)) << words[1];
    };
    const std::string interpreter = "interpreter";
    expect({"deplo", "run", "-c", code, "--device", interpreter, "--tuned", store}, "1 tuned");
    expect({"deplo", "compile", "-c", code, "--tuned", store, "--target", "opencl-gpu"}, "schedule: tuned");
    expect({"deplo", "report", store, "--output", own.file("r.html")}, "plots");
    expect({"deplo", "db", "export", "--store", store}, "{");
    expect({"deplo", "db", "info", store}, "trial");
    expect({"deplo", "db", "best", store}, "confirm");
    expect({"deplo", "db", "check", store}, "sound");
    expect({"deplo", "db", "diff", store, store}, "same");
    expect({"deplo", "compare", "--spaces", store, "--search", "random", "--repeats", "2", "--quiet"}, "random");
  }
  std::int64_t trials(const std::string& store) const {
    return measure::sqlite::Database(store).integer("SELECT count(*) FROM trial");
  }

  measure::TemporaryFolder folder_;
  const std::string store_ = folder_.file("s.db");
  const std::string config_ =
      write_file(folder_.path(), "x.yaml",
                 fmt::format("device: interpreter\nsearch: {{strategy: random}}\nbudget: {{trials: 20, patience: 99}}\n"
                             "kernels:\n  - {{name: m, expression: \"{}\"}}\n",
                             code));
};

TEST_F(SharedStore, AFileAndAFolderThatMayBeReadAlone) {
  if (const char* reason = no_other_user()) GTEST_SKIP() << reason;
  fs::permissions(store_, fs::perms(0444));
  fs::permissions(folder_.path(), fs::perms(0555));
  expect_readable(store_, nobody);
}

TEST_F(SharedStore, AFileThatMayBeReadAlone) {
  if (const char* reason = no_other_user()) GTEST_SKIP() << reason;
  fs::permissions(store_, fs::perms(0444));
  fs::permissions(folder_.path(), fs::perms(0777));
  expect_readable(store_, nobody);
  EXPECT_FALSE(fs::exists(store_ + "-wal"));
}

// The log of a writer that was killed: only the log contains what the writer stored last.
TEST_F(SharedStore, ALogWithoutItsIndex) {
  if (const char* reason = no_other_user()) GTEST_SKIP() << reason;
  const std::string copy = folder_.file("copy.db");
  {
    measure::sqlite::Database writer(store_);
    writer.execute("PRAGMA wal_autocheckpoint = 0; INSERT INTO kernel (key, name, text) VALUES ('k', 'late', '')");
    writer.execute("UPDATE kernel SET key = (SELECT key FROM kernel WHERE name = 'm') || 'x' WHERE name = 'late'");
    writer.execute("DELETE FROM kernel WHERE name = 'late'; UPDATE run SET host = 'late'");
    fs::copy_file(store_, copy);
    fs::copy_file(store_ + "-wal", copy + "-wal");
  }
  fs::permissions(copy, fs::perms(0444));
  fs::permissions(copy + "-wal", fs::perms(0444));
  fs::permissions(folder_.path(), fs::perms(0555));
  expect_readable(copy, nobody);
  const Ran late = run_program({"deplo", "db", "sql", "SELECT host FROM run", copy}, {.user = nobody});
  EXPECT_THAT(late.out, HasSubstr("late"));
}

TEST_F(SharedStore, AFileSystemThatIsReadOnly) {
  const measure::Mount disk("2m");
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a tmpfs";
  fs::copy_file(store_, disk.file("s.db"));
  ASSERT_TRUE(disk.make_read_only());
  expect_readable(disk.file("s.db"), 0);
  EXPECT_EQ(tune(disk.file("s.db")).code, 2);
}

TEST_F(SharedStore, ALockIsWaitedFor) {
  const std::int64_t before = trials(store_);
  measure::sqlite::Database holder(store_);
  holder.execute("BEGIN IMMEDIATE");
  std::thread later([&] {
    sleep_ms(4000);
    holder.execute("ROLLBACK");
  });
  const Ran ran = tune(store_);
  later.join();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "deplo: waiting for another process that holds " + store_ + "\n");
  EXPECT_GT(trials(store_), before);
}

TEST_F(SharedStore, CtrlCEndsTheWait) {
  measure::sqlite::Database holder(store_);
  holder.execute("BEGIN IMMEDIATE");
  const auto start = std::chrono::steady_clock::now();
  const Ran ran = tune(store_, {.signal_at = "waiting for another process"});
  EXPECT_EQ(ran.code, 130) << ran.err;
  EXPECT_EQ(ran.out, "interrupted before the first measurement\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  const Words merge{"deplo", "db", "merge", store_, folder_.file("x.db")};
  measure::Store::open(folder_.file("x.db"));
  EXPECT_EQ(run_program(merge, {.signal_after_ms = 3000}).code, 130);
}

TEST_F(SharedStore, AQueryOfTheUsersOwnEndsByCtrlC) {
  const Ran ran =
      run_program({"deplo", "db", "sql",
                   "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r", store_},
                  {.signal_after_ms = 1000});
  EXPECT_EQ(ran.code, 130);
}

// Another process has created the file, and is about to create its tables.
TEST_F(SharedStore, AnEmptyFileIsWaitedFor) {
  const std::string fresh = folder_.file("fresh.db");
  std::ofstream(fresh).close();
  const Ran ran = run_program({"deplo", "db", "info", fresh}, {.meanwhile = [&] {
                                sleep_ms(100);
                                measure::Store::open(fresh);
                              }});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string empty = folder_.file("empty.db");
  std::ofstream(empty).close();
  const Ran refused = run_program({"deplo", "run", "-c", code, "--device", "interpreter", "--tuned", empty});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("expected a deplo database, found an empty file"));
  EXPECT_EQ(fs::file_size(empty), 0) << "who reads makes no store";
}

TEST_F(SharedStore, ADiskOf300Kilobytes) {
  const measure::Mount disk("300k");
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a tmpfs";
  const std::string store = disk.file("s.db");
  const std::string yaml =
      write_file(folder_.path(), "long.yaml",
                 "device: interpreter\nsearch: {strategy: random}\nbudget: {trials: 100000, patience: 100000}\n"
                 "kernels:\n  - {kernel: matmul, symbols: {M: 4, N: 6, K: 8}}\n");
  const Ran ran = run_program({"deplo-tune", "--quiet", "--store", store, "--config", yaml});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "deplo: store " + store + ": no space left on its disk; everything stored before is intact\n");
  const Ran checked = run_program({"deplo", "db", "check", store});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  const Ran stored = run_program({"deplo", "db", "sql", "SELECT count(*) > 0 AS yes FROM trial", store});
  EXPECT_EQ(stored.out, "yes\n  1\n") << stored.err;
}

}  // namespace
}  // namespace deplo::testing
