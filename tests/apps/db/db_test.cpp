// `deplo db`, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/run_program.h"
#include "core/file.h"
#include "core/rng.h"
#include "drawn_seeds.h"
#include "measure/store/pack.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class Db : public ::testing::Test {
 protected:
  Ran db(std::vector<std::string> words) {
    words.insert(words.begin(), {"deplo", "db"});
    return run_program(words);
  }
  Json json(std::vector<std::string> words) {
    words.emplace_back("--json");
    const Ran ran = db(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out);
  }
  /// Returns the error message. It must be one line and the only output.
  std::string refusal(const std::vector<std::string>& words, int code = 1) {
    const Ran ran = db(words);
    EXPECT_EQ(ran.code, code) << words[0] << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.insert(entry.path().filename());
    return names;
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  void execute(const std::string& sql) { measure::sqlite::Database(store_).execute(sql); }

  /// Makes a store with two valid trials and three failures of two kinds.
  std::string make_store(const std::string& name, double best = 2) {
    measure::Store store = measure::Store::open(file(name));
    const measure::Ids ids = measure::add_context(store);
    const auto add = [&](int ordinal, double us, Status status, const char* message) {
      auto trial = measure::some_trial(ids, ordinal, "bm=" + std::to_string(ordinal), us);
      trial.timing.samples = {us, us * 1.5, us * 0.9};
      trial.status = status;
      trial.message = message;
      store.append(trial);
    };
    add(0, best, Status::ok, "");
    add(1, 3, Status::ok, "");
    add(2, 1, Status::wrong_result, "c[1, 2] is 3.5, expected 4");
    add(3, 1, Status::wrong_result, "c[7, 12] is -1e-3, expected 0.25");
    add(4, 1, Status::hang, "stopped after 2 s");
    return file(name);
  }

  measure::TemporaryFolder folder_;
  const std::string store_ = make_store("s.db");
};

TEST_F(Db, EachTellsWhatThereIsAndLeavesNothingBehind) {
  const auto before = files();
  const std::string bytes = read_file(store_);
  const Json info = json({"info", store_});
  EXPECT_EQ(info["rows"]["trial"], 5);
  EXPECT_EQ(info["devices"][0]["kernels"], 1);
  EXPECT_EQ(info["statuses"][0], Json({{"status", "ok"}, {"trials", 2}, {"kernels", 1}}));
  const Json best = json({"best", "--store", store_});
  ASSERT_EQ(best.size(), 1U);
  EXPECT_EQ(best[0]["trail"], "bm=0");
  EXPECT_EQ(best[0]["median_us"], 2);
  EXPECT_EQ(json({"trials", store_, "--limit", "2"})[0]["status"], "hang");
  EXPECT_EQ(json({"trials", store_, "--status", "wrong_result"}).size(), 2U);
  EXPECT_EQ(json({"kernels", store_})[0]["failures"], 3);
  const Json failures = json({"failures", store_});
  ASSERT_EQ(failures.size(), 2U) << "messages that differ in numbers are one";
  EXPECT_EQ(failures[0]["trials"], 2);
  EXPECT_EQ(failures[0]["message"], "c[7, 12] is -1e-3, expected 0.25");
  EXPECT_EQ(json({"sql", "SELECT count(*) AS n FROM trial", store_}), Json::array({{{"n", 5}}}));
  for (const char* command : {"info", "best", "trials", "kernels", "failures", "check", "prune"}) {
    const Ran ran = db({command, store_});
    EXPECT_EQ(ran.code, 0) << command << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_NE(ran.out, "");
  }
  EXPECT_EQ(files(), before);
  EXPECT_EQ(read_file(store_), bytes);
}

// In every command with such a filter, a name, its beginning or a pattern selects kernels and devices.
TEST_F(Db, KernelsAndDevicesAreNamedByTheirBeginningOrAPattern) {
  {
    measure::Store store = measure::Store::open(store_);
    measure::Ids ids{1, 1, store.add_kernel({"softmax.M3.N17", "softmax"})};
    store.append(measure::some_trial(ids, 5, "bm=9", 7));
    ids.kernel = store.add_kernel({"softmax.M5", "another"});
    store.append(measure::some_trial(ids, 6, "bm=8", 8));
  }
  const auto names = [&](const std::string& command, const std::string& filter) {
    std::set<std::string> found;
    for (const Json& row : json({command, store_, "--kernel", filter})) found.insert(row["kernel"]);
    return found;
  };
  using Names = std::set<std::string>;
  for (const char* command : {"best", "trials", "kernels"}) {
    EXPECT_EQ(names(command, "matmul"), Names({"matmul 4x4x4"})) << command;
    EXPECT_EQ(names(command, "softmax"), Names({"softmax.M3.N17", "softmax.M5"})) << command;
    EXPECT_EQ(names(command, "*.M[35]"), Names({"softmax.M5"})) << command;
    EXPECT_THAT(refusal({command, store_, "--kernel", "sofmax"}),
                AllOf(HasSubstr("--kernel: expected a kernel of the store (matmul 4x4x4, softmax.M3.N17, softmax.M5), "
                                "found 'sofmax'"),
                      HasSubstr("\n")));
  }
  EXPECT_EQ(json({"failures", store_, "--kernel", "mat"}).size(), 2U);
  EXPECT_EQ(json({"failures", store_, "--kernel", "softmax"}).size(), 0U);
  const std::string device = json({"best", store_})[0]["device"];
  EXPECT_EQ(json({"best", store_, "--device", device.substr(0, 3)}).size(), 3U);
  EXPECT_THAT(refusal({"best", store_, "--device", "no such"}),
              HasSubstr("--device: expected a device of the store (" + device));
  EXPECT_EQ(db({"export", "--store", store_, "--kernel", "matmul", "-o", file("m.json")}).code, 0);
  EXPECT_THAT(refusal({"export", "--store", store_, "--kernel", "softmax"}), HasSubstr("name a single space, found 2"));
  EXPECT_EQ(run_program({"deplo", "report", store_, "--kernel", "*.M5", "-o", file("r.html")}).code, 0);
  const std::string page = read_file(file("r.html"));
  EXPECT_THAT(page, HasSubstr("softmax.M5"));
  EXPECT_THAT(page, Not(HasSubstr("softmax.M3")));
}

TEST_F(Db, NoValidTrialIsAMistakeThatSaysWhatThereIs) {
  execute("DELETE FROM trial WHERE status = 'ok'");
  EXPECT_THAT(refusal({"best", store_}),
              HasSubstr("expected a valid trial, found 3 failed or impossible trials of matmul 4x4x4; see `deplo db "
                        "failures` and `deplo db check`"));
  EXPECT_THAT(refusal({"best", store_, "--json"}), HasSubstr("found 3 failed or impossible trials"));
  measure::Store::open(file("empty.db"));
  EXPECT_THAT(refusal({"best", file("empty.db")}), HasSubstr("expected a valid trial, found no trials"));
}

TEST_F(Db, DiffComparesTheBest) {
  const Json rows = json({"diff", store_, make_store("t.db", 1)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["a_us"], 2);
  EXPECT_EQ(rows[0]["b_us"], 1);
  EXPECT_EQ(rows[0]["speed_up"], 2);
  EXPECT_EQ(rows[0]["schedule"], "same");
  measure::Store::open(file("empty.db"));
  EXPECT_EQ(json({"diff", store_, file("empty.db")})[0]["schedule"], "only in A");
  EXPECT_EQ(json({"diff", file("empty.db"), store_})[0]["schedule"], "only in B");
}

TEST_F(Db, BadStoresAreOneLine) {
  write_file(folder_.path(), "text", std::string(5000, 'x'));
  write_file(folder_.path(), "empty", "");
  const std::string future = make_store("future.db"), cut = make_store("cut.db");
  measure::sqlite::Database(future).execute("PRAGMA user_version = 99");
  fs::resize_file(cut, fs::file_size(cut) / 2);
  const auto before = files();
  for (const std::string command : {"info", "best", "trials", "kernels", "failures", "check", "prune"}) {
    EXPECT_THAT(refusal({command, file("none.db")}), HasSubstr("none.db: expected a store, found no such file"));
    EXPECT_THAT(refusal({command, file("text")}), HasSubstr("expected a deplo database, found another kind of file"));
    EXPECT_THAT(refusal({command, file("empty")}), HasSubstr("found an empty file"));
    EXPECT_THAT(refusal({command, future}), HasSubstr("has version 99"));
    EXPECT_THAT(refusal({command, folder_.path().string()}), HasSubstr("found a directory"));
  }
  EXPECT_THAT(refusal({"best", cut}, 2), HasSubstr("damaged"));
  EXPECT_THAT(refusal({"check", cut}, 1), HasSubstr("damaged"));
  EXPECT_THAT(refusal({"merge", file("out.db"), store_, future}), HasSubstr("has version 99"));
  EXPECT_EQ(files(), before) << "also no out.db: all are looked at before anything is written";
}

TEST_F(Db, AStoreOfAnOlderVersionIsReadButNotChanged) {
  const std::string old = file("old.db");
  fs::copy_file(fs::path(DEPLO_SOURCE_DIR) / "tests/fixtures/store_v1.sqlite", old);
  const std::string bytes = read_file(old);
  for (const std::string command : {"best", "trials", "kernels", "failures", "families", "heuristics", "check"})
    EXPECT_EQ(db({command, old}).code, 0) << command;
  EXPECT_EQ(db({"diff", store_, old}).code, 0);
  EXPECT_EQ(db({"export", "--store", old, "--pack", file("old.pack")}).code, 0);
  EXPECT_THAT(db({"info", old}).out, HasSubstr("old.db: version 1, "));
  EXPECT_THAT(refusal({"prune", old}), HasSubstr("deplo db info --migrate "));
  EXPECT_THAT(refusal({"merge", store_, old}), HasSubstr("deplo db info --migrate "));
  EXPECT_EQ(read_file(old), bytes);
  EXPECT_EQ(db({"info", "--migrate", old}).code, 0);
  EXPECT_EQ(db({"prune", old}).code, 0);
}

// Whatever the bytes are, a command prints an answer or one line of error.
TEST_F(Db, DamagedStores) {
  const std::string sound = read_file(store_);
  for (const std::uint64_t seed : drawn_seeds(60)) {
    Rng rng(seed);
    std::string bytes = sound;
    for (std::uint64_t n = 1 + rng.below(40); n > 0; --n)
      bytes[rng.below(4) == 0 ? rng.below(200) : rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    const std::string damaged = write_file(folder_.path(), "damaged.db", bytes);
    const std::vector<std::vector<std::string>> commands = {
        {"info", damaged},         {"best", damaged},     {"trials", damaged, "--json"},
        {"kernels", damaged},      {"failures", damaged}, {"check", damaged},
        {"diff", store_, damaged}, {"prune", damaged},    {"merge", file("out.db"), damaged}};
    const auto& command = commands[seed % commands.size()];
    const Ran ran = db(command);
    EXPECT_LE(ran.code, 2) << command[0] << " seed " << seed << ran.err;
    EXPECT_LE(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_TRUE(!fs::exists(file("out.db")) || measure::is_intact(file("out.db"))) << "seed " << seed;
  }
}

TEST_F(Db, BadFlagsAreOneLine) {
  EXPECT_THAT(refusal({"best", store_, "--store", store_}), HasSubstr("expected one store"));
  EXPECT_THAT(refusal({"best", store_, "--limit", "0"}), HasSubstr("--limit"));
  EXPECT_THAT(refusal({"trials", store_, "--status", "bad"}), HasSubstr("bad"));
  EXPECT_THAT(refusal({"diff", store_}), HasSubstr("expected two stores, found 1"));
  EXPECT_THAT(refusal({"merge", store_}), HasSubstr("expected a store to write and at least one to read"));
  EXPECT_THAT(refusal({"merge", store_, store_}), HasSubstr("the same file"));
  EXPECT_THAT(refusal({"info", store_, "--bad"}), HasSubstr("--bad"));
}

// Regression test: the empty file became a store.
TEST_F(Db, MergeFillsAnEmptyPack) {
  const std::string from = file("from.db"), pack = write_file(folder_.path(), "empty.pack", "");
  fs::copy_file(fs::path(DEPLO_SOURCE_DIR) / "tests/fixtures/store_v1.sqlite", from);
  EXPECT_EQ(db({"info", "--migrate", from}).code, 0);
  EXPECT_THAT(db({"merge", pack, from}).out, HasSubstr("empty.pack: 2 schedules of 1 device"));
  EXPECT_TRUE(measure::is_pack(pack));
}

// An object of JSON would keep one of two values with the same name.
TEST_F(Db, SqlAsJsonNeedsDistinctNames) {
  const char* const twice = "SELECT t.id, r.id FROM trial t JOIN run r ON r.id = t.run";
  EXPECT_THAT(refusal({"sql", twice, store_, "--json"}), HasSubstr("found 'id' twice; name them with AS"));
  EXPECT_THAT(db({"sql", twice, store_}).out, ::testing::StartsWith("id  id\n"));
}

TEST_F(Db, SqlOnlyReads) {
  const std::string bytes = read_file(store_);
  for (const char* sql :
       {"DELETE FROM trial", "CREATE VIRTUAL TABLE t USING json_each", "UPDATE run SET host = ''", "CREATE TABLE t (a)",
        "PRAGMA user_version = 1", "VACUUM", "ATTACH 'other.db' AS o", "BEGIN", "SELECT 1; DELETE FROM trial"})
    EXPECT_THAT(refusal({"sql", sql, store_}), HasSubstr("expected one statement that only reads")) << sql;
  EXPECT_THAT(refusal({"sql", "VACUUM INTO '" + file("copy.db") + "'", store_}), HasSubstr("only reads"));
  EXPECT_THAT(refusal({"sql", "UPDATE sqlite_master SET sql = ''", store_}), HasSubstr("may not be modified"));
  EXPECT_THAT(refusal({"sql", "SELECT no_column FROM trial", store_}), HasSubstr("no such column: no_column"));
  EXPECT_THAT(refusal({"sql", "", store_}), HasSubstr("found none"));
  EXPECT_THAT(refusal({"sql", store_, "SELECT 1"}), HasSubstr("expected a SELECT, and the store after it, found the"));
  EXPECT_EQ(read_file(store_), bytes);
  EXPECT_EQ(db({"sql", "SELECT 'a\nb' AS text, NULL AS none, 1.5 AS real; -- a comment", store_}).out,
            "text  none  real\na b   -     1.50\n");
}

TEST_F(Db, CheckFindsWhatCannotBe) {
  EXPECT_EQ(db({"check", store_}).out, store_ + ": sound\n");
  const auto breaks = [&](const std::string& sql, const char* fault) {
    const std::string broken = file("broken.db");
    fs::copy_file(store_, broken, fs::copy_options::overwrite_existing);
    measure::sqlite::Database(broken).execute("PRAGMA ignore_check_constraints = ON; " + sql);
    const Ran ran = db({"check", broken});
    EXPECT_EQ(ran.code, 1) << sql;
    EXPECT_THAT(ran.out, HasSubstr(fault)) << sql;
  };
  breaks("UPDATE trial SET median_us = -1 WHERE id = 1", "a time that is not a positive number");
  breaks("UPDATE trial SET median_us = 9e999 WHERE id = 1", "a time that is not a positive number");
  breaks("UPDATE trial SET median_us = 100 WHERE id = 1", "a median that contradicts its samples");
  breaks("UPDATE trial SET samples = '[]' WHERE id = 1", "ok without samples");
  breaks("UPDATE trial SET samples = '[2, null]' WHERE id = 1", "ok with a sample that is not a positive number");
  breaks("UPDATE trial SET samples = '[\"2\"]' WHERE id = 3", "samples that are not numbers");
  breaks("UPDATE trial SET samples = 'nan' WHERE id = 3", "samples that are not a JSON array");
  breaks("UPDATE trial SET median_us = NULL WHERE id = 1", "ok without a time");
  breaks("UPDATE trial SET status = 'fine' WHERE id = 1", "an unknown status 'fine'");
  breaks("UPDATE trial SET created = 'soon' WHERE id = 1", "an impossible date");
  breaks("UPDATE kernel SET text = 'another'", "a key that is not the digest of the text");
  breaks("UPDATE kernel SET exact_key = 'another'", "structural keys that do not match the text");
  breaks("DELETE FROM run", "a missing run");
}

TEST_F(Db, PruneRemovesOnlyWhatWasReplacedAndOnlyWhenTold) {
  {
    measure::Store store = measure::Store::open(store_);
    const measure::Ids ids{1, 1, 1};
    auto newer = measure::some_trial(ids, 5, "bm=1", 4);  // another source from the same schedule
    newer.digest = "another";
    store.append(newer);
    newer.trail = "bm=4";  // the schedule of the trial that hung
    store.append(newer);
  }
  execute(
      "INSERT INTO run (device, revision, config, searcher, seed, host, started) VALUES (1, '', '', '', 0, '', "
      "'2026-01-01T00:00:00.000Z')");
  const Json expected = Json::array({{{"what", "trials of an older source"}, {"kernel", "matmul 4x4x4"}, {"rows", 1}},
                                     {{"what", "empty runs"}, {"kernel", nullptr}, {"rows", 1}}});
  EXPECT_EQ(json({"prune", store_}), expected);
  EXPECT_THAT(db({"prune", store_}).out, HasSubstr("nothing was removed"));
  EXPECT_EQ(json({"info", store_})["rows"]["trial"], 7);
  const Json best = json({"best", store_});
  EXPECT_EQ(json({"prune", "--apply", store_}), expected);
  EXPECT_EQ(json({"info", store_})["rows"]["trial"], 6);
  EXPECT_EQ(json({"info", store_})["rows"]["run"], 1);
  EXPECT_EQ(json({"trials", store_, "--status", "hang"}).size(), 1U) << "a resumed run heeds it";
  EXPECT_EQ(json({"best", store_}), best);
  EXPECT_EQ(json({"prune", "--apply", store_}), Json::array());
  EXPECT_TRUE(measure::is_intact(store_));
}

TEST_F(Db, AReadOnlyFolderIsRead) {
  const measure::TemporaryFolder disk;
  if (mount("tmpfs", disk.path().c_str(), "tmpfs", 0, "size=1m") != 0) GTEST_SKIP() << "no right to mount a tmpfs";
  fs::copy_file(store_, disk.file("s.db"));
  if (mount(nullptr, disk.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0) {
    EXPECT_EQ(json({"best", disk.file("s.db")}).size(), 1U);
    EXPECT_EQ(db({"merge", file("out.db"), disk.file("s.db")}).code, 0);
    EXPECT_THAT(refusal({"prune", "--apply", disk.file("s.db")}, 2), HasSubstr("is not writable"));
    EXPECT_THAT(refusal({"merge", disk.file("s.db"), store_}, 2), HasSubstr("is not writable"));
  }
  umount2(disk.path().c_str(), MNT_DETACH);
}

TEST_F(Db, ShardsMergedAreOneProcess) {
  const std::string yaml = write_file(folder_.path(), "e.yaml",
                                      "device: interpreter\nsearch: {strategy: random}\nbudget: {time: 60, trials: 4}\n"
                                      "kernels:\n  - {kernel: matmul, symbols: {M: 5, N: 6, K: 7}}\n"
                                      "  - {kernel: matmul, name: again, symbols: {M: 5, N: 6, K: 7}}\n"
                                      "  - {kernel: softmax, symbols: {M: 3, N: 11}}\n"
                                      "  - {kernel: gelu, symbols: {M: 3, N: 10}}\n");
  const auto tune = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words{"deplo", "tune", "--config", yaml, "--store", file(name)};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  EXPECT_EQ(tune("one.db", {}).code, 0);
  EXPECT_THAT(tune("1.db", {"--shard", "1/2"}).err,
              HasSubstr("shard 1/2 tunes matmul.K7.M5.N6, gelu.M3.N10; 2/2: softmax.M3.N11\n"));
  EXPECT_EQ(tune("2.db", {"--shard", "2/2"}).code, 0);
  const Ran none = tune("4.db", {"--shard", "4/4"});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_THAT(none.err, HasSubstr("shard 4/4 tunes nothing"));
  EXPECT_EQ(db({"merge", file("all.db"), file("2.db"), file("1.db"), file("4.db")}).code, 0);
  const auto screened = [&](const std::string& name) {
    return json({"sql",
                 "SELECT DISTINCT k.key, t.trail, t.digest, t.status FROM trial t JOIN kernel k ON k.id = "
                 "t.kernel WHERE t.stage = 'screen' ORDER BY 1, 2",
                 file(name)});
  };
  EXPECT_EQ(screened("all.db"), screened("one.db"));
  EXPECT_EQ(json({"best", file("all.db")}).size(), 3U);
  EXPECT_EQ(json({"sql", "SELECT count(*) AS n FROM run WHERE config LIKE '%--shard _/_%'", file("all.db")})[0]["n"],
            3);
  for (const char* bad : {"0/2", "3/2", "1", "1/", "/2", "a/b", "1/2x", "-1/2", "1/0", ""})
    EXPECT_THAT(tune("bad.db", {"--shard", bad}).err, HasSubstr("--shard")) << bad;
  EXPECT_FALSE(fs::exists(file("bad.db")));
}

}  // namespace
}  // namespace deplo::testing
