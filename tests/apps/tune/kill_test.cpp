// Kills a real tuner with kill -9 at random moments, and resumes it each time: only the trial in flight may be lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "apps/run_program.h"
#include "core/rng.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

namespace fs = std::filesystem;

class Killed : public ::testing::Test {
 protected:
  /// A tuner that was killed after some time. `code` is -1 if the signal ended it, or its exit code if it ended before.
  struct Ended {
    int code;
    pid_t process;
  };
  Ended tune_until(double seconds, const char* seed) const {
    const pid_t tuner =
        start_program({"deplo", "tune", "--config", config_, "--store", store_, "--quiet", "--seed", seed});
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    kill(tuner, SIGKILL);
    int status = 0;
    CHECK(waitpid(tuner, &status, 0) == tuner);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, tuner};
  }
  std::vector<std::string> query(const std::string& sql) const {
    measure::sqlite::Database database(store_);
    measure::sqlite::Statement row(database, sql);
    std::vector<std::string> rows;
    while (row.step()) rows.push_back(row.text(0));
    return rows;
  }
  std::vector<std::string> trials() const {
    return query("SELECT id || ' ' || digest || ' ' || status FROM trial ORDER BY id");
  }
  /// Expects that no worker outlives its tuner.
  static void expect_no_orphans(pid_t tuner) {
    for (int i = 0; i < 500 && !workers_of(tuner).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_THAT(workers_of(tuner), ::testing::IsEmpty());
  }
  void check(const std::vector<std::string>& before, std::size_t writers) {
    EXPECT_EQ(query("PRAGMA integrity_check"), std::vector<std::string>{"ok"});
    const auto trials = this->trials();
    ASSERT_GE(trials.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), trials.begin())) << "what was stored stays as it was";
    EXPECT_THAT(query("SELECT digest FROM trial WHERE stage = 'screen' AND status = 'ok' GROUP BY kernel, digest "
                      "HAVING count(*) > 1"),
                ::testing::IsEmpty())
        << "measured twice";
    EXPECT_THAT(query("SELECT count(*) FROM trial GROUP BY run, ordinal HAVING count(*) > 1"), ::testing::IsEmpty());
    EXPECT_LE(std::stoul(query("SELECT count(*) FROM running").at(0)), writers) << "one each at most was in flight";
  }
  bool has_tables() const {
    return fs::exists(store_) && query("SELECT count(*) FROM sqlite_schema WHERE name = 'running'").at(0) != "0";
  }

  void kill_times(int rounds);
  void stress(double seconds);

  measure::TemporaryFolder folder_;
  const std::string store_ = folder_.file("s.db");
  // The kernels of the smoke test, with a budget that no run uses up.
  const std::string config_ = write_file(folder_.path(), "long.yaml",
                                         "search: {strategy: random}\n"
                                         "budget: {time: 600, trials: 400, patience: 400}\nkernels:\n"
                                         "  - {kernel: matmul, symbols: {M: 33, N: 47, K: 61}}\n"
                                         "  - {kernel: softmax, symbols: {M: 19, N: 61}}\n"
                                         "  - {kernel: gelu, symbols: {M: 3, N: 1021}}\n");
};

void Killed::kill_times(int rounds) {
  Rng rng(20);
  std::vector<std::string> known;
  int kills = 0;
  // Some kills must come after a first trial, which takes longer on a busy machine or with sanitizers.
  for (double longest = 3; kills < rounds || (known.empty() && longest < 100); ++kills) {
    if (kills >= rounds) longest *= 1.5;
    const Ended ended = tune_until(rng.uniform(0.02, longest), "0");
    EXPECT_EQ(ended.code, -1);
    if (!has_tables()) continue;  // killed before the tables were created
    check(known, 1);
    expect_no_orphans(ended.process);
    known = trials();
  }
  const auto lost = query("SELECT count(*) FROM trial WHERE status = 'worker_lost'").at(0);
  EXPECT_LE(std::stoi(lost), kills);
  // On a very busy machine a build may time out.
  EXPECT_THAT(query("SELECT status FROM trial WHERE status NOT IN ('ok', 'slow', 'worker_lost', 'build_timeout')"),
              ::testing::IsEmpty());
  EXPECT_THAT(query("SELECT message FROM trial WHERE status = 'worker_lost' AND message NOT LIKE 'lost: the tuner%'"),
              ::testing::IsEmpty());
  EXPECT_GT(known.size(), 0U);
  std::printf("%d kills: %zu trials, %s lost in flight\n", kills, known.size(), lost.c_str());
}

// Two tuners on one store are killed and started again, while the test reads the store all the time.
void Killed::stress(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::atomic<int> kills = 0;
  // Some kills must come after a first trial, which takes longer on a busy machine or with sanitizers.
  std::atomic<bool> written = false;
  const auto goes_on = [&] { return elapsed() < seconds || (!written && elapsed() < seconds + 120); };
  const auto write = [&](const char* seed) {
    Rng rng(std::strtoull(seed, nullptr, 10));
    while (goes_on()) {
      const Ended ended = tune_until(rng.uniform(0.05, written ? 3 : std::max(3.0, elapsed())), seed);
      EXPECT_EQ(ended.code, -1) << "a tuner ended by itself";
      expect_no_orphans(ended.process);
      ++kills;
    }
  };
  std::thread first(write, "1"), second(write, "2");
  std::vector<std::string> known;
  int reads = 0;
  while (goes_on()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (!has_tables()) continue;
    const auto now = trials();
    ASSERT_GE(now.size(), known.size());
    EXPECT_TRUE(std::equal(known.begin(), known.end(), now.begin())) << "what was stored stays as it was";
    known = now;
    written = !known.empty();
    ++reads;
  }
  first.join();
  second.join();
  check(known, 2);
  EXPECT_GT(known.size(), 0U);
  std::printf("%d kills, %d reads: %zu trials, nothing lost\n", kills.load(), reads, known.size());
}

TEST_F(Killed, AtAnyMoment) { kill_times(6); }
// Takes two minutes: --gtest_also_run_disabled_tests
TEST_F(Killed, DISABLED_FiftyTimes) { kill_times(50); }
TEST_F(Killed, TwoWritersAndAReader) { stress(8); }
// Takes five minutes.
TEST_F(Killed, DISABLED_TwoWritersAndAReaderForLong) { stress(300); }

}  // namespace
}  // namespace deplo::testing
