// Stores: databases with damaged pages, and sound databases with impossible contents.
#include <fmt/format.h>

#include <array>
#include <chrono>

#include "attack/kinds.h"
#include "attack/mutate.h"
#include "core/target.h"
#include "engine/compile/tuned.h"
#include "engine/source/source.h"
#include "measure/store_fixture.h"

namespace deplo::attack {
namespace {

namespace fs = std::filesystem;

constexpr const char* graph = "torch.randn(33, 61) @ torch.randn(61, 47)";

/// Returns a store of two kernels on two devices, with failures, a baseline, ceilings, and a trial in flight. One of
/// the kernels is deplo's own, with a schedule that can be replayed. The bytes are the same every time.
std::string small_store() {
  const measure::TemporaryFolder folder;
  const std::string file = folder.file("small.db");
  {
    measure::Store store = measure::Store::open(file);
    const measure::Ids ids = measure::add_context(store);
    const ir::Program loop = engine::read_module({engine::Expression{graph, "-c"}}).kernels.front();
    const engine::Compiled compiled = engine::heuristic_schedule(loop, load_target("opencl-cpu")).compiled;
    const std::int64_t ours = store.add_kernel({"matmul", ir::print(loop)});
    for (int i = 0; i < 30; ++i) {
      measure::TrialRecord trial = measure::some_trial(ids, i, print(compiled.trail), 20.0 + i);
      trial.kernel = i % 3 == 0 ? ids.kernel : ours;
      trial.digest = compiled.digest;
      if (i % 3 == 0) trial.trail = fmt::format("block.bm={} block.bn={}", i, i % 5);
      if (i % 10 == 9) {
        trial.status = i % 20 == 9 ? Status::build_error : Status::hang;
        trial.message = "error: expected ';' in line 12";
        trial.timing.median_us = trial.timing.fidelity = 0;
      }
      if (i > 26) trial.stage = measure::Stage::confirm;
      store.append(trial);
    }
    store.begin(measure::some_trial(ids, 31, "block.bm=7", 1));
    store.add_ceilings(ids.run, {10, 12, 100});
    store.append(measure::BaselineRecord{.run = ids.run,
                                         .kernel = ours,
                                         .library = "onednn",
                                         .version = "2.7",
                                         .precision = "fp32",
                                         .threads = 2,
                                         .median_us = 17.5,
                                         .samples = {17.5, 18},
                                         .protocol = "p1"});
  }
  {
    measure::sqlite::Database database(file);
    for (const char* column :
         {"trial SET created", "run SET started", "running SET created", "ceiling SET created", "baseline SET created"})
      database.execute(fmt::format("UPDATE {} = '2024-06-11T10:00:00.000Z'", column));
    database.execute("PRAGMA journal_mode = DELETE");  // everything in one file
  }
  return read_bytes(file);
}

/// Returns a value for any column, as SQL.
std::string hostile_value(Rng& rng) {
  switch (rng.below(6)) {
    case 0:
      return "NULL";
    case 1:
    case 2: {
      const std::string number = hostile_number(rng);
      return number == "NaN" ? "'NaN'" : number == "Infinity" ? "9e999" : number;
    }
    case 3: {
      std::string hex;
      for (const char c : hostile_text(rng)) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
      return fmt::format("CAST(x'{}' AS TEXT)", hex);
    }
    case 4: {
      constexpr std::array texts = {"'[]'",
                                    "'[1e999]'",
                                    "'[null]'",
                                    "'[[1]]'",
                                    "'[-1, 0, 1e308, 1e308]'",
                                    "'{\"a\": 1}'",
                                    "'[\"x\"]'",
                                    "'ok'",
                                    "'wrong_result'",
                                    "'worker_lost'",
                                    "'confirm'",
                                    "'recorded'",
                                    "'recorded x'||char(10)||'a 1 2'",
                                    "'block.bm=1'",
                                    "'='",
                                    "'a=b=c'",
                                    "'block.bm=99999999999999999999'",
                                    "printf('%.*c', 100000, '[')",
                                    "'['||printf('%.*c', 200000, '1,')||'1]'",
                                    "'2024-06-11T10:00:00.000Z'",
                                    "'9999-99-99'",
                                    "x'00ff'",
                                    "zeroblob(100000)"};
      return texts[rng.below(texts.size())];
    }
    default:
      return fmt::format("(SELECT {} FROM trial ORDER BY id LIMIT 1 OFFSET {})",
                         std::array{"id", "trail", "digest", "median_us", "samples", "message"}[rng.below(6)],
                         rng.below(30));
  }
}

/// Returns the first column of a query: names of tables, or of the columns of a table.
std::vector<std::string> names(measure::sqlite::Database& database, const std::string& sql) {
  std::vector<std::string> found;
  measure::sqlite::Statement rows(database, sql);
  while (rows.step()) found.push_back(rows.text(0));
  return found;
}

std::string tampering(measure::sqlite::Database& database, Rng& rng) {
  const auto tables = names(database, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  if (tables.empty()) return "CREATE TABLE trial (x)";
  const std::string& table = tables[rng.below(tables.size())];
  const auto columns = names(database, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
  if (columns.empty()) return "VACUUM";
  const std::string& column = columns[rng.below(columns.size())];
  const std::string& another = columns[rng.below(columns.size())];
  const std::string some = rng.below(2) == 0 ? "" : fmt::format(" WHERE rowid % 5 = {}", rng.below(5));
  switch (rng.below(24)) {
    case 0:
      return fmt::format("DROP TABLE \"{}\"", table);
    case 1:
      return fmt::format("ALTER TABLE \"{}\" RENAME COLUMN \"{}\" TO odd", table, column);
    case 2:
      return fmt::format("ALTER TABLE \"{}\" RENAME TO odd", table);
    case 3:
      return fmt::format("ALTER TABLE \"{}\" DROP COLUMN \"{}\"", table, column);
    case 4:
      return fmt::format("ALTER TABLE \"{0}\" RENAME TO old; CREATE VIEW \"{0}\" AS SELECT * FROM old", table);
    case 5:
      return fmt::format(
          "ALTER TABLE \"{0}\" RENAME TO old; CREATE VIEW \"{0}\" AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
          "SELECT i + 1 FROM n) SELECT old.* FROM old, n",
          table);
    case 6:
      return fmt::format("CREATE TRIGGER t AFTER INSERT ON \"{0}\" BEGIN DELETE FROM \"{0}\"; END", table);
    case 7:
      return fmt::format("PRAGMA user_version = {}", static_cast<int>(rng.below(9)) - 1);
    case 8:
      return "PRAGMA application_id = 7";
    case 9:
      return fmt::format("DELETE FROM \"{}\"{}", table, some);
    case 10:  // the types of the table's columns are no longer enforced
      return fmt::format("UPDATE sqlite_schema SET sql = replace(sql, ' STRICT', '') WHERE name = '{}'", table);
    case 11:
      return fmt::format("UPDATE sqlite_schema SET sql = replace(sql, '{}', '{}')", column, another);
    case 12:
      return fmt::format("UPDATE sqlite_schema SET rootpage = {} WHERE name = '{}'", rng.below(12), table);
    case 13:
      return fmt::format("PRAGMA encoding = 'UTF-16'; PRAGMA journal_mode = {}", rng.below(2) == 0 ? "WAL" : "DELETE");
    default:
      return fmt::format("UPDATE OR IGNORE \"{}\" SET \"{}\" = {}{}", table, column,
                         rng.below(4) == 0 ? fmt::format("\"{}\"", another) : hostile_value(rng), some);
  }
}

/// Damages a store: in two of three cases, a sound database with odd contents; else, damaged bytes.
std::string damage_store(const Seed& seed, const std::string& other, Rng& rng, const fs::path& folder) {
  if (rng.below(3) == 0) return mutate(seed.bytes, other, rng);
  const fs::path file = folder / "damaged.db";
  write_bytes(file, seed.bytes);
  {
    measure::sqlite::Database database(file);
    // A table may have become a view without an end; sorting it would fill the disk.
    database.limit_statements(std::chrono::milliseconds(500));
    for (const char* setting : {"synchronous = OFF", "ignore_check_constraints = ON", "writable_schema = ON"})
      database.try_execute(fmt::format("PRAGMA {}", setting));
    for (std::uint64_t edits = 1 + rng.below(4); edits > 0; --edits) {
      try {
        database.try_execute(tampering(database, rng));
      } catch (const Error&) {  // an earlier edit left no readable schema
        break;
      }
    }
  }
  std::string bytes = read_bytes(file);
  for (const char* end : {"", "-wal", "-shm", "-journal"}) fs::remove(file.string() + end);
  return bytes;
}

std::vector<Command> store_commands() {
  const std::vector<std::string> code = {"-c", graph, "--tuned", "FILE"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), code.begin(), code.end());
    return words;
  };
  return {{{"db", "check", "FILE"}},
          {{"db", "info", "FILE"}, 4},
          {{"db", "info", "--json", "FILE"}, 4},
          {{"db", "info", "--migrate", "COPY"}, 4},
          {{"db", "best", "FILE"}, 2},
          {{"db", "best", "--json", "FILE"}, 8},
          {{"db", "trials", "FILE"}, 3},
          {{"db", "kernels", "FILE"}, 4},
          {{"db", "failures", "FILE"}, 4},
          {{"db", "diff", "FILE", "GOOD"}, 4},
          {{"db", "diff", "GOOD", "FILE"}, 8},
          {{"db", "sql", "SELECT * FROM trial", "FILE"}, 8},
          {{"db", "prune", "FILE"}, 4},
          {{"db", "prune", "--apply", "COPY"}, 8},
          {{"db", "merge", "OUT", "FILE"}, 4},
          {{"db", "merge", "COPY", "GOOD"}, 8},
          {{"db", "export", "--store", "FILE", "--kernel", "matmul", "-o", "OUT"}, 4},
          {{"db", "export", "--store", "FILE", "--format", "t4"}, 8},
          {{"report", "FILE", "-o", "OUT"}, 3},
          {{"report", "GOOD", "FILE", "-o", "OUT"}, 8},
          {{"compare", "--spaces", "FILE", "--search", "random", "--repeats", "1", "--jobs", "1", "--quiet"}, 4},
          {{"model", "eval", "--store", "FILE"}, 8},
          {with({"compile"}), 4},
          {with({"compile", "--nearest", "--tuned-on", "cpu"}), 8},
          {with({"run", "--device", "interpreter"}), 4}};
}

}  // namespace

Kind stores() {
  Kind kind{"store", {}, damage_store, true};
  const std::string small = small_store();
  for (int thrice = 0; thrice < 3; ++thrice)  // more often than the stores below, which need to be migrated
    kind.seeds.push_back({"store.db", small, store_commands()});
  for (const char* name : {"store_v1.sqlite", "store_v2.sqlite", "store_v3.sqlite", "store_v4.sqlite",
                           "store_v5.sqlite", "store_v6.sqlite"})
    kind.seeds.push_back(
        {"store.db", read_bytes(fs::path(DEPLO_SOURCE_DIR) / "tests/fixtures" / name), store_commands()});
  return kind;
}

}  // namespace deplo::attack
