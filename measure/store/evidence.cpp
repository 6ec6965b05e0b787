#include "measure/store/evidence.h"

#include <fmt/format.h>

#include "measure/protocol/protocol.h"
#include "measure/store/retry.h"
#include "measure/store/rows/trial.h"

namespace deplo::measure {

std::string statuses(bool (*holds)(Status)) {
  std::string text;
  for (int i = 0; i <= static_cast<int>(Status::timeout); ++i)
    if (const auto status = static_cast<Status>(i); holds(status))
      text += (text.empty() ? "'" : ", '") + std::string(status_name(status)) + "'";
  return text;
}

// With one max() and GROUP BY, SQLite takes the other columns from the row that has the maximum (documented: "bare
// columns"). A trial that is not conclusive gets a smaller number than all conclusive trials.
std::string select_evidence(std::string_view where, std::string_view columns) {
  return fmt::format(
      "SELECT *, max(CASE WHEN stopped OR status NOT IN ({}) THEN id - (1 << 62) ELSE id END), "
      "count(*) FILTER (WHERE status IN ({})) AS transient_failures FROM "
      "(SELECT {}, r.device AS device, first_value(t.digest) OVER (PARTITION BY t.kernel, r.device, t.trail "
      "ORDER BY t.id DESC) AS last_digest FROM trial t JOIN run r ON r.id = t.run WHERE ({}) AND "
      "deplo_fault(t.id) IS NULL) "
      "WHERE digest = last_digest GROUP BY kernel, device, trail",
      statuses(conclusive), statuses(transient), columns, where);
}

std::string select_ranked(const std::string& evidence) {
  return fmt::format(
      "SELECT *, row_number() OVER (PARTITION BY kernel, device ORDER BY stage = 'confirm' DESC, fidelity >= 1 DESC, "
      "tied DESC, iif(tied, changes, 0), iif(tied, trail, ''), median_us, id) AS place FROM "
      "(SELECT *, changes IS NOT NULL AND median_us <= {} * min(median_us) OVER (PARTITION BY kernel, device, "
      "stage = 'confirm', fidelity >= 1) AS tied FROM ({}) WHERE status = 'ok' AND NOT stopped)",
      1 + Protocol().tie, evidence);
}

std::vector<TrialRecord> valid_trials(sqlite::Database& database, std::int64_t kernel, std::int64_t device,
                                      double tolerance, const Objectives& objectives) {
  const std::string_view complete = need_energy(objectives) ? "(t.status <> 'ok' OR t.energy_mj IS NOT NULL)" : "TRUE";
  sqlite::Statement select(
      database, fmt::format("SELECT {} FROM ({}) t WHERE status = 'ok' AND NOT stopped ORDER BY id", trial_columns(),
                            select_evidence(fmt::format("t.kernel = ? AND r.device = ? AND {} <= ? AND {}",
                                                        tolerance_column, complete))));
  select.bind(1, kernel).bind(2, device).bind(3, tolerance);
  std::vector<TrialRecord> trials;
  while (select.step()) trials.push_back(read_trial(select));
  return trials;
}

}  // namespace deplo::measure
