// A run fails in the middle of a candidate because the store reports an error. The run withdraws its announcement of
// the candidate and prints the reason, and the next run continues where it ended.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/run_program.h"
#include "core/error.h"
#include "engine/tune/tune.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
using Rows = std::vector<std::string>;

class FailingRun : public ::testing::Test {
 protected:
  FailingRun() { measure::Store::open(store_); }

  /// From now on the store refuses announced trials once it contains this many trials.
  void refuse_after(int trials) const {
    measure::sqlite::Database(store_).execute(
        fmt::format("CREATE TRIGGER refuse BEFORE INSERT ON trial WHEN (SELECT count(*) FROM trial) >= {} AND "
                    "EXISTS (SELECT 1 FROM running) BEGIN SELECT RAISE(ABORT, 'no more trials'); END",
                    trials));
  }
  void accept() const { measure::sqlite::Database(store_).execute("DROP TRIGGER refuse"); }

  Ran run(const std::string& store, int trials, const How& how = {}) const {
    return run_program(
        {"deplo-tune", "--quiet", "--store", store, "--config", config_, "--trials", std::to_string(trials)}, how);
  }
  void tune_here() const {
    Progress silent(stderr, true);
    engine::Board board;
    engine::tune(engine::load_experiment(config_), {.store = store_, .overrides = "", .in_process = true}, silent,
                 board);
  }
  static Rows query(const std::string& store, const std::string& sql) {
    measure::sqlite::Database database(store);
    measure::sqlite::Statement statement(database, sql);
    Rows rows;
    while (statement.step()) rows.push_back(statement.text(0));
    return rows;
  }
  Rows begun() const { return query(store_, "SELECT trail FROM running"); }
  Rows failures() const { return query(store_, "SELECT status || ' ' || message FROM trial WHERE status <> 'ok'"); }
  static Rows screened(const std::string& store) {
    return query(store, "SELECT trail FROM trial WHERE stage = 'screen' ORDER BY id");
  }

  measure::TemporaryFolder folder_;
  const std::string store_ = folder_.file("s.db");
  const std::string config_ = write_file(folder_.path(), "x.yaml",
                                         "device: interpreter\nsearch: {strategy: random}\n"
                                         "budget: {time: 60, trials: 4, patience: 1000}\n"
                                         "kernels:\n  - {kernel: matmul, symbols: {M: 4, N: 6, K: 8}}\n");
};

TEST_F(FailingRun, TheNextRunGoesOnWhereItEnded) {
  const std::string undisturbed = folder_.file("whole.db");
  ASSERT_EQ(run(undisturbed, 6).code, 0);

  refuse_after(2);
  const Ran failed = run(store_, 6);
  EXPECT_EQ(failed.code, 2);
  EXPECT_THAT(failed.err, HasSubstr("store " + store_ + ": no more trials"));
  EXPECT_THAT(screened(store_), SizeIs(2));
  EXPECT_THAT(begun(), IsEmpty());

  accept();
  const Ran resumed = run(store_, 4);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(screened(store_), screened(undisturbed)) << "the refused one is asked for again, nothing else twice";
  EXPECT_THAT(failures(), IsEmpty());
  EXPECT_TRUE(measure::is_intact(store_));
}

// In a library, the process continues after the error. If it left its announcement in the store, the next run would
// wait for its own process forever.
TEST_F(FailingRun, TheSameProcessGoesOn) {
  refuse_after(2);
  EXPECT_THAT([&] { tune_here(); }, ThrowsMessage<Error>(HasSubstr("no more trials")));
  EXPECT_THAT(screened(store_), SizeIs(2));
  ASSERT_THAT(begun(), IsEmpty());
  accept();
  tune_here();
  EXPECT_THAT(screened(store_), SizeIs(6)) << "four more";
  EXPECT_THAT(failures(), IsEmpty());
}

// Here even the announcement cannot be deleted. The next run finds it, and tries the candidate again.
TEST_F(FailingRun, AStoreThatTakesNothingAnyMore) {
  refuse_after(2);
  measure::sqlite::Database(store_).execute(
      "CREATE TRIGGER keep BEFORE DELETE ON running WHEN OLD.ordinal >= 2 "
      "BEGIN SELECT RAISE(ABORT, 'nothing is deleted'); END");
  const Ran failed = run(store_, 6);
  EXPECT_EQ(failed.code, 2);
  EXPECT_THAT(failed.err, HasSubstr("no more trials")) << "the first reason is the one to tell";
  const Rows left = begun();
  ASSERT_THAT(left, SizeIs(1));

  accept();
  measure::sqlite::Database(store_).execute("DROP TRIGGER keep");
  EXPECT_EQ(run(store_, 4).code, 0);
  EXPECT_THAT(begun(), IsEmpty());
  EXPECT_THAT(failures(), ::testing::ElementsAre(HasSubstr("worker_lost lost: the tuner ended")));
  EXPECT_THAT(query(store_, "SELECT trail FROM trial WHERE status = 'ok' AND stage = 'screen'"),
              ::testing::Contains(left[0]));
}

// A run that is refused as a whole leaves nothing behind: no store, and no folder for it.
TEST(RefusedRun, CreatesNothing) {
  const measure::TemporaryFolder folder;
  const std::string store = folder.file("s.db");
  const std::string tiny = "kernels:\n  - {kernel: softmax, symbols: {M: 3, N: 11}}\n";
  const std::string config = write_file(folder.path(), "x.yaml", "device: interpreter\n" + tiny);
  write_file(folder.path(), "k.cl", "__kernel void k(__global float* y) { y[get_global_id(0)] = B; }\n");
  const std::string space =
      write_file(folder.path(), "k.yaml",
                 "ConfigurationSpace: {TuningParameters: [{Name: B, Values: [4, 8]}]}\n"
                 "KernelSpecification:\n  KernelName: k\n  KernelFile: k.cl\n  LocalSize: {X: B}\n  ProblemSize: [16]\n"
                 "  Arguments: [{Name: y, Type: float, Size: 16, AccessType: WriteOnly}]\n");
  const std::vector<Rows> refused = {
      {"--config", config, "--device", "ptx:sm_90"},
      {"--config", config, "--device", "opencl:99"},
      {"--config", config, "--device", "cuda:99"},
      {"--config", config, "--target", "sm_90", "--device", "opencl"},
      {"--config", config, "--target", "none"},
      {"--config", config, "--restrict", "none_of_these"},
      {"--config", config, "--warm-start", folder.file("none.db")},
      {"--config", config, "--same-bits-as", "tileify.none=3"},
      {"--config", config, "--same-bits-as", "no trail"},
      {"--config", config, "--same-rows-as", "12"},
      {"--config", config, "--inputs", folder.file("none.yaml")},
      {"--config", config, "--set", "none=1"},
      {"--config", config, "--shard", "3/2"},
      {"--config", write_file(folder.path(), "r.yaml", "restrict: none_of_these\ndevice: interpreter\n" + tiny)},
      {"--space", space, "--device", "interpreter"},
      {"--space", space, "--objectives", "registers"},
      {"--config", config, "--objectives", "time,energy"},
      {"--config", config, "--objectives", "time,power"},
      {"--kernel", "softmax", "--shapes", "M=3,4 N=11", "--objectives", "time,code_size"},
      {"--space", space, "--deterministic"},
      {"--space", space, "--kernel-file", folder.file("none.cl")},
  };
  for (Rows words : refused) {
    const std::string flags = fmt::format("{}", fmt::join(words, " "));
    words.insert(words.begin(), {"deplo", "tune", "--quiet", "--store", store});
    const Ran ran = run_program(words);
    EXPECT_NE(ran.code, 0) << flags;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << flags << "\n" << ran.err;
    EXPECT_FALSE(std::filesystem::exists(store)) << flags;
    std::filesystem::remove(store);
  }
}

}  // namespace
}  // namespace deplo::testing
