// Stores that somebody changed by hand, maliciously or by accident. For each kind of change, all commands that read a
// store must print a table or one line of error, and exit with the right code. They must not print characters that
// control a terminal, or use a time that cannot be verified. The table `tamperings` lists everything that is tried.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// What `deplo run --tuned` does with such a store.
enum class Run {
  tuned,      // uses the tuned schedule, which is still sound
  heuristic,  // uses the heuristic's schedule, because none is sound; the note says why
  refused,    // refuses the store
};

struct Tampering {
  const char* name;
  const char* sql;    // statements that change the store; "": its bytes are changed instead
  const char* fault;  // what `deplo db check` says; "": nothing
  Run run;
};
void PrintTo(const Tampering& one, std::ostream* out) { *out << one.name; }  // for the names of tests

#define ESCAPES "char(27) || '[31m' || char(7) || char(155) || char(8238) || char(10) || 'forged  row'"
#define ENDLESS "AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x AS id FROM r"

// The store has four valid trials. Trial 1 has the best schedule.
const Tampering tamperings[] = {
    {"time_negative", "UPDATE trial SET median_us = -1", "a time that is not a positive number", Run::heuristic},
    {"time_zero", "UPDATE trial SET median_us = 0", "a time that is not a positive number", Run::heuristic},
    {"time_infinite", "UPDATE trial SET median_us = 9e999", "a time that is not a positive number", Run::heuristic},
    {"time_of_years", "UPDATE trial SET median_us = 1e300, samples = '[1e300]'", "a time that is not a positive number",
     Run::heuristic},
    {"time_below_a_cycle", "UPDATE trial SET median_us = 1e-9, samples = '[1e-9]'", "a time that no hardware can reach",
     Run::heuristic},
    {"time_below_the_ceilings",
     "INSERT INTO ceiling (run, copy_gb_s, read_gb_s, fp32_gflop_s) VALUES (1, 0.001, 0.001, 0.001)",
     "a time that no hardware can reach", Run::heuristic},
    {"time_beside_its_samples", "UPDATE trial SET median_us = 0.5", "a median that contradicts its samples",
     Run::heuristic},
    {"time_of_one_trial",
     "UPDATE trial SET median_us = 0.5 WHERE stage = 'confirm' AND id = (SELECT max(id) FROM trial)",
     "a median that contradicts its samples", Run::tuned},
    {"time_missing", "UPDATE trial SET median_us = NULL", "ok without a time", Run::heuristic},
    {"samples_none", "UPDATE trial SET samples = '[]'", "ok without samples", Run::heuristic},
    {"samples_negative", "UPDATE trial SET samples = '[-1, -2]'", "a sample that is not a positive number",
     Run::heuristic},
    {"samples_null", "UPDATE trial SET samples = '[null]'", "a sample that is not a positive number", Run::heuristic},
    {"samples_no_json", "UPDATE trial SET samples = 'n'", "samples that are not a JSON array", Run::heuristic},
    {"samples_an_object", "UPDATE trial SET samples = '{\"a\": [1]}'", "samples that are not a JSON array",
     Run::heuristic},
    {"samples_huge", "UPDATE trial SET samples = '[' || replace(hex(zeroblob(50000)), '00', '1e308,') || '1]'",
     "a sample that is not a positive number", Run::heuristic},
    {"fidelity_two", "UPDATE trial SET fidelity = 2", "an invalid fraction of the grid", Run::heuristic},
    {"fidelity_zero", "UPDATE trial SET fidelity = 0", "an invalid fraction of the grid", Run::heuristic},
    {"batch_zero", "UPDATE trial SET batch = 0", "a batch or sets below one", Run::heuristic},
    {"sets_negative", "UPDATE trial SET sets = -5", "a batch or sets below one", Run::heuristic},
    {"build_time_negative", "UPDATE trial SET build_ms = -1", "a negative build time", Run::tuned},
    {"status_unknown", "UPDATE trial SET status = 'fine', median_us = NULL", "an unknown status 'fine'",
     Run::heuristic},
    {"stage_unknown", "UPDATE trial SET stage = 'proven'", "", Run::tuned},
    {"moment_none", "UPDATE trial SET created = 'soon'", "an impossible date", Run::tuned},
    {"trail_garbage", "UPDATE trial SET trail = 'a=b=c %s%n ../../etc'", "", Run::heuristic},
    {"trail_megabyte", "UPDATE trial SET trail = 'a=' || hex(zeroblob(500000))", "", Run::heuristic},
    {"digest_other", "UPDATE trial SET digest = 'd41d8cd98f00b204e9800998ecf8427e'", "", Run::heuristic},
    {"kernel_text_other", "UPDATE kernel SET text = replace(text, 'multiply', 'add')",
     "a key that is not the digest of the text", Run::heuristic},
    {"kernel_text_garbage", "UPDATE kernel SET text = 'rm -rf'", "a key that is not the digest of the text",
     Run::heuristic},
    {"kernel_keys_other", "UPDATE kernel SET exact_key = 'x'", "structural keys that do not match the text",
     Run::heuristic},
    {"kernel_name_with_escapes", "UPDATE kernel SET name = " ESCAPES, "", Run::tuned},
    {"trail_with_escapes", "UPDATE trial SET trail = " ESCAPES ", stage = 'screen'", "", Run::heuristic},
    {"messages_with_escapes", "UPDATE trial SET status = 'build_error', median_us = NULL, message = " ESCAPES, "",
     Run::heuristic},
    {"status_with_escapes", "UPDATE trial SET status = " ESCAPES ", median_us = NULL", "an unknown status",
     Run::heuristic},
    {"device_name_with_escapes", "UPDATE device SET name = " ESCAPES ", driver = " ESCAPES, "", Run::heuristic},
    {"device_without_threads", "UPDATE device SET max_threads = 0, shared_bytes = -1", "", Run::tuned},
    {"ceilings_negative", "INSERT INTO ceiling (run, copy_gb_s, read_gb_s, fp32_gflop_s) VALUES (1, -1, -1, -1)",
     "a ceiling that is not a positive number", Run::tuned},
    {"runs_deleted", "DELETE FROM run", "a missing run", Run::heuristic},
    {"kernels_deleted", "DELETE FROM kernel", "a missing kernel", Run::heuristic},
    {"table_dropped", "DROP TABLE ceiling", "expected 7 tables of deplo, found 6", Run::refused},
    {"column_renamed", "ALTER TABLE trial RENAME COLUMN median_us TO us", "no such column", Run::refused},
    {"view_endless_for_trial", "ALTER TABLE trial RENAME TO t; CREATE VIEW trial " ENDLESS,
     "expected 'trial' to be a table, found a view", Run::refused},
    {"view_endless_for_kernel", "ALTER TABLE kernel RENAME TO k; CREATE VIEW KERNEL " ENDLESS,
     "expected 'KERNEL' to be a table, found a view", Run::refused},
    {"view_beside_the_tables", "CREATE VIEW mine AS SELECT count(*) FROM trial", "", Run::tuned},
    {"triggers", "CREATE TRIGGER t AFTER INSERT ON trial BEGIN DELETE FROM trial; END", "", Run::tuned},
    {"virtual_table", "ALTER TABLE running RENAME TO r; CREATE VIRTUAL TABLE running USING fts5(id)",
     "expected 'running' to be a table, found a virtual table", Run::refused},
    {"version_newer", "PRAGMA user_version = 99", "has version 99", Run::refused},
    {"version_zero", "PRAGMA user_version = 0", "expected a deplo database, found an empty file", Run::refused},
    {"other_program", "PRAGMA application_id = 1", "another program's", Run::refused},
    {"page_garbage", "", "damaged", Run::refused},
    {"cut_in_half", "", "damaged", Run::refused},
    {"empty_file", "", "found an empty file", Run::refused},
    {"no_database", "", "expected a deplo database, found another kind of file", Run::refused},
};

/// Returns whether the text has no control characters, apart from newlines, and none that reverse its direction.
bool is_plain(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if ((c < 0x20 && c != '\n') || c == 0x7F || (c == 0xC2 && next < 0xA0)) return false;
    if (text.compare(i, 3, "\xe2\x80\xae") == 0) return false;
  }
  return true;
}

class Tampered : public ::testing::TestWithParam<Tampering> {
 protected:
  static constexpr const char* code = "torch.randn(8, 9) @ torch.randn(9, 10)";
  static void SetUpTestSuite() {
    folder_ = new measure::TemporaryFolder;
    const std::string experiment =
        write_file(folder_->path(), "x.yaml",
                   fmt::format("device: interpreter\nsearch: {{strategy: random}}\nbudget: {{trials: 2, patience: 9}}\n"
                               "kernels:\n  - {{name: m, expression: \"{}\"}}\n",
                               code));
    const std::string made = folder_->file("sound.db");
    ASSERT_EQ(run_program({"deplo-tune", "--quiet", "--store", made, "--config", experiment}).code, 0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  /// Returns the store after the tampering.
  std::string tamper() {
    const std::string file = own_.file("t.db");
    fs::copy_file(folder_->file("sound.db"), file);
    const std::string name = GetParam().name;
    if (std::string(GetParam().sql) != "") {
      measure::sqlite::Database database(file);
      database.execute(
          "PRAGMA journal_mode = DELETE; PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; "
          "PRAGMA legacy_alter_table = ON; " +
          std::string(GetParam().sql));
      return file;
    }
    std::string bytes = read_file(file);
    if (name == "page_garbage") bytes.replace(4096, bytes.size() - 4096, bytes.size() - 4096, 'x');
    if (name == "cut_in_half") bytes.resize(bytes.size() / 2);
    if (name == "empty_file") bytes.clear();
    if (name == "no_database") bytes.assign(5000, 'x');
    write_file(own_.path(), "t.db", bytes);
    return file;
  }

  static Ran run(Words words) {
    words.insert(words.begin(), "deplo");
    Ran ran = run_program(words);
    EXPECT_LE(ran.code, 2) << fmt::format("{}", words[1]) << ran.err;
    EXPECT_TRUE(is_plain(ran.out)) << words[1] << " " << words[2] << ":\n" << ran.out;
    EXPECT_TRUE(is_plain(ran.err)) << words[1] << " " << words[2] << ":\n" << ran.err;
    EXPECT_LE(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran;
  }

  measure::TemporaryFolder own_;
  static inline measure::TemporaryFolder* folder_ = nullptr;
};

TEST_P(Tampered, IsSaidAndHarmless) {
  const auto& [name, sql, fault, expected] = GetParam();
  const std::string store = tamper();
  const std::string before = read_file(store);

  const Ran checked = run({"db", "check", store});
  EXPECT_EQ(checked.code == 0, std::string(fault).empty()) << checked.out << checked.err;
  EXPECT_THAT(checked.out + checked.err, HasSubstr(fault));

  const Ran ran = run({"run", "-c", code, "--device", "interpreter", "--tuned", store, "--json"});
  if (expected == Run::refused) {
    EXPECT_NE(ran.code, 0);
  } else {
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json["kernels"][0]["schedule"], expected == Run::tuned ? "tuned" : "heuristic") << ran.out;
    EXPECT_TRUE(json["right"]);
    if (std::string(fault).find("a time that") == 0 || std::string(fault).find("a median") == 0) {
      EXPECT_THAT(std::string(json["kernels"][0]["note"]), HasSubstr(fault));
    }
  }
  EXPECT_EQ(read_file(store), before) << "who reads changes nothing";
  if (expected == Run::refused) return;
  for (const char* list : {"info", "best", "trials", "kernels", "failures"}) {
    const Ran shown = run({"db", list, store});
    // `best` names the trials that `run` chooses from.
    if (std::string(list) == "best" && std::string(fault).find("a time that no") == 0) {
      EXPECT_EQ(shown.code, 1);
      EXPECT_EQ(shown.out, "");
      EXPECT_THAT(shown.err, HasSubstr("expected a valid trial, found "));
    }
  }
  run({"db", "trials", store, "--json"});
  run({"db", "export", "--store", store, "--format", "csv"});
  run({"report", store, "--output", own_.file("report.html")});
  run({"compile", "-c", code, "--tuned", store});
  run({"run", "-c", code, "--device", "interpreter", "--tuned", store});
  EXPECT_EQ(read_file(store), before) << "who reads changes nothing";
}

INSTANTIATE_TEST_SUITE_P(Kinds, Tampered, ::testing::ValuesIn(tamperings),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace deplo::testing
