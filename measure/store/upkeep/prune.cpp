#include "measure/store/upkeep/prune.h"

#include <string>
#include <vector>

#include "core/outcome.h"
#include "measure/store/evidence.h"
#include "measure/store/process_name.h"
#include "measure/store/retry.h"

namespace deplo::measure::upkeep {
namespace {

/// Returns SQL "WITH … " for a table `stale`: trials whose schedule now has another source.
std::string with_stale() {
  const std::string kept = statuses([](Status status) { return transient(status) || quarantined(status); });
  return "WITH traced AS (SELECT t.id, t.kernel, t.run, t.status, t.digest, first_value(t.digest) OVER (PARTITION BY "
         "t.kernel, r.device, t.trail, t.protocol, t.stage ORDER BY t.id DESC) AS latest FROM trial t JOIN run r ON "
         "r.id = t.run), stale AS (SELECT id, kernel, run FROM traced WHERE digest <> latest AND status NOT IN (" +
         kept + ")) ";
}

/// Returns the tables whose rows belong to a run.
std::vector<std::string> tables_of_runs(sqlite::Database& database) {
  return query_texts(database,
                     "SELECT DISTINCT s.name FROM sqlite_schema s, pragma_foreign_key_list(s.name) f "
                     "WHERE s.type = 'table' AND f.\"table\" = 'run' AND f.\"from\" = 'run'");
}

std::vector<std::int64_t> empty_runs(sqlite::Database& database) {
  std::string sql =
      with_stale() + "SELECT id, process FROM run r WHERE julianday(r.started) < julianday('now', '-1 day')";
  for (const std::string& table : tables_of_runs(database))
    sql += " AND NOT EXISTS (SELECT 1 FROM \"" + table + "\" x WHERE x.run = r.id" +
           (table == "trial" ? " AND x.id NOT IN (SELECT id FROM stale))" : ")");
  std::vector<std::int64_t> ids;
  for (const auto& row : query(database, sql).rows)
    if (!is_running(sqlite::text_of(row[1]))) ids.push_back(sqlite::integer_of(row[0]));
  return ids;
}

sqlite::Rows describe(sqlite::Database& database, const std::vector<std::int64_t>& runs) {
  sqlite::Rows rows =
      query(database, with_stale() +
                          "SELECT 'trials of an older source' AS what, k.name AS kernel, count(*) AS rows "
                          "FROM stale s JOIN kernel k ON k.id = s.kernel GROUP BY k.id ORDER BY k.name");
  if (!runs.empty()) rows.rows.push_back({"empty runs", {}, static_cast<std::int64_t>(runs.size())});
  return rows;
}

}  // namespace

sqlite::Rows prunable(sqlite::Database& database) { return describe(database, empty_runs(database)); }

sqlite::Rows prune(sqlite::Database& database) {
  sqlite::Rows removed;
  database.limit_statements({});  // no limit: the time depends on the number of rows
  {
    sqlite::Transaction transaction(database);
    const std::vector<std::int64_t> runs = empty_runs(database);
    removed = describe(database, runs);
    database.execute(with_stale() + "DELETE FROM trial WHERE id IN (SELECT id FROM stale)");
    sqlite::Statement remove(database, "DELETE FROM run WHERE id = ?");
    for (const std::int64_t run : runs) remove.bind(1, run).step();
    transaction.commit();
  }
  if (!removed.rows.empty()) database.execute("VACUUM");
  return removed;
}

}  // namespace deplo::measure::upkeep
