// Merges tables as the schema describes them: by their columns, foreign keys and UNIQUE columns, parents first.
#include "measure/store/upkeep/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/file.h"
#include "core/text/text.h"
#include "measure/sqlite/rows.h"
#include "measure/store/file/open.h"
#include "measure/store/pack.h"
#include "measure/store/rows/device_row.h"
#include "measure/work_folder.h"

namespace deplo::measure::upkeep {
namespace {

struct Table {
  std::string name;
  std::vector<std::string> columns;               // all except the id, which means nothing in another store
  std::map<std::string, std::string> references;  // column → the table whose ids it holds
  std::vector<std::string> identity;              // the UNIQUE columns; empty: all columns
  bool has_time = false;                          // has a column `created`: a row is a fact of that time
  bool is_referenced = false;
};

std::string list(const std::vector<std::string>& columns, std::string_view prefix = "") {
  return join(columns, ", ", [&](const std::string& column) { return fmt::format("{}\"{}\"", prefix, column); });
}

Table describe(sqlite::Database& database, const std::string& name) {
  Table table{.name = name, .columns = {}, .references = {}, .identity = {}};
  table.columns =
      query_texts(database, fmt::format("SELECT name FROM pragma_table_info('{}') WHERE name <> 'id'", name));
  for (const auto& row :
       query(database, fmt::format("SELECT \"from\", \"table\" FROM pragma_foreign_key_list('{}')", name)).rows)
    table.references[sqlite::text_of(row[0])] = sqlite::text_of(row[1]);
  table.identity =
      query_texts(database, fmt::format("SELECT i.name FROM pragma_index_list('{}') l, pragma_index_info(l.name) "
                                        "i WHERE l.origin = 'u' ORDER BY i.seqno",
                                        name));
  table.has_time = std::ranges::find(table.columns, "created") != table.columns.end();
  return table;
}

/// Returns the tables, each after the tables to which it refers. Throws Error, which names the store, if there is no
/// such order.
std::vector<Table> tables_of(sqlite::Database& database, const std::string& store) {
  std::vector<Table> waiting, sorted;
  for (const std::string& name :
       query_texts(database,
                   "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name "
                   "<> 'running' ORDER BY rootpage"))
    waiting.push_back(describe(database, name));
  std::set<std::string> referenced;
  for (const Table& table : waiting)
    for (const auto& [column, parent] : table.references) referenced.insert(parent);
  std::set<std::string> done;
  while (!waiting.empty()) {
    const auto next = std::ranges::find_if(waiting, [&](const Table& table) {
      return std::ranges::all_of(table.references, [&](const auto& one) { return done.contains(one.second); });
    });
    if (next == waiting.end())
      throw Error(
          fmt::format("store {}: expected the tables of a deplo database, found '{}' with references to other tables",
                      store, waiting.front().name));
    next->is_referenced = referenced.contains(next->name);
    done.insert(next->name);
    sorted.push_back(std::move(*next));
    waiting.erase(next);
  }
  return sorted;
}

class Merge {
 public:
  explicit Merge(sqlite::Database& database) : database_(database) {}

  MergedTable merge(const Table& table) {
    const std::int64_t before = count("main", table);
    if (!table.identity.empty())
      unite(table);
    else
      add_facts(table);
    if (table.is_referenced) map_ids(table);
    return {table.name, count("source", table), count("main", table) - before};
  }

 private:
  std::int64_t count(const char* schema, const Table& table) {
    return database_.integer(fmt::format("SELECT count(*) FROM {}.\"{}\"", schema, table.name));
  }

  /// Returns SQL for a column of the source's row `s`. Ids are translated to those of `main`.
  static std::string translated(const Table& table, const std::string& column) {
    const auto parent = table.references.find(column);
    if (parent == table.references.end()) return fmt::format("s.\"{}\"", column);
    return fmt::format("(SELECT new FROM temp.\"{}_ids\" WHERE old = s.\"{}\")", parent->second, column);
  }
  static std::string translated(const Table& table) {
    return join(table.columns, ", ", [&](const std::string& column) {
      return fmt::format("{} AS \"{}\"", translated(table, column), column);
    });
  }

  /// Adds rows to a table with UNIQUE columns. Rows with the same identity become one row. Of each other column the
  /// larger value is kept, in whatever order the rows come.
  void unite(const Table& table) {
    std::string larger;
    for (const std::string& column : table.columns)
      if (std::ranges::find(table.identity, column) == table.identity.end())
        larger += fmt::format("{0}\"{1}\" = coalesce(max(\"{1}\", excluded.\"{1}\"), \"{1}\", excluded.\"{1}\")",
                              larger.empty() ? "" : ", ", column);
    database_.execute(
        fmt::format("INSERT INTO main.\"{0}\" ({1}) SELECT {2} FROM source.\"{0}\" s WHERE true ORDER BY s.id ON "
                    "CONFLICT ({3}) DO {4}",
                    table.name, list(table.columns), translated(table), list(table.identity),
                    larger.empty() ? "NOTHING" : "UPDATE SET " + larger));
  }

  /// Adds the rows of the source that `main` does not have, each once.
  void add_facts(const Table& table) {
    std::string related;  // selects the rows of `main` that may be equal to rows of the source
    for (const auto& [column, parent] : table.references)
      related += fmt::format("{}\"{}\" IN (SELECT new FROM temp.\"{}_ids\")", related.empty() ? " WHERE " : " AND ",
                             column, parent);
    const std::string columns = list(table.columns);
    database_.execute(
        fmt::format("CREATE TEMP TABLE added AS SELECT {1}, min(position) AS position FROM (SELECT {1}, 0 AS here, id "
                    "AS position FROM main.\"{0}\"{2} UNION ALL SELECT {3}, 1, s.id FROM source.\"{0}\" s) "
                    "GROUP BY {1} HAVING min(here) = 1",
                    table.name, columns, related, translated(table)));
    const bool by_time = table.has_time && !table.is_referenced;
    if (by_time) take_later(table);
    database_.execute(fmt::format("INSERT INTO main.\"{0}\" ({1}) SELECT {1} FROM temp.added ORDER BY {2}position",
                                  table.name, columns, by_time ? "created, " : ""));
    database_.execute("DROP TABLE temp.added");
  }

  /// Removes the rows of `main` that are later than the first new row, to add them again after it: the latest row must
  /// have the largest id.
  void take_later(const Table& table) {
    const std::string later = "created > (SELECT min(created) FROM temp.added)";
    database_.execute(fmt::format("CREATE TEMP TABLE later AS SELECT {1}, id AS position FROM main.\"{0}\" WHERE {2}",
                                  table.name, list(table.columns), later));
    database_.execute(fmt::format("DELETE FROM main.\"{}\" WHERE {}", table.name, later));
    database_.execute("INSERT INTO temp.added SELECT * FROM temp.later");
    database_.execute("DROP TABLE temp.later");
  }

  void map_ids(const Table& table) {
    const std::vector<std::string>& identity = table.identity.empty() ? table.columns : table.identity;
    std::string same;  // from the last column on, because a run's time is more selective than its device
    for (auto column = identity.rbegin(); column != identity.rend(); ++column)
      same += fmt::format("{}m.\"{}\" IS {}", same.empty() ? "" : " AND ", *column, translated(table, *column));
    database_.execute(
        fmt::format("CREATE TEMP TABLE \"{0}_ids\" AS SELECT s.id AS old, (SELECT min(m.id) FROM main.\"{0}\" m WHERE "
                    "{1}) AS new FROM source.\"{0}\" s",
                    table.name, same));
    database_.execute(fmt::format("CREATE UNIQUE INDEX temp.\"{0}_by_old\" ON \"{0}_ids\" (old)", table.name));
  }

  sqlite::Database& database_;
};

void check_source(sqlite::Database& source, const std::string& into, const std::string& from) {
  std::error_code none;
  if (std::filesystem::equivalent(into, from, none))
    throw Error(fmt::format("store {}: expected another store to merge, found the same file: {}", into, from));
  if (source.integer("SELECT count(*) FROM pragma_foreign_key_check") > 0)
    throw Error(fmt::format("store {}: has rows that refer to missing rows: see `deplo db check {}`", from, from));
}

/// Finds out which rows of a pack a store already has.
class KnownRows {
 public:
  KnownRows(sqlite::Database& database, const Pack& pack) : database_(database) {
    for (const DeviceInfo& info : pack.devices) devices_.push_back(find_device(database, info));
  }
  bool has(const Pack::Schedule& one) {
    return find(trial_, one.origin, {one.kernel.key(), one.trial.trail, one.trial.created});
  }
  bool has(const Pack::Graph& one) {
    return find(graph_, one.origin, {one.graph.key, one.graph.trail, one.graph.created});
  }
  bool has(const Pack::Family& one) {
    return find(family_, one.origin, {one.family.key, one.family.rule, one.family.created});
  }

 private:
  bool find(sqlite::Statement& row, const Pack::Origin& origin, const std::array<std::string, 3>& values) const {
    const auto& device = devices_[origin.device];
    if (!device) return false;
    row.bind(1, *device).bind(2, values[0]).bind(3, values[1]).bind(4, values[2]);
    const bool found = row.step() && row.integer(0) > 0;
    row.step();  // ends the statement, so that it can run again
    return found;
  }

  sqlite::Database& database_;
  std::vector<std::optional<std::int64_t>> devices_;
  sqlite::Statement trial_{database_,
                           "SELECT count(*) FROM trial t JOIN run r ON r.id = t.run JOIN kernel k ON k.id = t.kernel "
                           "WHERE r.device = ? AND k.key = ? AND t.trail = ? AND t.created = ?"};
  sqlite::Statement graph_{database_,
                           "SELECT count(*) FROM graph g JOIN run r ON r.id = g.run WHERE r.device = ? AND g.key = ? "
                           "AND g.trail = ? AND g.created = ?"};
  sqlite::Statement family_{database_,
                            "SELECT count(*) FROM family f JOIN run r ON r.id = f.run WHERE r.device = ? AND f.key = ? "
                            "AND f.rule = ? AND f.created = ?"};
};

/// Merges a pack by a store in a temporary file, because only files can be attached.
std::vector<MergedTable> merge_pack(const std::string& into, const std::string& from) {
  Pack pack = parse_pack(read_file(from), from);
  {
    const auto database = open_database(into);
    KnownRows known(*database, pack);
    const auto is_known = [&](const auto& one) { return known.has(one); };
    std::erase_if(pack.schedules, is_known);
    std::erase_if(pack.graphs, is_known);
    std::erase_if(pack.families, is_known);
  }
  const WorkFolder folder;
  if (folder.path().empty())
    throw Error(fmt::format("{}: expected a cache folder that can be written to, found none", from), Exit::environment);
  const std::string file = (folder.path() / "pack.db").string();
  const auto rows = store_of(pack);
  sqlite::Statement(*rows, "VACUUM INTO ?").bind(1, file).step();
  return merge_store(into, file);
}

}  // namespace

std::vector<MergedTable> merge_store(const std::string& into, const std::string& from) {
  if (is_pack(from)) return merge_pack(into, from);
  const auto source = open_read_only(from);
  check_source(*source, into, from);
  const auto database = open_database(into);
  {
    sqlite::Statement attach(*database, "ATTACH ? AS source");
    const std::string uri = sqlite::read_only_uri(from);
    attach.bind(1, uri).step();
  }
  database->limit_statements({});  // no limit: the time depends on the number of rows
  sqlite::Transaction transaction(*database);
  Merge merge(*database);
  std::vector<MergedTable> merged;
  for (const Table& table : tables_of(*database, into)) merged.push_back(merge.merge(table));
  transaction.commit();
  return merged;
}

}  // namespace deplo::measure::upkeep
