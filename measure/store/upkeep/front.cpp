#include "measure/store/upkeep/front.h"

#include <fmt/format.h>

#include "core/text/text.h"
#include "measure/protocol/protocol.h"
#include "measure/store/evidence.h"

namespace deplo::measure::upkeep {

std::optional<Front> stored_front(sqlite::Database& database, std::int64_t kernel, std::int64_t device) {
  const Objectives objectives = parse_objectives(latest_objectives(database, kernel, device));
  if (objectives.empty()) return std::nullopt;
  return front_of(valid_trials(database, kernel, device, default_tolerance, objectives), objectives);
}

std::vector<std::optional<Front>> stored_fronts(sqlite::Database& database, const Filter& filter) {
  std::vector<std::optional<Front>> fronts;
  for (const auto& [kernel, device] : best_ids(database, filter))
    fronts.push_back(stored_front(database, kernel, device));
  return fronts;
}

sqlite::Rows rows_of(const Front& front) {
  sqlite::Rows rows;
  for (const Quantity* const objective : front.objectives) rows.columns.emplace_back(objective->name);
  rows.columns.insert(rows.columns.end(), {"stage", "digest", "trail"});
  for (const TrialRecord& trial : front.trials) {
    std::vector<sqlite::Cell>& row = rows.rows.emplace_back();
    const std::vector<double> values = values_of(trial, front.objectives).value();
    for (std::size_t i = 0; i < values.size(); ++i)
      row.push_back(front.objectives[i]->is_noisy() ? sqlite::Cell(values[i])
                                                    : sqlite::Cell(static_cast<std::int64_t>(values[i])));
    row.insert(row.end(), {std::string(name(trial.stage)), trial.digest, trial.trail});
  }
  return rows;
}

std::string heading(const std::string& kernel, const Front& front) {
  std::string units;
  for (const Quantity* const objective : front.objectives)
    if (!objective->unit.empty())
      units += fmt::format("{}{} in {}", units.empty() ? "; " : ", ", objective->name, objective->unit);
  return fmt::format("front of {}: {} of {}{}\n", kernel, front.trials.size(),
                     counted(front.valid, "valid configuration"), units);
}

}  // namespace deplo::measure::upkeep
