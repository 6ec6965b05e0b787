// The store's files are deleted, replaced, overwritten or truncated while a tuner writes to them. The tuner says so in
// one line and ends with exit code 2. A new file next to the store has what was measured.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <ostream>
#include <thread>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Loss {
  const char* name;
  std::function<void(const std::string& store, const std::string& other)> happens;  // `other`: another store
  const char* said;
  bool whole;  // all of the store can still be read, not only the trials of this run
};
void PrintTo(const Loss& one, std::ostream* out) { *out << one.name; }  // for the names of tests

void overwrite(const std::string& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;  // keeps the file's inode, as `cp` and `>` do
}

const Loss losses[] = {
    {"deleted", [](auto store, auto /*other*/) { fs::remove(store); }, "was deleted", true},
    {"deleted_with_all_beside_it",
     [](auto store, auto /*other*/) {
       for (const char* end : {"", "-wal", "-shm"}) fs::remove(store + end);
     },
     "was deleted", true},
    {"renamed", [](auto store, auto /*other*/) { fs::rename(store, store + ".old"); }, "was deleted", true},
    {"replaced_by_another_store",
     [](auto store, auto other) {
       fs::copy_file(other, store + ".new");
       fs::rename(store + ".new", store);
     },
     "was replaced by another file", true},
    {"replaced_by_garbage",
     [](auto store, auto /*other*/) {
       overwrite(store + ".new", "garbage");
       fs::rename(store + ".new", store);
     },
     "was replaced by another file", true},
    {"another_store_copied_over_it", [](auto store, auto other) { overwrite(store, read_file(other)); },
     "was overwritten", false},
    {"garbage_written_over_it", [](auto store, auto /*other*/) { overwrite(store, std::string(100'000, 'x')); },
     "was overwritten", false},
    {"truncated_to_nothing", [](auto store, auto /*other*/) { fs::resize_file(store, 0); }, "was truncated", false},
    {"truncated_to_a_half", [](auto store, auto /*other*/) { fs::resize_file(store, fs::file_size(store) / 2); },
     "was truncated", false},
    {"log_deleted", [](auto store, auto /*other*/) { fs::remove(store + "-wal"); }, "-wal, which was deleted", true},
    {"log_truncated", [](auto store, auto /*other*/) { fs::resize_file(store + "-wal", 0); },
     "-wal, which was truncated", false},
    {"index_deleted", [](auto store, auto /*other*/) { fs::remove(store + "-shm"); }, "-shm, which was deleted", true},
};

class Lost : public ::testing::Test {
 protected:
  std::vector<std::string> tune(const std::string& store, int trials) const {
    return {"deplo-tune", "--quiet", "--store", store, "--config", config_, "--trials", std::to_string(trials)};
  }
  static std::int64_t count(const std::string& store, const std::string& table = "trial") {
    return measure::sqlite::Database(store).integer("SELECT count(*) FROM " + table);
  }
  /// Waits until this many more trials are stored.
  void wait_for(std::int64_t trials) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const std::int64_t enough = count(store_) + trials;
    while (count(store_) < enough && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  measure::TemporaryFolder folder_;
  const std::string store_ = folder_.file("s.db"), rescued_ = store_ + ".rescued";
  const std::string config_ = write_file(folder_.path(), "x.yaml",
                                         "device: interpreter\nsearch: {strategy: random}\n"
                                         "budget: {time: 600, trials: 3, patience: 100000}\n"
                                         "kernels:\n  - {kernel: matmul, symbols: {M: 16, N: 24, K: 32}}\n");
};

class LostStore : public Lost, public ::testing::WithParamInterface<Loss> {};

TEST_P(LostStore, IsSaidAndSaved) {
  const Loss& loss = GetParam();
  const std::string other = folder_.file("other.db");
  ASSERT_EQ(run_program(tune(store_, 3)).code, 0);
  ASSERT_EQ(run_program(tune(other, 2)).code, 0);
  const std::int64_t earlier = count(store_), of_other = count(other);
  std::int64_t seen = 0;
  const Ran ran = run_program(tune(store_, 100'000), {.meanwhile = [&] {
                                wait_for(5);
                                seen = count(store_);
                                loss.happens(store_, other);
                              }});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("deplo: store " + store_ + ": "));
  EXPECT_THAT(ran.err, HasSubstr(loss.said));
  EXPECT_THAT(ran.err, HasSubstr(" are in " + rescued_ + "\n"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1);

  ASSERT_TRUE(fs::exists(rescued_)) << ran.err;
  EXPECT_GE(count(rescued_), loss.whole ? seen : seen - earlier);
  EXPECT_EQ(count(rescued_, "run"), loss.whole ? 2 : 1);
  EXPECT_EQ(count(rescued_, "running"), 0);
  const Ran checked = run_program({"deplo", "db", "check", rescued_});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  EXPECT_EQ(run_program(tune(rescued_, 1)).code, 0) << "a run goes on from it";
  if (std::string(loss.name).find("another_store") != std::string::npos) {
    EXPECT_EQ(run_program({"deplo", "db", "check", store_}).code, 0);
    EXPECT_EQ(count(store_), of_other) << "the other store is as it was";
  }
}

INSTANTIATE_TEST_SUITE_P(Files, LostStore, ::testing::ValuesIn(losses),
                         [](const auto& loss) { return std::string(loss.param.name); });

TEST_F(Lost, NothingIsOverwrittenByWhatIsSaved) {
  write_file(folder_.path(), "s.db.rescued", "precious");
  ASSERT_EQ(run_program(tune(store_, 1)).code, 0);
  const Ran ran = run_program(tune(store_, 100'000), {.meanwhile = [&] {
                                wait_for(2);
                                fs::remove(store_);
                              }});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(read_file(rescued_), "precious");
  EXPECT_THAT(ran.err, HasSubstr(rescued_ + "-2\n"));
  EXPECT_GT(count(rescued_ + "-2"), 0);
}

// Legitimate changes by other processes do not count as a loss.
TEST_F(Lost, CheckpointsVacuumAndMergeAreNone) {
  ASSERT_EQ(run_program(tune(store_, 3)).code, 0);
  fs::copy_file(store_, folder_.file("more.db"));
  const Ran ran = run_program(
      tune(store_, 40), {.meanwhile = [&] {
        for (int i = 0; i < 10; ++i) {
          wait_for(1);
          measure::sqlite::Database(store_).try_execute(i % 2 == 0 ? "PRAGMA wal_checkpoint(TRUNCATE)" : "VACUUM");
        }
        run_program({"deplo", "db", "merge", store_, folder_.file("more.db")});
      }});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(measure::is_intact(store_));
  EXPECT_FALSE(fs::exists(rescued_));
}

}  // namespace
}  // namespace deplo::testing
