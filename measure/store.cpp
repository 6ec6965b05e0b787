#include "measure/store.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "core/hash.h"
#include "measure/sqlite.h"
#include "measure/store_open.h"

namespace deplo::measure {
namespace {

constexpr std::string_view insert_trial =
    "INSERT INTO trial (run, ordinal, kernel, trail, digest, status, message, build_ms, median_us, fidelity, samples, "
    "protocol, stage) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

#define DEPLO_COLUMNS                                                                                         \
  "t.run, t.ordinal, t.kernel, t.trail, t.digest, t.status, t.message, t.build_ms, t.median_us, t.fidelity, " \
  "t.samples, "                                                                                               \
  "t.protocol, t.stage, t.created, t.id"

// With max() and GROUP BY, SQLite takes the other columns from the row that has the maximum (documented: "bare
// columns").
constexpr std::string_view select_known =
    "SELECT " DEPLO_COLUMNS
    ", max(t.id) FROM trial t JOIN run r ON r.id = t.run "
    "WHERE t.kernel = ? AND r.device = ? AND t.protocol = ? GROUP BY t.trail ORDER BY t.id";
constexpr std::string_view select_best = "SELECT * FROM (SELECT " DEPLO_COLUMNS
                                         ", max(t.id) FROM trial t JOIN run r ON r.id = t.run "
                                         "WHERE t.kernel = ? AND r.device = ? GROUP BY t.trail) WHERE status = 'ok' "
                                         "ORDER BY stage = 'confirm' DESC, fidelity >= 1 DESC, median_us, id LIMIT 1";
#undef DEPLO_COLUMNS

/// A JSON array; what is not a number to JSON (an implausible NaN) becomes null.
std::string print_samples(const std::vector<double>& samples) {
  std::string text = "[";
  for (const double sample : samples) {
    if (text.size() > 1) text += ',';
    if (std::isfinite(sample))
      fmt::format_to(std::back_inserter(text), "{}", sample);  // the shortest text that reads back exactly
    else
      text += "null";
  }
  return text + "]";
}

std::vector<double> parse_samples(std::string_view text) {
  std::vector<double> samples;
  const char* at = text.data();
  for (const char* end = at + text.size(); at < end; ++at) {
    double value = std::nan("");
    if (*at == 'n') {
      at += 3;
    } else if (const auto [next, error] = std::from_chars(at, end, value); error == std::errc()) {
      at = next - 1;
    } else {
      continue;  // brackets, commas, spaces
    }
    samples.push_back(value);
  }
  return samples;
}

TrialRecord read_trial(const Statement& row) {
  TrialRecord trial;
  trial.run = row.integer(0);
  trial.ordinal = row.integer(1);
  trial.kernel = row.integer(2);
  trial.trail = row.text(3);
  trial.digest = row.text(4);
  trial.status = parse_status(row.text(5));
  trial.message = row.text(6);
  trial.build_ms = row.real(7);
  trial.median_us = row.real(8);
  trial.fidelity = row.real(9);
  trial.samples = parse_samples(row.text(10));
  trial.protocol = row.text(11);
  trial.stage = row.text(12) == name(Stage::confirm) ? Stage::confirm : Stage::screen;
  trial.created = row.text(13);
  trial.id = row.integer(14);
  return trial;
}

}  // namespace

std::string_view name(Stage stage) { return stage == Stage::screen ? "screen" : "confirm"; }
std::string KernelRecord::key() const { return deplo::digest(text); }

struct Store::State {
  std::unique_ptr<Database> database;
  Statement insert{*database, insert_trial};

  void append(const TrialRecord& trial) {
    const std::string samples = print_samples(trial.samples);
    insert.bind(1, trial.run).bind(2, trial.ordinal).bind(3, trial.kernel).bind(4, trial.trail).bind(5, trial.digest);
    insert.bind(6, status_name(trial.status)).bind(7, trial.message).bind(8, trial.build_ms);
    if (trial.status == Status::ok) {
      CHECK(std::isfinite(trial.median_us));
      insert.bind(9, trial.median_us);
    } else {
      insert.bind_null(9);
    }
    insert.bind(10, trial.fidelity).bind(11, samples).bind(12, trial.protocol).bind(13, name(trial.stage));
    insert.step();
  }
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Store Store::open(const std::string& path) {
  // NOLINTNEXTLINE(modernize-make-unique): clang 14 initializes no aggregate in parentheses
  return Store(std::unique_ptr<State>(new State{open_database(path)}));
}

std::int64_t Store::add_device(const DeviceInfo& info) {
  Transaction transaction(*state_->database);
  Statement insert(*state_->database,
                   "INSERT INTO device (backend, name, vendor, driver, platform, units, clock_mhz, shared_bytes, "
                   "max_threads, cpu) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  insert.bind(1, info.backend).bind(2, info.name).bind(3, info.vendor).bind(4, info.driver).bind(5, info.platform);
  insert.bind(6, info.units).bind(7, info.clock_mhz).bind(8, info.shared_bytes).bind(9, info.max_threads);
  insert.bind(10, std::int64_t{info.cpu}).step();
  Statement select(
      *state_->database,
      "SELECT id FROM device WHERE backend = ? AND name = ? AND vendor = ? AND driver = ? AND platform = ? "
      "AND units = ?");
  select.bind(1, info.backend).bind(2, info.name).bind(3, info.vendor).bind(4, info.driver).bind(5, info.platform);
  CHECK(select.bind(6, info.units).step());
  const std::int64_t id = select.integer(0);
  select.step();
  transaction.commit();
  return id;
}

std::int64_t Store::add_run(const RunRecord& run) {
  Statement insert(*state_->database,
                   "INSERT INTO run (device, revision, config, searcher, seed, host) VALUES (?, ?, ?, ?, ?, ?)");
  insert.bind(1, run.device).bind(2, run.revision).bind(3, run.config).bind(4, run.searcher);
  insert.bind(5, static_cast<std::int64_t>(run.seed)).bind(6, run.host).step();
  return state_->database->last_id();
}

std::int64_t Store::add_kernel(const KernelRecord& kernel) {
  const std::string key = kernel.key();
  Transaction transaction(*state_->database);
  Statement insert(*state_->database, "INSERT INTO kernel (key, name, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  insert.bind(1, key).bind(2, kernel.name).bind(3, kernel.text).step();
  Statement select(*state_->database, "SELECT id FROM kernel WHERE key = ?");
  CHECK(select.bind(1, key).step());
  const std::int64_t id = select.integer(0);
  select.step();
  transaction.commit();
  return id;
}

std::int64_t Store::append(const TrialRecord& trial) {
  state_->append(trial);
  return state_->database->last_id();
}

void Store::append(std::span<const TrialRecord> trials) {
  Transaction transaction(*state_->database);
  for (const TrialRecord& trial : trials) state_->append(trial);
  transaction.commit();
}

std::vector<TrialRecord> Store::known_trials(std::int64_t kernel, std::int64_t device, std::string_view protocol) {
  Statement select(*state_->database, select_known);
  select.bind(1, kernel).bind(2, device).bind(3, protocol);
  std::vector<TrialRecord> trials;
  while (select.step()) trials.push_back(read_trial(select));
  return trials;
}

std::optional<TrialRecord> Store::best(std::int64_t kernel, std::int64_t device) {
  Statement select(*state_->database, select_best);
  if (!select.bind(1, kernel).bind(2, device).step()) return std::nullopt;
  return read_trial(select);
}

}  // namespace deplo::measure
