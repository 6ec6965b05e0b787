#include "measure/store/upkeep/check.h"

#include <fmt/format.h>

#include <array>

#include "core/hash.h"
#include "core/outcome.h"

namespace deplo::measure::upkeep {
namespace {

struct Rule {
  std::string_view fault;
  std::string_view table;
  std::string_view broken;  // a condition that no sound row meets
};

// fault_of() (soundness.h) has more rules for trials with the status ok. Samples that are not JSON have no rows here,
// so that the query does not fail: a separate rule reports them.
constexpr std::array rules{
    Rule{"a warm time that is not a positive number", "trial", "warm_us <= 0 OR warm_us > 1e300"},
    Rule{"an energy that is not a positive number", "trial", "energy_mj <= 0 OR energy_mj > 1e300"},
    Rule{"a time that is not a positive number", "baseline", "median_us <= 0 OR median_us > 1e300 OR warm_us <= 0"},
    Rule{"a time that is not a positive number", "graph",
         "min(median_us, heuristic_us) <= 0 OR max(median_us, heuristic_us) > 1e300"},
    Rule{"a negative build time", "trial", "build_ms < 0 OR build_ms > 1e300"},
    Rule{"ok without a time, or a time without being ok", "trial", "(status = 'ok') <> (median_us IS NOT NULL)"},
    Rule{"ok without a time, or a time without being ok", "baseline", "(status = 'ok') <> (median_us IS NOT NULL)"},
    Rule{"samples that are not a JSON array", "trial",
         "NOT json_valid(samples) OR json_type(samples) <> 'array' OR NOT json_valid(rejected)"},
    Rule{"samples that are not a JSON array", "baseline", "NOT json_valid(samples) OR json_type(samples) <> 'array'"},
    Rule{"samples that are not numbers", "trial",
         "EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(samples) THEN samples ELSE '[]' END) WHERE type NOT IN "
         "('integer', 'real', 'null'))"},
    Rule{"an invalid fraction of the grid", "trial", "status <> 'ok' AND (fidelity < 0 OR fidelity > 1)"},
    Rule{"a ceiling that is not a positive number", "ceiling",
         "min(copy_gb_s, read_gb_s, fp32_gflop_s) < 0 OR max(copy_gb_s, read_gb_s, fp32_gflop_s) > 1e300"},
    Rule{"an impossible date", "trial", "julianday(created) IS NULL"},
    Rule{"an impossible date", "graph", "julianday(created) IS NULL"},
    Rule{"an impossible date", "run", "julianday(started) IS NULL"},
    Rule{"structural keys that do not match the text", "kernel",
         "schedule_key <> deplo_schedule_key(text) OR exact_key <> deplo_exact_key(text)"},
};

void add(sqlite::Rows& found, std::string_view fault, std::string_view table, std::int64_t count,
         sqlite::Cell example) {
  if (count > 0) found.rows.push_back({std::string(fault), std::string(table), count, std::move(example)});
}

/// Returns false and adds a row to `found` if the file itself is damaged.
bool check_file(sqlite::Database& database, sqlite::Rows& found) {
  const sqlite::Rows pages = query(database, "PRAGMA integrity_check(100)");
  if (pages.rows.size() == 1 && pages.rows[0][0] == sqlite::Cell("ok")) return true;
  add(found, "a damaged file", "", static_cast<std::int64_t>(pages.rows.size()), pages.rows[0][0]);
  return false;
}

void check_references(sqlite::Database& database, sqlite::Rows& found) {
  const sqlite::Rows orphans = query(database,
                                     "SELECT \"table\", parent, count(*), min(rowid) FROM pragma_foreign_key_check "
                                     "GROUP BY 1, 2");
  for (const auto& row : orphans.rows)
    add(found, fmt::format("a missing {}", sqlite::text_of(row[1])), sqlite::text_of(row[0]),
        sqlite::integer_of(row[2]), row[3]);
}

void check_statuses(sqlite::Database& database, sqlite::Rows& found) {
  for (const std::string table : {"trial", "baseline"})
    for (const auto& row : query(database, "SELECT status, count(*), min(id) FROM " + table + " GROUP BY 1").rows) {
      try {
        parse_status(sqlite::text_of(row[0]));
      } catch (const Error&) {
        add(found, fmt::format("an unknown status '{}'", sqlite::text_of(row[0])), table, sqlite::integer_of(row[1]),
            row[2]);
      }
    }
}

void check_times(sqlite::Database& database, sqlite::Rows& found) {
  const sqlite::Rows faults = query(database,
                                    "SELECT deplo_fault(id) AS fault, count(*), min(id) FROM trial WHERE status = 'ok' "
                                    "GROUP BY fault HAVING fault IS NOT NULL ORDER BY 1");
  for (const auto& row : faults.rows) add(found, sqlite::text_of(row[0]), "trial", sqlite::integer_of(row[1]), row[2]);
}

void check_kernel_keys(sqlite::Database& database, sqlite::Rows& found) {
  std::int64_t count = 0, example = 0;
  sqlite::Statement kernel(database, "SELECT id, key, text FROM kernel ORDER BY id DESC");
  while (kernel.step())
    if (kernel.text(1) != digest(kernel.text(2))) {
      ++count;
      example = kernel.integer(0);
    }
  add(found, "a key that is not the digest of the text", "kernel", count, example);
}

}  // namespace

sqlite::Rows check_store(sqlite::Database& database) {
  sqlite::Rows found{{"fault", "table", "rows", "example"}, {}};
  database.limit_statements({});  // no limit: the time depends on the number of pages
  if (!check_file(database, found)) return found;
  check_references(database, found);
  check_statuses(database, found);
  check_kernel_keys(database, found);
  check_times(database, found);
  for (const Rule& rule : rules) {
    const sqlite::Rows rows =
        query(database, fmt::format("SELECT count(*), min(id) FROM {} WHERE {}", rule.table, rule.broken));
    add(found, rule.fault, rule.table, sqlite::integer_of(rows.rows[0][0]), rows.rows[0][1]);
  }
  return found;
}

}  // namespace deplo::measure::upkeep
