#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "apps/recorded.h"
#include "apps/report/tuning.h"
#include "core/error.h"
#include "measure/device_row.h"
#include "measure/store.h"
#include "measure/store_open.h"

namespace deplo::apps {
namespace {

using measure::Database;
using measure::Statement;
using Numbers = std::pair<std::int64_t, std::int64_t>;  // of a kernel and a device

std::vector<TunedRun> read_runs(Database& database) {
  Statement rows(database,
                 "SELECT r.started, r.searcher, r.revision, r.host, d.name, r.seed, "
                 "(SELECT count(*) FROM trial t WHERE t.run = r.id) FROM run r JOIN device d ON d.id = r.device "
                 "ORDER BY r.id");
  std::vector<TunedRun> runs;
  while (rows.step())
    runs.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.text(4),
                    static_cast<std::uint64_t>(rows.integer(5)), rows.integer(6)});
  return runs;
}

TunedKernel kernel_of(const Statement& row) {
  TunedKernel kernel;
  kernel.key = row.text(2);
  kernel.name = row.text(3);
  kernel.text = row.text(4);
  kernel.device = measure::read_device(row, 5);
  return kernel;
}

std::map<Numbers, TunedKernel> read_kernels(Database& database, const std::string& name) {
  Statement rows(
      database,
      fmt::format("SELECT DISTINCT k.id, d.id, k.key, k.name, k.text, {} FROM trial t JOIN run r ON r.id = t.run "
                  "JOIN kernel k ON k.id = t.kernel JOIN device d ON d.id = r.device WHERE ?1 = '' OR k.name = ?1 "
                  "ORDER BY k.id, d.id",
                  measure::device_columns));
  rows.bind(1, std::string_view(name));
  std::map<Numbers, TunedKernel> kernels;
  while (rows.step()) kernels.emplace(Numbers{rows.integer(0), rows.integer(1)}, kernel_of(rows));
  return kernels;
}

// A trial took the time since the one before it in its run, of whatever kernel, or since the run's start. Clocks that
// are set back give no negative times.
void read_trials(Database& database, std::map<Numbers, TunedKernel>& kernels) {
  Statement rows(
      database,
      "SELECT t.kernel, r.device, t.trail, t.status, t.message, t.median_us, t.stage = 'confirm', t.stopped, "
      "max(0, (julianday(t.created) - julianday(lag(t.created, 1, r.started) "
      "OVER (PARTITION BY t.run ORDER BY t.id))) * 86400) FROM trial t JOIN run r ON r.id = t.run ORDER BY t.id");
  std::map<Numbers, double> seconds;
  while (rows.step()) {
    const Numbers numbers{rows.integer(0), rows.integer(1)};
    const auto kernel = kernels.find(numbers);
    if (kernel == kernels.end()) continue;
    ReportTrial trial;
    trial.trail = rows.text(2);
    trial.status = rows.text(3);
    trial.message = rows.text(4);
    trial.us = rows.is_null(5) ? 0 : rows.real(5);
    trial.confirmed = rows.integer(6) != 0;
    trial.stopped = rows.integer(7) != 0;
    trial.seconds = seconds[numbers] += rows.real(8);
    // The store takes any number, also from other programs: what is no time of a kernel, between a femtosecond and a
    // year, would leave no room for the others on an axis.
    if (trial.ok() && !(trial.us > 1e-9 && trial.us < 3e13)) continue;
    kernel->second.trials.push_back(std::move(trial));
  }
}

std::map<Numbers, TunedKernel> read_all(const std::string& file, const std::string& name, std::vector<TunedRun>& runs) {
  const auto database = measure::open_database(file);
  database->execute("BEGIN");  // one moment for all reads
  runs = read_runs(*database);
  std::map<Numbers, TunedKernel> kernels = read_kernels(*database, name);
  read_trials(*database, kernels);
  database->execute("COMMIT");
  return kernels;
}

std::size_t valid(const search::Records& records) {
  return static_cast<std::size_t>(
      std::ranges::count_if(records.records, [](const search::Record& record) { return record.outcome.ok(); }));
}

}  // namespace

TunedStore read_tuned(const std::string& file, const std::string& name) {
  if (!std::filesystem::exists(file)) throw Error(file + ": expected a store or a comparison, found no such file");
  TunedStore result{file, {}, {}};
  std::map<Numbers, TunedKernel> kernels = read_all(file, name, result.runs);
  if (kernels.empty())
    throw Error(fmt::format("{}: expected a store with trials{}, found none", file,
                            name.empty() ? "" : fmt::format(" of a kernel '{}'", name)));
  for (StoredSpace& space : read_stored_spaces(file)) {
    const auto kernel = kernels.find({space.kernel, space.device});
    if (kernel != kernels.end() && valid(space.records) > valid(kernel->second.records))
      kernel->second.records = std::move(space.records);
  }
  measure::Store store = measure::Store::open(file);
  for (auto& [numbers, kernel] : kernels) {
    kernel.baselines = store.baselines(numbers.first, numbers.second);
    if (const auto best = store.best(numbers.first, numbers.second)) {
      kernel.best_trail = best->trail;
      kernel.best = {best->median_us, best->stage == measure::Stage::confirm};
    }
    explain_schedule(kernel);
    result.kernels.push_back(std::move(kernel));
  }
  return result;
}

}  // namespace deplo::apps
