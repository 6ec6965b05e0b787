#include "measure/store/upkeep/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "measure/protocol/protocol.h"
#include "measure/store/evidence.h"
#include "measure/store/objective.h"
#include "measure/store/upkeep/choice.h"

namespace deplo::measure::upkeep {
namespace {

constexpr std::string_view from_ranked =
    "FROM ranked b JOIN kernel k ON k.id = b.kernel JOIN device d ON d.id = b.device WHERE b.place = 1 ";

/// SQL for kernel `k` on device `d`: 'finished' if the latest search, or another one with its settings, was finished,
/// else 'unfinished'; NULL if there was no search.
constexpr std::string_view search_state =
    "(SELECT iif(EXISTS (SELECT 1 FROM search e JOIN run q ON q.id = e.run WHERE e.kernel = s.kernel AND "
    "q.device = r.device AND e.settings = s.settings AND e.finished), 'finished', 'unfinished') FROM search s "
    "JOIN run r ON r.id = s.run WHERE s.kernel = k.id AND r.device = d.id ORDER BY s.id DESC LIMIT 1)";

struct Best {
  sqlite::Cell kernel, device, median_us, trail;
  std::string protocol;
};

/// Returns the best schedules by the kernel's key and the columns that identify the device.
std::map<std::vector<sqlite::Cell>, Best> bests(sqlite::Database& database) {
  const sqlite::Rows rows =
      query(database, fmt::format("{}SELECT k.key, d.backend, d.name, d.vendor, d.driver, d.platform, d.units, k.name, "
                                  "d.name, b.median_us, b.trail, b.protocol {}",
                                  ranked(), from_ranked));
  std::map<std::vector<sqlite::Cell>, Best> found;
  for (const auto& row : rows.rows)
    found[{row.begin(), row.begin() + 7}] = {row[7], row[8], row[9], row[10], sqlite::text_of(row[11])};
  return found;
}

/// Moves the values of objectives other than time from the column median_us to a new column `value`, and puts their
/// names in a new column `objective`. Tables that have only times do not get the two columns. Removes the last column,
/// which has the rows' protocols.
sqlite::Rows with_objectives(sqlite::Rows rows) {
  const auto protocol_of = [](const auto& row) -> const std::string& { return sqlite::text_of(row.back()); };
  const bool any =
      std::ranges::any_of(rows.rows, [&](const auto& row) { return is_other_objective(protocol_of(row)); });
  const auto at = std::ranges::find(rows.columns, "median_us") - rows.columns.begin();
  rows.columns.pop_back();
  if (any) rows.columns.insert(rows.columns.begin() + at + 1, {"objective", "value"});
  for (auto& row : rows.rows) {
    const std::string protocol = protocol_of(row);
    row.pop_back();
    if (!any) continue;
    sqlite::Cell objective, value;
    if (sqlite::Cell& time = row[static_cast<std::size_t>(at)]; is_other_objective(protocol)) {
      objective = std::string(objective_of(protocol));
      if (const auto* number = std::get_if<double>(&time)) value = objective_value(protocol, *number);
      time = {};
    }
    row.insert(row.begin() + at + 1, {objective, value});
  }
  return rows;
}

}  // namespace

sqlite::Rows table_sizes(sqlite::Database& database) {
  sqlite::Rows sizes{{"table", "rows"}, {}};
  for (const std::string& name : query_texts(
           database,
           "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rootpage"))
    sizes.rows.push_back({name, database.integer("SELECT count(*) FROM \"" + name + "\"")});
  return sizes;
}

sqlite::Rows device_summaries(sqlite::Database& database) {
  return query(database,
               "SELECT d.name AS device, d.backend, d.driver, count(DISTINCT r.id) AS runs, count(DISTINCT t.kernel) "
               "AS kernels, count(t.id) AS trials, min(r.started) AS first_run, max(t.created) AS latest_trial "
               "FROM device d LEFT JOIN run r ON r.device = d.id LEFT JOIN trial t ON t.run = r.id "
               "GROUP BY d.id ORDER BY d.id");
}

sqlite::Rows status_counts(sqlite::Database& database) {
  return query(database,
               "SELECT status, count(*) AS trials, count(DISTINCT kernel) AS kernels FROM trial GROUP BY status "
               "ORDER BY status <> 'ok', trials DESC, status");
}

sqlite::Rows best_schedules(sqlite::Database& database, const Filter& filter) {
  return with_objectives(
      query(database,
            fmt::format(
                "{}SELECT k.name AS kernel, d.name AS device, b.median_us, b.stage, b.created, {} AS search, b.proof, "
                "b.fingerprint, b.row_fingerprint, "
                "b.trail, b.protocol {}AND {}AND ?3 = ?3 ORDER BY k.name, k.id, d.id LIMIT ?4",
                ranked(), search_state, from_ranked, is_chosen),
            parameters(database, filter)));
}

std::vector<std::pair<std::int64_t, std::int64_t>> best_ids(sqlite::Database& database, const Filter& filter) {
  const sqlite::Rows rows =
      query(database,
            fmt::format("{}SELECT k.id, d.id {}AND {}AND ?3 = ?3 ORDER BY k.name, k.id, d.id LIMIT ?4", ranked(),
                        from_ranked, is_chosen),
            parameters(database, filter));
  std::vector<std::pair<std::int64_t, std::int64_t>> ids;
  for (const auto& row : rows.rows) ids.emplace_back(sqlite::integer_of(row[0]), sqlite::integer_of(row[1]));
  return ids;
}

sqlite::Rows family_rules(sqlite::Database& database, const Filter& filter) {
  return query(database,
               fmt::format("SELECT f.name AS family, d.name AS device, f.goal, f.loss, f.created, r.pipeline, f.rule "
                           "FROM family f JOIN run r ON r.id = f.run JOIN kernel k ON k.id = f.kernel JOIN device d ON "
                           "d.id = r.device WHERE {}AND f.id IN (SELECT max(h.id) FROM family h JOIN run s ON s.id = "
                           "h.run GROUP BY h.key, s.device) AND ?3 = ?3 ORDER BY f.name, f.id LIMIT ?4",
                           is_chosen),
               parameters(database, filter));
}

sqlite::Rows latest_trials(sqlite::Database& database, const Filter& filter) {
  return with_objectives(query(
      database,
      fmt::format("SELECT t.id, t.run, k.name AS kernel, d.name AS device, t.stage, t.status, t.median_us, t.created, "
                  "t.trail, t.message, t.protocol FROM trial t JOIN run r ON r.id = t.run JOIN kernel k ON k.id = "
                  "t.kernel JOIN device d ON d.id = r.device WHERE {}AND ?3 IN ('', t.status) ORDER BY t.id DESC LIMIT "
                  "?4",
                  is_chosen),
      parameters(database, filter)));
}

sqlite::Rows kernel_summaries(sqlite::Database& database, const Filter& filter) {
  const std::array<sqlite::Cell, 1> kernels{chosen_ids(database, "kernel", filter.kernel)};
  return query(database,
               "SELECT k.name AS kernel, count(DISTINCT r.device) AS devices, count(t.id) AS trials, "
               "count(t.id) FILTER (WHERE t.status <> 'ok') AS failures, count(DISTINCT t.trail) AS trails, "
               "k.key, k.schedule_key FROM kernel k LEFT JOIN trial t ON t.kernel = k.id "
               "LEFT JOIN run r ON r.id = t.run WHERE k.id IN (SELECT value FROM json_each(?1)) "
               "GROUP BY k.id ORDER BY k.name, k.id",
               kernels);
}

std::vector<std::int64_t> ranked_trials(sqlite::Database& database, std::int64_t kernel, std::int64_t device) {
  const std::string evidence =
      select_evidence("t.kernel = ? AND r.device = ? AND " + usual_tolerance(),
                      "t.id, t.kernel, t.trail, t.digest, t.status, t.stopped, t.stage, t.fidelity, t.median_us, "
                      "t.changes");
  sqlite::Statement rows(database, fmt::format("SELECT id FROM ({}) ORDER BY place", select_ranked(evidence)));
  rows.bind(1, kernel).bind(2, device);
  std::vector<std::int64_t> ids;
  while (rows.step()) ids.push_back(rows.integer(0));
  return ids;
}

// If values are not times, the kernel's name is followed by their objective: "gemm: GFLOP/s, higher is better".
sqlite::Rows compare_bests(sqlite::Database& a, sqlite::Database& b) {
  sqlite::Rows rows{{"kernel", "device", "a_us", "b_us", "speed_up", "schedule"}, {}};
  const auto name = [](const Best& best) -> sqlite::Cell {
    if (!is_other_objective(best.protocol)) return best.kernel;
    return fmt::format("{}: {}", sqlite::text_of(best.kernel), objective_of(best.protocol));
  };
  const auto value = [](const Best& best) {
    return sqlite::Cell(objective_value(best.protocol, sqlite::real_of(best.median_us)));
  };
  auto others = bests(b);
  for (const auto& [key, mine] : bests(a)) {
    const auto other = others.find(key);
    if (other == others.end()) {
      rows.rows.push_back({name(mine), mine.device, value(mine), {}, {}, "only in A"});
      continue;
    }
    const Best& theirs = other->second;
    const double mine_us = sqlite::real_of(mine.median_us), theirs_us = sqlite::real_of(theirs.median_us);
    const double ratio = mine_us < 0 && theirs_us < 0 ? theirs_us / mine_us : mine_us / theirs_us;
    rows.rows.push_back({name(mine), mine.device, value(mine), value(theirs),
                         std::isfinite(ratio) && ratio > 0 ? sqlite::Cell(ratio) : sqlite::Cell(),
                         mine.trail == theirs.trail ? "same" : "other"});
    others.erase(other);
  }
  for (const auto& [key, theirs] : others)
    rows.rows.push_back({name(theirs), theirs.device, {}, value(theirs), {}, "only in B"});
  std::ranges::stable_sort(rows.rows, {}, [](const auto& row) { return row[0]; });
  return rows;
}

}  // namespace deplo::measure::upkeep
