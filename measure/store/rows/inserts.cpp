#include "measure/store/rows/inserts.h"

#include "core/error.h"

namespace deplo::measure {

std::int64_t insert_kernel(sqlite::Database& database, const KernelRecord& kernel) {
  const std::string key = kernel.key();
  sqlite::Statement insert(database,
                           "INSERT INTO kernel (key, name, text, schedule_key, exact_key) "
                           "VALUES (?1, ?2, ?3, deplo_schedule_key(?3), deplo_exact_key(?3)) ON CONFLICT DO NOTHING");
  insert.bind(1, key).bind(2, kernel.name).bind(3, kernel.text).step();
  sqlite::Statement select(database, "SELECT id FROM kernel WHERE key = ?");
  CHECK(select.bind(1, key).step());
  return select.integer(0);
}

std::int64_t insert_graph(sqlite::Database& database, const GraphRecord& graph) {
  sqlite::Statement insert(database,
                           "INSERT INTO graph (run, key, name, trail, digest, heuristic_us, median_us) VALUES "
                           "(?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, graph.run).bind(2, graph.key).bind(3, graph.name).bind(4, graph.trail).bind(5, graph.digest);
  insert.bind(6, graph.heuristic_us).bind(7, graph.median_us).step();
  return database.last_id();
}

std::int64_t insert_family(sqlite::Database& database, const FamilyRecord& family, std::int64_t kernel) {
  sqlite::Statement insert(
      database, "INSERT INTO family (run, kernel, key, name, rule, goal, loss) VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, family.run).bind(2, kernel).bind(3, family.key).bind(4, family.name).bind(5, family.rule);
  insert.bind(6, family.goal).bind(7, family.loss).step();
  return database.last_id();
}

}  // namespace deplo::measure
