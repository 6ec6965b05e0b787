// The store's queries for schedules. The tuned cache is one of them.
#include <fmt/format.h>

#include "measure/store/evidence.h"
#include "measure/store/rows/device_row.h"
#include "measure/store/state.h"

namespace deplo::measure {

std::vector<StoredSchedule> Store::schedules(std::optional<std::string_view> schedule_key, std::int64_t device,
                                             double tolerance) {
  // Kernels that were only added, or tuned on another device, have no valid trial on this device.
  sqlite::Statement select(
      *state_->database,
      "SELECT id, name, text, exact_key FROM kernel WHERE (?1 IS NULL OR schedule_key = ?1) AND exact_key "
      "<> '' AND id IN (SELECT t.kernel FROM trial t JOIN run r ON r.id = t.run WHERE r.device = ?2 AND "
      "t.status = 'ok') ORDER BY id");
  if (schedule_key)
    select.bind(1, *schedule_key);
  else
    select.bind_null(1);
  select.bind(2, device);
  std::vector<StoredSchedule> found;
  while (select.step())
    if (auto trial = best(select.integer(0), device, tolerance))
      found.push_back({{select.text(1), select.text(2)}, select.text(3), std::move(*trial)});
  return found;
}

std::vector<FaultyTrial> Store::faulty_trials(std::string_view schedule_key, std::int64_t device) {
  sqlite::Statement select(
      *state_->database,
      "SELECT id, median_us, fault FROM (SELECT t.id, t.median_us, deplo_fault(t.id) AS fault FROM trial t "
      "JOIN run r ON r.id = t.run JOIN kernel k ON k.id = t.kernel WHERE k.schedule_key = ? AND "
      "r.device = ? AND t.status = 'ok' AND NOT t.stopped) WHERE fault IS NOT NULL ORDER BY id DESC");
  select.bind(1, schedule_key).bind(2, device);
  std::vector<FaultyTrial> found;
  while (select.step()) found.push_back({select.integer(0), select.real(1), select.text(2)});
  return found;
}

std::vector<TrialRecord> Store::valid_trials(std::int64_t kernel, std::int64_t device, double tolerance,
                                             const Objectives& objectives) {
  return state_->read([&] { return measure::valid_trials(*state_->database, kernel, device, tolerance, objectives); });
}

std::optional<std::int64_t> Store::find_device(const DeviceInfo& info) {
  return measure::find_device(*state_->database, info);
}

std::vector<DeviceInfo> Store::devices() {
  sqlite::Statement select(
      *state_->database,
      fmt::format("SELECT {} FROM device d WHERE d.id IN (SELECT r.device FROM run r JOIN trial t ON "
                  "t.run = r.id WHERE t.status = 'ok') ORDER BY d.id",
                  device_columns()));
  std::vector<DeviceInfo> found;
  while (select.step()) found.push_back(read_device(select, 0));
  return found;
}

std::vector<std::string> Store::devices_of(std::string_view schedule_key) {
  sqlite::Statement select(*state_->database,
                           "SELECT DISTINCT d.name || ' (' || d.driver || ')' FROM trial t JOIN run r ON r.id = t.run "
                           "JOIN device d ON d.id = r.device JOIN kernel k ON k.id = t.kernel "
                           "WHERE k.schedule_key = ? AND t.status = 'ok' ORDER BY 1");
  select.bind(1, schedule_key);
  std::vector<std::string> names;
  while (select.step()) names.push_back(select.text(0));
  return names;
}

std::optional<std::string> Store::timed_text(std::string_view beginning) {
  sqlite::Statement select(*state_->database,
                           "SELECT k.text FROM trial t JOIN kernel k ON k.id = t.kernel WHERE k.exact_key = '' AND "
                           "t.status = 'ok' AND substr(k.text, 1, length(?1)) = ?1 ORDER BY t.id DESC LIMIT 1");
  return select.bind(1, beginning).step() ? std::optional(select.text(0)) : std::nullopt;
}

std::vector<TimedKernel> Store::timed_kernels() {
  // With one max() SQLite takes the revision from the row that has the maximum (evidence.cpp).
  sqlite::Statement select(
      *state_->database,
      fmt::format("SELECT k.name, k.text, k.schedule_key, k.exact_key, d.id, r.revision, max(t.id), {} FROM trial t "
                  "JOIN run r ON r.id = t.run JOIN kernel k ON k.id = t.kernel JOIN device d ON d.id = r.device "
                  "WHERE t.status = 'ok' AND k.exact_key <> '' GROUP BY k.id, d.id ORDER BY k.id, d.id",
                  device_columns()));
  std::vector<TimedKernel> found;
  while (select.step()) {
    TimedKernel& timed = found.emplace_back();
    timed.kernel = {select.text(0), select.text(1)};
    timed.schedule_key = select.text(2);
    timed.exact_key = select.text(3);
    timed.device = select.integer(4);
    timed.revision = select.text(5);
    timed.info = read_device(select, 7);
  }
  return found;
}

}  // namespace deplo::measure
