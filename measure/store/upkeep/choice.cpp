#include "measure/store/upkeep/choice.h"

#include <fmt/format.h>

#include <vector>

#include "core/text/select_names.h"
#include "measure/protocol/protocol.h"
#include "measure/sqlite/rows.h"
#include "measure/store/evidence.h"
#include "measure/store/rows/trial.h"

namespace deplo::measure::upkeep {

std::string chosen_ids(sqlite::Database& database, const char* table, const std::string& filter) {
  const sqlite::Rows rows = query(database, fmt::format("SELECT id, name FROM {} ORDER BY id", table));
  std::vector<std::string> names;
  for (const auto& row : rows.rows) names.push_back(sqlite::text_of(row[1]));
  std::string ids;
  for (const std::size_t number :
       select_names(fmt::format("--{}", table), fmt::format("a {} of the store", table), filter, names))
    ids += fmt::format("{}{}", ids.empty() ? "" : ",", sqlite::integer_of(rows.rows[number][0]));
  return "[" + ids + "]";
}

std::array<sqlite::Cell, 4> parameters(sqlite::Database& database, const Filter& filter) {
  return {chosen_ids(database, "kernel", filter.kernel), chosen_ids(database, "device", filter.device), filter.status,
          filter.limit};
}

std::string usual_tolerance() { return fmt::format("{} <= {}", tolerance_column, default_tolerance); }

std::string ranked() { return fmt::format("WITH ranked AS ({}) ", select_ranked(select_evidence(usual_tolerance()))); }

}  // namespace deplo::measure::upkeep
