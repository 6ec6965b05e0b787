// Kills the worker of a real tuner with kill -9 and -TERM at random moments: the tuner must find what it finds without
// kills.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <optional>
#include <thread>

#include "apps/run_program.h"
#include "core/rng.h"
#include "measure/store/file/open.h"
#include "measure/store/upkeep/report.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

namespace fs = std::filesystem;

constexpr auto moment = std::chrono::milliseconds(2);

// With these sizes the interpreter takes a few milliseconds per candidate.
constexpr const char* experiment =
    "search: {strategy: random}\n"
    "budget: {time: 3000, trials: 25, patience: 25}\n"
    "kernels:\n"
    "  - {kernel: matmul, symbols: {M: 33, N: 47, K: 61}}\n"
    "  - {kernel: softmax, symbols: {M: 19, N: 61}}\n"
    "  - {kernel: gelu, symbols: {M: 3, N: 1021}}\n";
// Candidates of this experiment spend most of their time in the compiler.
constexpr const char* experiment_to_build =
    "search: {strategy: random}\n"
    "budget: {time: 3000, trials: 4, patience: 4}\n"
    "kernels:\n"
    "  - {kernel: matmul, symbols: {M: 33, N: 47, K: 61}}\n"
    "  - {kernel: gelu, symbols: {M: 3, N: 1021}}\n";

/// The effects of the kills. `tried` is the number of kills; the other counts are errors.
struct Toll {
  int tried = 0;
  std::size_t lost = 0;     // trials of an undisturbed tuner that are missing
  std::size_t demoted = 0;  // stores whose best schedules differ from the undisturbed ones; kernels without a best
  std::size_t wrong = 0;    // trials that an undisturbed tuner did not store, or stored differently
  std::size_t crashed = 0;  // tuners whose exit code was not 0
};

class KilledWorker : public ::testing::Test {
 protected:
  std::vector<std::string> query(const std::string& store, const std::string& sql) const {
    measure::sqlite::Database database(store);
    measure::sqlite::Statement row(database, sql);
    std::vector<std::string> rows;
    while (row.step()) rows.push_back(row.text(0));
    return rows;
  }
  std::size_t count(const std::string& store, const std::string& sql) const {
    return std::stoul(query(store, "SELECT count(*) FROM " + sql).at(0));
  }
  std::size_t trials(const std::string& store) const {
    const bool made = fs::exists(store) && count(store, "sqlite_schema WHERE name = 'running'") > 0;
    return made ? count(store, "trial") : 0;
  }

  /// Returns what `deplo db best` prints, without the times of day.
  static std::vector<std::string> bests(const std::string& store) {
    const auto database = measure::open_read_only(store);
    std::vector<std::string> lines;
    for (const auto& row : measure::upkeep::best_schedules(*database, {}).rows)
      lines.push_back(fmt::format("{} {} {} {}", measure::sqlite::text_of(row[0]), measure::sqlite::real_of(row[2]),
                                  measure::sqlite::text_of(row[3]), measure::sqlite::text_of(row.back())));
    return lines;
  }

  /// Tunes to the end, and meanwhile kills up to `kills` workers. Each kill comes at a random moment after a new trial:
  /// otherwise one candidate could meet all kills, and would be blamed for them. Returns the tuner's exit code.
  int tune(const std::string& store, int kills, Toll& toll) {
    const pid_t tuner = start_program(
        {"deplo", "tune", "--config", config_, "--store", store, "--quiet", "--device", device_}, environment_);
    int status = 0;
    std::optional<std::size_t> before;
    for (bool ended = false; !ended; ended = waitpid(tuner, &status, WNOHANG) == tuner) {
      std::this_thread::sleep_for(moment);
      if (kills == 0 || (before && trials(store) == *before)) continue;
      std::this_thread::sleep_for(std::chrono::duration<double>(rng_.uniform(0, longest_)));
      const std::vector<pid_t> workers = workers_of(tuner);
      if (workers.empty() || kill(workers.front(), rng_.below(2) == 0 ? SIGKILL : SIGTERM) != 0) continue;
      before = trials(store);
      --kills;
      ++toll.tried;
    }
    EXPECT_THAT(left_behind(folder_.path()), ::testing::IsEmpty());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  void kill_interpreters(int kills);
  void kill_compilers(int kills);
  static void report(const char* what, const Toll& toll) {
    std::printf("%-28s %6s %6s %8s %6s %8s\n%-28s %6d %6zu %8zu %6zu %8zu\n", "", "tried", "lost", "demoted", "wrong",
                "crashed", what, toll.tried, toll.lost, toll.demoted, toll.wrong, toll.crashed);
    EXPECT_EQ(toll.lost + toll.demoted + toll.wrong + toll.crashed, 0U);
  }

  measure::TemporaryFolder folder_;
  Rng rng_{17};
  std::string device_ = "interpreter";
  double longest_ = 0.1;  // most seconds between a trial and a kill: enough for some candidates of the interpreter
  const std::vector<std::string> environment_ = {"HOME=" + folder_.path().string(),
                                                 "XDG_CACHE_HOME=" + folder_.path().string(),
                                                 "TMPDIR=" + folder_.path().string()};
  std::string config_ = write_file(folder_.path(), "short.yaml", experiment);
};

// Each trial as it must be in every run. The interpreter's times are the same in every run.
constexpr const char* facts =
    "SELECT k.name || ' ' || t.stage || ' ' || t.trail || ' ' || t.digest || ' ' || t.status || ' ' || "
    "ifnull(t.median_us, '') || ' ' || t.samples FROM trial t JOIN kernel k ON k.id = t.kernel ORDER BY 1";

void KilledWorker::kill_interpreters(int kills) {
  Toll toll;
  const std::string undisturbed = folder_.file("undisturbed.db");
  ASSERT_EQ(tune(undisturbed, 0, toll), 0);
  const auto expected = query(undisturbed, facts);
  for (int round = 0; toll.tried < kills; ++round) {
    const std::string store = folder_.file(std::to_string(round) + ".db");
    toll.crashed += static_cast<std::size_t>(tune(store, kills - toll.tried, toll) != 0);
    const auto found = query(store, facts);
    std::vector<std::string> lost, wrong;
    std::ranges::set_difference(expected, found, std::back_inserter(lost));
    std::ranges::set_difference(found, expected, std::back_inserter(wrong));
    EXPECT_THAT(lost, ::testing::IsEmpty());
    EXPECT_THAT(wrong, ::testing::IsEmpty());
    toll.lost += lost.size();
    toll.wrong += wrong.size();
    toll.demoted += static_cast<std::size_t>(bests(store) != bests(undisturbed));
  }
  report("workers killed, interpreter", toll);
}

// Measured times differ in every run. All trials must be valid, whatever was built or run when the worker was killed.
void KilledWorker::kill_compilers(int kills) {
  device_ = "opencl";
  longest_ = 1;  // seconds that a candidate takes
  config_ = write_file(folder_.path(), "build.yaml", experiment_to_build);
  Toll toll;
  for (int round = 0; toll.tried < kills; ++round) {
    const std::string store = folder_.file(std::to_string(round) + ".db");
    toll.crashed += static_cast<std::size_t>(tune(store, kills - toll.tried, toll) != 0);
    EXPECT_THAT(query(store, "SELECT status || ': ' || message FROM trial WHERE status NOT IN ('ok', 'slow')"),
                ::testing::IsEmpty());
    toll.wrong += count(store, "trial WHERE status NOT IN ('ok', 'slow')");
    toll.demoted += count(store, "(SELECT DISTINCT kernel FROM trial)") - bests(store).size();
  }
  report("workers killed, OpenCL", toll);
}

TEST_F(KilledWorker, AtAnyMoment) { kill_interpreters(6); }
// Takes minutes: --gtest_also_run_disabled_tests
TEST_F(KilledWorker, DISABLED_AtAnyMomentForLong) { kill_interpreters(100); }
TEST_F(KilledWorker, WhileItCompiles) { kill_compilers(3); }
TEST_F(KilledWorker, DISABLED_WhileItCompilesForLong) { kill_compilers(100); }

}  // namespace
}  // namespace deplo::testing
