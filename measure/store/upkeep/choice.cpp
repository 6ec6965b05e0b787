#include "measure/store/upkeep/choice.h"

#include <fmt/format.h>

#include <vector>

#include "core/text/select_names.h"
#include "measure/sqlite/rows.h"

namespace deplo::measure::upkeep {
namespace {

std::string chosen(sqlite::Database& database, const char* table, const std::string& filter) {
  const sqlite::Rows rows = query(database, fmt::format("SELECT id, name FROM {} ORDER BY id", table));
  std::vector<std::string> names;
  for (const auto& row : rows.rows) names.push_back(sqlite::text_of(row[1]));
  std::string ids;
  for (const std::size_t number :
       select_names(fmt::format("--{}", table), fmt::format("a {} of the store", table), filter, names))
    ids += fmt::format("{}{}", ids.empty() ? "" : ",", sqlite::integer_of(rows.rows[number][0]));
  return "[" + ids + "]";
}

}  // namespace

std::string chosen_kernels(sqlite::Database& database, const std::string& filter) {
  return chosen(database, "kernel", filter);
}
std::string chosen_devices(sqlite::Database& database, const std::string& filter) {
  return chosen(database, "device", filter);
}

}  // namespace deplo::measure::upkeep
