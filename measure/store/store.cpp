#include "measure/store/store.h"

#include <fmt/format.h>

#include <utility>

#include "core/hash.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/evidence.h"
#include "measure/store/file/open.h"
#include "measure/store/process_name.h"
#include "measure/store/retry.h"
#include "measure/store/rows/device_row.h"
#include "measure/store/rows/inserts.h"
#include "measure/store/rows/trial.h"
#include "measure/store/state.h"

namespace deplo::measure {

std::string_view name(Stage stage) { return stage == Stage::screen ? "screen" : "confirm"; }
std::string KernelRecord::key() const { return deplo::digest(text); }

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Store Store::open(const std::string& path, std::chrono::milliseconds longest_wait) {
  // NOLINTNEXTLINE(modernize-make-unique): clang 14 initializes no aggregate in parentheses
  std::unique_ptr<State> state(new State{open_database(path, longest_wait)});
  state->watch.emplace(*state->database);
  // NOLINTNEXTLINE(modernize-make-unique): the same
  state->own.reset(new OwnRows{open_in_memory()});
  return Store(std::move(state));
}

Store Store::open_to_read(const std::string& path) {
  // NOLINTNEXTLINE(modernize-make-unique)
  return Store(std::unique_ptr<State>(new State{measure::open_to_read(path)}));
}

std::int64_t Store::add_device(const DeviceInfo& info) {
  const std::int64_t device = state_->write([&](State& state) {
    insert_device(*state.database, info);
    const std::optional<std::int64_t> id = measure::find_device(*state.database, info);
    CHECK(id.has_value());
    return *id;
  });
  if (state_->own) state_->own->copy(*state_->database, "device", device);
  return device;
}

std::int64_t Store::add_run(const RunRecord& run) {
  const std::int64_t id = state_->write([&](State& state) {
    sqlite::Statement insert(*state.database,
                             "INSERT INTO run (device, revision, config, searcher, seed, host, process, pipeline) "
                             "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, run.device).bind(2, run.revision).bind(3, run.config).bind(4, run.searcher);
    insert.bind(5, static_cast<std::int64_t>(run.seed)).bind(6, run.host).bind(7, run.process);
    insert.bind(8, run.pipeline).step();
    return state.database->last_id();
  });
  if (state_->own) state_->own->copy(*state_->database, "run", id);
  if (state_->watch) state_->watch->expect_run(id);
  return id;
}

std::int64_t Store::add_kernel(const KernelRecord& kernel) {
  const std::int64_t id = state_->write([&](State& state) { return insert_kernel(*state.database, kernel); });
  if (state_->own) state_->own->copy(*state_->database, "kernel", id);
  return id;
}

std::optional<std::int64_t> Store::find_kernel(const std::string& text) {
  return state_->read([&]() -> std::optional<std::int64_t> {
    sqlite::Statement select(*state_->database, "SELECT id FROM kernel WHERE key = ?");
    if (!select.bind(1, KernelRecord{"", text}.key()).step()) return std::nullopt;
    return select.integer(0);
  });
}

std::int64_t Store::append(const TrialRecord& trial, std::int64_t running) {
  if (state_->own) run_insert(state_->own->insert, trial);
  return state_->write([&](State& state) {
    run_insert(state.insert, trial);
    const std::int64_t id = state.database->last_id();
    if (running != 0) state.end.bind(1, running).step();
    return id;
  });
}

void Store::append(std::span<const TrialRecord> trials) {
  state_->write([&](State& state) {
    for (const TrialRecord& trial : trials) run_insert(state.insert, trial);
    return 0;
  });
}

void Store::forget(std::int64_t running) {
  state_->write([&](State& state) { return state.end.bind(1, running).step(); });
}

void Store::forget_process(std::string_view host, std::string_view process) {
  state_->write([&](State& state) {
    sqlite::Statement remove(*state.database,
                             "DELETE FROM running WHERE run IN (SELECT id FROM run WHERE host = ? AND process = ?)");
    return remove.bind(1, host).bind(2, process).step();
  });
}

void Store::check_files() {
  state_->write([](State&) { return 0; });
}

std::int64_t Store::settle_lost(std::string_view host) {
  return state_->write([&](State& state) {
    const TrialRecord any;
    ColumnNames key("u");
    list_key(any, key);
    sqlite::Statement select(
        *state.database,
        fmt::format("SELECT r.process, u.id, r.host = ?, u.created < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', "
                    "'-1 hour'), {} FROM running u JOIN run r ON r.id = u.run",
                    key.text()));
    select.bind(1, host);
    std::vector<std::pair<std::int64_t, TrialRecord>> lost;
    while (select.step()) {
      const bool here = select.integer(2) != 0, old = select.integer(3) != 0;
      if (here ? is_running(select.text(0)) : !old) continue;
      TrialRecord& trial = lost.emplace_back(select.integer(1), TrialRecord{}).second;
      ColumnReader columns(select, 4);
      list_key(trial, columns);
      trial.status = Status::worker_lost;
      trial.message = "lost: the tuner ended while it was being measured";
    }
    for (const auto& [id, trial] : lost) {
      run_insert(state.insert, trial);
      state.end.bind(1, id).step();
    }
    return static_cast<std::int64_t>(lost.size());
  });
}

std::vector<KnownTrial> Store::known_trials(std::int64_t kernel, std::int64_t device, std::string_view protocol) {
  return state_->read([&] {
    const std::string evidence = select_evidence(
        fmt::format("t.kernel = ? AND r.device = ? AND (t.protocol = ? OR t.status IN ({}))", statuses(quarantined)));
    sqlite::Statement select(*state_->database, fmt::format("SELECT {}, transient_failures FROM ({}) t ORDER BY id",
                                                            trial_columns(), evidence));
    select.bind(1, kernel).bind(2, device).bind(3, protocol);
    std::vector<KnownTrial> trials;
    while (select.step()) trials.push_back({read_trial(select), select.integer(select.columns() - 1)});
    return trials;
  });
}

std::optional<TrialRecord> Store::best(std::int64_t kernel, std::int64_t device, double tolerance) {
  return state_->read([&]() -> std::optional<TrialRecord> {
    const std::string ranked =
        select_ranked(select_evidence(fmt::format("t.kernel = ? AND r.device = ? AND {} <= ?", tolerance_column)));
    sqlite::Statement select(*state_->database,
                             fmt::format("SELECT {} FROM ({}) t WHERE place = 1", trial_columns(), ranked));
    if (!select.bind(1, kernel).bind(2, device).bind(3, tolerance).step()) return std::nullopt;
    return read_trial(select);
  });
}

}  // namespace deplo::measure
