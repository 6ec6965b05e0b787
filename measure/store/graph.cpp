// Stores the kernels that tuning runs chose for graphs.
#include "measure/store/rows/inserts.h"
#include "measure/store/state.h"

namespace deplo::measure {

void Store::append(const GraphRecord& graph) {
  state_->add([&](sqlite::Database& database) { return insert_graph(database, graph); });
}

std::optional<GraphRecord> Store::graph(std::string_view key, std::int64_t device) {
  sqlite::Statement row(*state_->database,
                        "SELECT g.run, g.key, g.name, g.trail, g.digest, g.heuristic_us, g.median_us, g.created, g.id "
                        "FROM graph g JOIN run r ON r.id = g.run WHERE g.key = ? AND r.device = ? "
                        "ORDER BY g.id DESC LIMIT 1");
  if (!row.bind(1, key).bind(2, device).step()) return std::nullopt;
  return GraphRecord{row.integer(0), row.text(1), row.text(2), row.text(3),   row.text(4),
                     row.real(5),    row.real(6), row.text(7), row.integer(8)};
}

}  // namespace deplo::measure
